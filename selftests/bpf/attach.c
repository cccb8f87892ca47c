// SPDX-License-Identifier: GPL-2.0-only
/*
 * attach - for bpf.bats: loads a BPF object and attaches its programs until a signal.
 * Not every bpftool can: "autoattach" is that of Linux 6.2.
 *
 *	attach FILE [GROUP:EVENT...]
 *
 * Programs whose section is just "tp" are attached to each of the trace events. Once
 * all are attached, prints "NAME ID" of each map, for bpftool map dump, and "attached".
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

static int fail(const char *what)
{
	perror(what);
	return 1;
}

/* @event is cut in two. */
static int attach_to(struct bpf_program *program, char *event)
{
	char *name = strchr(event, ':');

	if (!name)
		return fail(event);
	*name++ = '\0';
	return bpf_program__attach_tracepoint(program, event, name) ? 0 : fail(name);
}

static int print_map(const struct bpf_map *map)
{
	struct bpf_map_info info = { 0 };
	unsigned int size = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_map__fd(map), &info, &size))
		return fail("map");
	printf("%s %u\n", bpf_map__name(map), info.id);
	return 0;
}

int main(int count, char **arguments)
{
	struct bpf_program *program;
	struct bpf_object *object;
	struct bpf_map *map;
	int i;

	if (count < 2) {
		fputs("usage: attach FILE [GROUP:EVENT...]\n", stderr);
		return 2;
	}
	object = bpf_object__open_file(arguments[1], NULL);
	if (!object)
		return fail("open");
	if (bpf_object__load(object))
		return fail("load");
	bpf_object__for_each_program(program, object) {
		const char *section = bpf_program__section_name(program);

		if (strcmp(section, "tp")) {
			if (!bpf_program__attach(program))
				return fail(section);
			continue;
		}
		for (i = 2; i < count; i++)
			if (attach_to(program, arguments[i]))
				return 1;
	}
	bpf_object__for_each_map(map, object)
		if (print_map(map))
			return 1;
	puts("attached");
	fflush(stdout);
	pause();
	return 0;
}
