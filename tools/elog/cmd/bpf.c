// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog bpf: load a BPF object, attach its programs to events, print what its rings
 * bring as it comes, and at the end what its maps hold.
 *
 * The loop sleeps until a ring has records, or it is over.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "util/tool.h"

#ifdef ELOG_BPF

#include <bpf/libbpf.h>

#include "bpf/bpf_attach.h"
#include "bpf/bpf_load.h"
#include "bpf/bpf_maps.h"
#include "input/live.h"
#include "util/signals.h"

struct bpf_run {
	const char *file;
	struct options options;		/* arguments: COMMAND */
	struct bpf_object *object;
	struct bpf_maps *maps;
	struct bpf_attached *attached;
	struct live live;
	struct output output;
};

static int parse_command_line(struct bpf_run *run)
{
	struct options *options = &run->options;
	int given = options->argument_count - options->command_count;

	if (!given) {
		elog_error("what? attach is missing");
		return -EINVAL;
	}
	if (strcmp(options->arguments[0], "attach")) {
		elog_error("there is no '%s', only attach", options->arguments[0]);
		return -EINVAL;
	}
	if (given < 2) {
		elog_error("which object? FILE is missing");
		return -EINVAL;
	}
	if (given > 2) {
		elog_error("'%s' is too much", options->arguments[2]);
		return -EINVAL;
	}
	if (options->separated && !options->command_count) {
		elog_error("the command behind -- is missing");
		return -EINVAL;
	}
	run->file = options->arguments[1];
	options->arguments += given;
	options->argument_count = options->command_count;
	return 0;
}

static int load(struct bpf_run *run)
{
	int ret;

	bpf_say(run->options.verbose);
	run->object = bpf_object__open_file(run->file, NULL);
	if (!run->object) {
		bpf_explain(run->file, -errno);
		return -EINVAL;
	}
	ret = bpf_maps_prepare(&run->maps, run->object, &run->output,
			       run->options.format == FORMAT_JSON);
	if (!ret)
		ret = bpf_object__load(run->object);
	if (!ret)
		ret = bpf_maps_open(run->maps);
	if (ret)
		bpf_explain(run->file, ret);
	if (ret == -ESRCH)
		elog_hint("tp_btf and the like need types (BTF) of the kernel module; raw_tp does not");
	return ret;
}

/* Programs that see what somebody wants see nothing when nobody does. */
static int keep_enabled(struct bpf_run *run)
{
	static const struct elog_consumer_options no_rings = {
		.size = sizeof(no_rings), .flags = ELOG_CONSUMER_NO_RINGS,
	};
	int ret;

	if (!run->options.glob_count || !bpf_wants_events(run->attached))
		return 0;
	ret = elog_consumer_open(&run->live.consumer, &no_rings);
	if (ret) {
		explain_device_error(ret, PURPOSE_CONSUME);
		return ret;
	}
	return rules_add_globs(run->live.consumer, run->options.globs,
			       run->options.glob_count);
}

static int wait_and_print(struct bpf_run *run)
{
	struct pollfd poll_fd = { .fd = bpf_maps_fd(run->maps), .events = POLLIN };
	struct timespec limit;
	int left, ret = 0;

	while (!ret && !live_over(&run->live) && !run->output.closed) {
		left = live_left(&run->live, -1);
		limit = (struct timespec){
			.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000L,
		};
		if (ppoll(&poll_fd, 1, left < 0 ? NULL : &limit, signals_mask()) > 0)
			ret = bpf_maps_consume(run->maps);
	}
	return ret;
}

static int run_attached(struct bpf_run *run)
{
	int ret;

	if (bpf_attach(&run->attached, run->object, &run->options) ||
	    keep_enabled(run))
		return STATUS_ERROR;
	ret = live_start(&run->live);
	if (ret)
		return ret;
	if (!run->options.separated && run->options.verbose)
		fputs("elog: attached\n", stderr);
	ret = wait_and_print(run);
	live_end(&run->live);
	/* What the maps hold does not change any more. */
	bpf_detach(run->attached);
	run->attached = NULL;
	if (!ret)
		ret = bpf_maps_consume(run->maps);
	if (!ret)
		ret = bpf_maps_print(run->maps);
	if (!ret)
		ret = run->output.error;
	if (ret) {
		elog_error("%s", strerror(-ret));
		return STATUS_ERROR;
	}
	return command_status(&run->live.command, run->options.quiet);
}

static int run_bpf(const struct options *options)
{
	struct bpf_run run = { .options = *options };
	int status = STATUS_ERROR;

	if (parse_command_line(&run))
		return STATUS_ERROR;
	signals_catch(0);
	output_open(&run.output, options);
	if (!live_prepare(&run.live, &run.options) && !load(&run))
		status = run_attached(&run);
	bpf_detach(run.attached);
	bpf_maps_close(run.maps);
	bpf_object__close(run.object);
	live_close(&run.live);
	if (output_close(&run.output) && !status)
		status = STATUS_ERROR;
	return status;
}

#else

static int run_bpf(const struct options *options)
{
	(void)options;
	elog_error("this elog was built without libbpf");
	return STATUS_ERROR;
}

#endif /* ELOG_BPF */

static const struct verb_option bpf_options[] = {
	{ 'e', "attach programs that name no event to these, and let these\n"
	  "be emitted for the others; globs; may be repeated" },
	{ OPTION_FORMAT, "text (default), or json: a line for each entry" },
	{ 'd', NULL },
	{ 'q', "do not say how COMMAND failed" },
	{ 'v', "say when the programs are attached, and what libbpf does" },
	{ 0, NULL },
};

const struct verb verb_bpf = {
	.name = "bpf",
	.summary = "attach BPF programs to events",
	.usage = "attach [OPTION...] FILE [-- COMMAND [ARGUMENT...]]",
	.description =
	"Loads a BPF object and attaches its programs, until Ctrl-C, or while COMMAND runs.\n"
	"Their sections say what to:\n"
	"  tp/GROUP/EVENT        a trace event; GROUP is the provider, _ for . and -\n"
	"  tp                    the trace events of --event\n"
	"  raw_tp/eventlog_emit  all events that anybody wants, or --event asks for\n"
	"or whatever else libbpf knows. Records of ring buffers are printed as they come,\n"
	"what arrays, hashes and global variables hold at the end.\n"
	"\n"
	"Exit status: 0 all is well; 1 an error; if COMMAND failed, its status, as of\n"
	"elog capture.\n",
	.options = bpf_options,
	.formats = 1U << FORMAT_TEXT | 1U << FORMAT_JSON,
	.run = run_bpf,
};
