// SPDX-License-Identifier: GPL-2.0-only
/*
 * Markers of running programs, and of files: see marker.h.
 *
 * In the kernel, the markers of programs are events of providers markers_PROGRAM. Their
 * places and enabled handlers come from the processes that have the device open: from
 * the files that they have mapped, and from one byte of their memory for each marker.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "elog_marker_names.h"
#include "marker/marker.h"
#include "marker/marker_file.h"
#include "util/array.h"

#define PATH_BYTES	64
/* Limit of memory: any process that opens the device can have any number of markers. */
#define SCAN_BYTES_MAX	(128U << 20)

/* An event of a running program. */
struct definition {
	char *provider;
	char *event;
	char *fields;
	struct eventlog_definition describe;
	bool is_explained;	/* a process has that marker */
};

/* A file that processes have mapped. */
struct mapped_file {
	dev_t device;
	uint64_t inode;
	struct file_markers markers;
	size_t bytes;			/* approximate memory of @markers */
};

/* A mapping of a process. */
struct mapping {
	uint64_t begin, end, offset;
	size_t file;
};

struct scan {
	struct marker_list *list;
	size_t old_count;		/* markers of modules in @list */
	struct definition *definitions;	/* by provider, event, fields */
	size_t definition_count;
	struct mapped_file *files;
	size_t file_count;
	dev_t device;
	size_t hidden;			/* processes without permission to inspect them */
	size_t unexplained;		/* definitions that no inspected process has */
	size_t bytes;			/* of all files and of the list */
	bool is_full;			/* the limit of memory was reached */
};

/* ------------------------------------------------------------------------
 * Definitions in the kernel
 */

static int compare_definitions(const void *left, const void *right)
{
	const struct definition *a = left, *b = right;
	int ret = strcmp(a->provider, b->provider);

	if (!ret)
		ret = strcmp(a->event, b->event);
	if (!ret)
		ret = strcmp(a->fields, b->fields);
	return ret;
}

static char *describe_fields(const struct elog_schema_event *event)
{
	struct elog_text text = { 0 };
	char *fields;
	size_t i;

	for (i = 0; i < event->field_count; i++)
		elog_text_printf(&text, "%s%s %s", i ? "; " : "", event->fields[i]->type_name,
				 event->fields[i]->name);
	fields = text.error ? NULL : strndup(text.data ? text.data : "", text.size);
	elog_text_free(&text);
	return fields;
}

static bool is_of_module(const struct scan *scan, uint32_t descriptor)
{
	size_t i;

	for (i = 0; i < scan->old_count; i++)
		if (scan->list->markers[i].next.descriptor == descriptor)
			return true;
	return false;
}

static int add_definition(struct scan *scan, const struct eventlog_definition *describe,
			  const char *text)
{
	const struct elog_schema_event *event;
	struct elog_schema_error error;
	struct definition *definition;
	struct elog_schema *schema;
	int ret;

	ret = elog_schema_parse(text, strlen(text), &schema, &error);
	if (ret)
		return ret == -ENOMEM ? ret : 0;
	if (!schema->provider_count || !schema->providers[0]->event_count ||
	    strncmp(schema->providers[0]->name, EVENTLOG_PROGRAM_PREFIX,
		    strlen(EVENTLOG_PROGRAM_PREFIX)) ||
	    is_of_module(scan, describe->descriptor))
		goto out;
	definition = array_grow(scan->definitions, scan->definition_count, sizeof(*definition));
	if (!definition) {
		ret = -ENOMEM;
		goto out;
	}
	scan->definitions = definition;
	event = schema->providers[0]->events[0];
	definition = &scan->definitions[scan->definition_count++];
	*definition = (struct definition){
		.provider = strdup(schema->providers[0]->name),
		.event = strdup(event->name),
		.fields = describe_fields(event),
		.describe = *describe,
	};
	if (!definition->provider || !definition->event || !definition->fields)
		ret = -ENOMEM;
out:
	elog_schema_free(schema);
	return ret;
}

static int read_definitions(struct scan *scan, int fd)
{
	struct eventlog_definition describe = { .size = sizeof(describe) };
	struct elog_list *definitions = NULL;
	const char *text;
	int ret = elog_list_open(fd, EVENTLOG_LIST_DEFINITIONS, 0, &definitions);

	while (!ret) {
		ret = elog_list_next(definitions, &describe, &text);
		if (!ret && describe.state & EVENTLOG_DESCRIBED_LIVE)
			ret = add_definition(scan, &describe, text);
	}
	elog_list_close(definitions);
	if (ret != -ENOENT)
		return ret;
	if (scan->definition_count)
		qsort(scan->definitions, scan->definition_count, sizeof(*scan->definitions),
		      compare_definitions);
	return 0;
}

static bool has_provider(const struct scan *scan, const char *provider)
{
	size_t i;

	for (i = 0; i < scan->definition_count; i++)
		if (!strcmp(scan->definitions[i].provider, provider))
			return true;
	return false;
}

static struct definition *find_definition(const struct scan *scan, char *provider,
					  const struct file_marker *marker)
{
	struct definition key = {
		.provider = provider,
		.event = marker->event,
		.fields = marker->fields,
	};

	if (!scan->definition_count)
		return NULL;
	return bsearch(&key, scan->definitions, scan->definition_count,
		       sizeof(*scan->definitions), compare_definitions);
}

/* ------------------------------------------------------------------------
 * Markers
 */

/* Files and processes may have any names: do not let them forge lines. */
static char *copy_name(const char *name)
{
	char *copy = strdup(name), *c;

	for (c = copy; c && *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	return copy;
}

/* NULL: out of memory. */
static struct marker *add_marker(struct marker_list *list, const struct file_marker *from,
				 const char *name)
{
	struct marker *marker = markers_add(list);

	if (!marker)
		return NULL;
	marker->module = copy_name(name);
	marker->tag = strdup(from->tag);
	marker->event = strdup(from->event);
	marker->fields = strdup(from->fields);
	marker->path = copy_name(from->path);
	marker->function = copy_name(from->function);
	marker->place = copy_name(from->place);
	marker->next.id = from->id;
	marker->next.line = from->line;
	marker->next.ordinal = from->ordinal;
	marker->next.handlers = from->handlers;
	marker->next.defaults = from->handlers;
	marker->next.allowed = from->allowed;
	marker->has_session = from->has_session;
	return marker->module && marker->tag && marker->event && marker->fields &&
	       marker->path && marker->function && marker->place ? marker : NULL;
}

static int add_file(struct marker_list *list, const struct file_markers *markers,
		    const char *name)
{
	struct marker *marker;
	size_t i;

	for (i = 0; i < markers->count; i++) {
		marker = add_marker(list, &markers->markers[i], name);
		if (!marker)
			return -ENOMEM;
		marker->owner = MARKER_OF_FILE;
	}
	return 0;
}

int markers_read_file(const char *name, struct marker_list *list)
{
	struct file_markers markers;
	const char *slash = strrchr(name, '/');
	struct stat status;
	int fd, ret;

	/* Opening a FIFO would wait for its other end. */
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &status))
		ret = -errno;
	else
		ret = S_ISREG(status.st_mode) ? 0 :
		      S_ISDIR(status.st_mode) ? -EISDIR : -ENOEXEC;
	if (!ret) {
		ret = file_markers_read(fd, &markers);
		if (!ret)
			ret = add_file(list, &markers, slash ? slash + 1 : name);
		file_markers_free(&markers);
	}
	close(fd);
	return ret;
}

/* ------------------------------------------------------------------------
 * Processes
 */

/* Open a regular file, or return -1. Opening a device may have side effects. */
static int open_path(const char *name)
{
	int fd = open(name, O_PATH | O_CLOEXEC), readable = -1;
	char path[PATH_BYTES];
	struct stat status;

	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!fstat(fd, &status) && S_ISREG(status.st_mode))
		readable = open(path, O_RDONLY | O_CLOEXEC);
	close(fd);
	return readable;
}

static bool has_inode(int fd, uint64_t inode)
{
	struct stat status;

	return !fstat(fd, &status) && (uint64_t)status.st_ino == inode;
}

/*
 * Open the file of a mapping. With sufficient rights this works in any mount namespace,
 * and if the file was deleted or replaced. Otherwise open the file that has the name
 * now, if its inode number is the same. Return: a file or -1.
 */
static int open_mapped(pid_t pid, uint64_t begin, uint64_t end, uint64_t inode,
		       const char *name)
{
	char path[PATH_BYTES], *rooted;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, begin, end);
	fd = open_path(path);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	fd = open_path(path);
	if (fd >= 0 && has_inode(fd, inode))
		return fd;
	if (fd >= 0)
		close(fd);
	if (asprintf(&rooted, "/proc/%d/root%s", pid, name) < 0)
		return -1;
	fd = open_path(rooted);
	free(rooted);
	if (fd < 0 || has_inode(fd, inode))
		return fd;
	close(fd);
	return -1;
}

static size_t bytes_of(const struct file_markers *markers)
{
	size_t bytes = 0, i;

	for (i = 0; i < markers->count; i++) {
		const struct file_marker *marker = &markers->markers[i];

		bytes += sizeof(struct marker) + 2 * strlen(marker->place) +
			 strlen(marker->fields);
	}
	return bytes;
}

/* Account for @bytes more, unless the limit is reached. */
static bool take_room(struct scan *scan, size_t bytes)
{
	if (bytes > SCAN_BYTES_MAX - scan->bytes) {
		scan->is_full = true;
		return false;
	}
	scan->bytes += bytes;
	return true;
}

/*
 * Return: the index in scan->files; -ENOENT: the file cannot be opened, perhaps because
 * the process ends; or another negative errno. A file that cannot be parsed has no
 * markers.
 */
static ssize_t find_file(struct scan *scan, pid_t pid, dev_t device, uint64_t inode,
			 const struct mapping *mapping, const char *name)
{
	struct mapped_file *file;
	size_t i;
	int fd, ret;

	for (i = 0; i < scan->file_count; i++)
		if (scan->files[i].inode == inode && scan->files[i].device == device)
			return (ssize_t)i;
	fd = open_mapped(pid, mapping->begin, mapping->end, inode, name);
	if (fd < 0)
		return -ENOENT;
	file = array_grow(scan->files, scan->file_count, sizeof(*file));
	if (!file) {
		ret = -ENOMEM;
		goto out;
	}
	scan->files = file;
	file += scan->file_count;
	memset(file, 0, sizeof(*file));
	file->device = device;
	file->inode = inode;
	ret = file_markers_read(fd, &file->markers);
	if (ret && ret != -ENOMEM) {
		file_markers_free(&file->markers);
		ret = 0;
	}
	file->bytes = bytes_of(&file->markers);
	if (!take_room(scan, file->bytes))
		file_markers_free(&file->markers);
	scan->file_count++;
out:
	close(fd);
	return ret ? ret : (ssize_t)i;
}

/* Find the writable private mappings of files. */
static int read_maps(struct scan *scan, pid_t pid, struct mapping **mappings, size_t *count)
{
	char path[PATH_BYTES], *line = NULL;
	size_t size = 0;
	FILE *maps;
	int ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	if (!maps) {
		scan->hidden += errno == EACCES || errno == EPERM;
		return 0;
	}
	while (!ret && getline(&line, &size, maps) > 0) {
		struct mapping mapping, *larger;
		unsigned int major, minor;
		uint64_t inode;
		char mode[5];
		int end = 0;
		ssize_t file;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
			   &mapping.begin, &mapping.end, mode, &mapping.offset, &major, &minor,
			   &inode, &end) < 7 || !inode || strncmp(mode, "rw", 2) ||
		    mode[3] != 'p' || line[end] != '/')
			continue;
		line[strcspn(line, "\n")] = '\0';
		file = find_file(scan, pid, makedev(major, minor), inode, &mapping, line + end);
		if (file == -ENOENT)
			continue;
		larger = file < 0 ? NULL : array_grow(*mappings, *count, sizeof(*larger));
		if (!larger) {
			ret = file < 0 ? (int)file : -ENOMEM;
			break;
		}
		*mappings = larger;
		mapping.file = (size_t)file;
		(*mappings)[(*count)++] = mapping;
	}
	free(line);
	fclose(maps);
	return ret;
}

/* Does the process have the device open? -1: no permission to know. */
static int has_device(const struct scan *scan, pid_t pid)
{
	char path[PATH_BYTES];
	struct dirent *entry;
	struct statx status;
	int found = 0;
	DIR *files;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	files = opendir(path);
	if (!files)
		return errno == EACCES || errno == EPERM ? -1 : 0;
	/* Use no path: its file system might not respond. */
	while (found <= 0 && (entry = readdir(files))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (!statx(dirfd(files), entry->d_name, AT_STATX_DONT_SYNC, STATX_TYPE, &status))
			found = S_ISCHR(status.stx_mode) &&
				makedev(status.stx_rdev_major, status.stx_rdev_minor) ==
					scan->device;
		else if (errno == EACCES || errno == EPERM)
			found = -1;
	}
	closedir(files);
	return found;
}

/* The last component of the path in a link, or in the first string of a file. */
static bool read_name(pid_t pid, const char *what, bool is_link, char *name, size_t bytes)
{
	char path[PATH_BYTES], text[4096];
	const char *slash;
	ssize_t count;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	if (is_link) {
		count = readlink(path, text, sizeof(text) - 1);
	} else {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return false;
		count = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (count <= 0)
		return false;
	text[count] = '\0';
	text[strcspn(text, "\n")] = '\0';
	slash = strrchr(text, '/');
	slash = slash ? slash + 1 : text;
	/* Names of providers are not longer either. */
	snprintf(name, bytes, "%.*s", (int)bytes - 1, slash);
	return *name;
}

/*
 * The name of a process at its start, which is mostly the name of its program. The
 * provider has this name. The process may have changed its name since.
 */
static void find_name(const struct scan *scan, pid_t pid, char *provider, char *name,
		      size_t bytes)
{
	static const struct {
		const char *what;
		bool is_link;
	} ways[] = { { "cmdline", false }, { "exe", true }, { "comm", false } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		if (!read_name(pid, ways[i].what, ways[i].is_link, name, bytes))
			continue;
		elog_marker_provider(provider, EVENTLOG_NAME_MAX, name);
		if (has_provider(scan, provider))
			return;
	}
	/* If nothing else is known, use its present name. */
}

/* Find where a process has mapped an address of a file. */
static bool find_mapped(const struct file_markers *markers, uint64_t linked,
			const struct mapping *mappings, size_t count, size_t file,
			uint64_t *address)
{
	uint64_t offset = 0;
	size_t i;

	for (i = 0; i < markers->segment_count; i++) {
		const struct file_segment *segment = &markers->segments[i];

		if (linked >= segment->address && linked - segment->address < segment->size) {
			offset = segment->offset + (linked - segment->address);
			break;
		}
	}
	if (i == markers->segment_count)
		return false;
	for (i = 0; i < count; i++) {
		const struct mapping *mapping = &mappings[i];

		if (mapping->file != file || offset < mapping->offset ||
		    offset - mapping->offset >= mapping->end - mapping->begin)
			continue;
		*address = mapping->begin + (offset - mapping->offset);
		return true;
	}
	return false;
}

static bool read_memory(pid_t pid, uint64_t address, void *buffer, size_t bytes)
{
	struct iovec local = { buffer, bytes }, remote = { NULL, bytes };

	remote.iov_base = (void *)(uintptr_t)address;
	return address <= UINTPTR_MAX &&
	       process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

/* The enabled handlers in a process; the initial ones if its memory cannot be read. */
static uint32_t read_handlers(pid_t pid, const struct file_markers *markers,
			      const struct file_marker *marker, const struct mapping *mappings,
			      size_t count, size_t file)
{
	bool is_short = marker->is_pointer && markers->word == 4;
	unsigned char byte;
	uint64_t address;
	uint32_t pointer;

	if (!find_mapped(markers, marker->address, mappings, count, file, &address))
		return marker->handlers;
	if (is_short) {
		if (!read_memory(pid, address, &pointer, sizeof(pointer)))
			return marker->handlers;
		address = pointer;
	} else if (marker->is_pointer &&
		   !read_memory(pid, address, &address, sizeof(address))) {
		return marker->handlers;
	}
	return read_memory(pid, address + marker->handlers_offset, &byte, 1) ?
	       byte & MARKER_HANDLERS : marker->handlers;
}

/* Merge the kernel's state of a marker with that of its process. */
static void add_state(struct marker *marker, const struct definition *definition)
{
	uint32_t state = definition ? definition->describe.state : 0;

	if (state & EVENTLOG_DESCRIBED_PRINT)
		marker->next.handlers |= EVENTLOG_MARKER_PRINT;
	if (state & EVENTLOG_DESCRIBED_PROBE)
		marker->next.handlers |= EVENTLOG_MARKER_PROBE;
	marker->incompatible = state & EVENTLOG_DESCRIBED_INCOMPATIBLE;
	marker->next.active = marker->next.handlers;
	if (!(state & EVENTLOG_DESCRIBED_ENABLED))
		marker->next.active &= ~EVENTLOG_MARKER_TRACE;
	if (definition)
		marker->next.descriptor = definition->describe.descriptor;
}

static int add_mapped(struct scan *scan, pid_t pid, size_t file, char *provider,
		      const char *name, const struct mapping *mappings, size_t count)
{
	const struct file_markers *markers = &scan->files[file].markers;
	struct definition *definition;
	struct marker *marker;
	size_t i;

	if (!take_room(scan, scan->files[file].bytes))
		return 0;
	for (i = 0; i < markers->count; i++) {
		const struct file_marker *from = &markers->markers[i];

		if (from->of_module)
			continue;
		marker = add_marker(scan->list, from, name);
		if (!marker)
			return -ENOMEM;
		marker->owner = MARKER_OF_PROGRAM;
		marker->pid = pid;
		marker->next.handlers = read_handlers(pid, markers, from, mappings, count, file);
		definition = find_definition(scan, provider, from);
		if (definition)
			definition->is_explained = true;
		add_state(marker, definition);
	}
	return 0;
}

static int read_process(struct scan *scan, pid_t pid)
{
	char provider[EVENTLOG_NAME_MAX] = EVENTLOG_PROGRAM_PREFIX, name[256] = "?";
	struct mapping *mappings = NULL;
	size_t count = 0, i, j;
	int ret;

	ret = has_device(scan, pid);
	if (ret < 0)
		scan->hidden++;
	if (ret <= 0)
		return 0;
	ret = read_maps(scan, pid, &mappings, &count);
	if (!ret)
		find_name(scan, pid, provider, name, sizeof(name));
	for (i = 0; i < count && !ret; i++) {
		/* A file may have several such mappings. */
		for (j = 0; j < i && mappings[j].file != mappings[i].file; j++)
			;
		if (j == i)
			ret = add_mapped(scan, pid, mappings[i].file, provider, name, mappings,
					 count);
	}
	free(mappings);
	return ret;
}

static int read_processes(struct scan *scan)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	int ret = 0;

	/* Then all are hidden. */
	if (!processes)
		return 0;
	while (!ret && (entry = readdir(processes))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		ret = read_process(scan, (pid_t)strtol(entry->d_name, NULL, 10));
	}
	closedir(processes);
	return ret;
}

/* ------------------------------------------------------------------------
 * The list
 */

/* Add the definitions that no inspected process has. */
static int add_unexplained(struct scan *scan)
{
	static char nothing[] = "", nowhere[] = "-";
	struct marker *marker;
	size_t i;

	for (i = 0; i < scan->definition_count; i++) {
		const struct definition *definition = &scan->definitions[i];
		struct file_marker from = {
			.tag = definition->event,
			.event = definition->event,
			.path = nothing,
			.function = nothing,
			.place = nowhere,
			.fields = definition->fields,
			.allowed = MARKER_HANDLERS,
		};

		if (definition->is_explained)
			continue;
		scan->unexplained++;
		marker = add_marker(scan->list, &from,
				    definition->provider + strlen(EVENTLOG_PROGRAM_PREFIX));
		if (!marker)
			return -ENOMEM;
		marker->owner = MARKER_OF_PROGRAM;
		/* Unknown; mostly it is enabled. */
		marker->next.handlers = EVENTLOG_MARKER_TRACE;
		add_state(marker, definition);
	}
	return 0;
}

/* Order markers so that equal ones of several processes are adjacent. */
static int compare_found(const void *left, const void *right)
{
	const struct marker *a = left, *b = right;
	int ret = strcmp(a->module, b->module);

	if (!ret)
		ret = strcmp(a->path, b->path);
	if (!ret)
		ret = strcmp(a->function, b->function);
	if (!ret)
		ret = (a->next.ordinal > b->next.ordinal) - (a->next.ordinal < b->next.ordinal);
	if (!ret)
		ret = strcmp(a->event, b->event);
	if (!ret)
		ret = strcmp(a->fields, b->fields);
	if (!ret)
		ret = (a->next.handlers > b->next.handlers) -
		      (a->next.handlers < b->next.handlers);
	if (!ret)
		ret = (a->next.descriptor > b->next.descriptor) -
		      (a->next.descriptor < b->next.descriptor);
	return ret;
}

static int compare_with_process(const void *left, const void *right)
{
	const struct marker *a = left, *b = right;
	int ret = compare_found(a, b);

	return ret ? ret : (a->pid > b->pid) - (a->pid < b->pid);
}

static int put_process(struct marker *marker, struct elog_text *text)
{
	marker->pids = strndup(text->data ? text->data : "", text->size);
	text->size = 0;
	return marker->pids && !text->error ? 0 : -ENOMEM;
}

/* Merge equal markers into one that has the ids of all processes. */
static int join_processes(struct marker *markers, size_t *count)
{
	struct elog_text text = { 0 };
	size_t i, kept = 0;
	int ret = 0;

	if (*count)
		qsort(markers, *count, sizeof(*markers), compare_with_process);
	for (i = 0; i < *count; i++) {
		if (i && !compare_found(&markers[kept - 1], &markers[i])) {
			elog_text_printf(&text, ",%d", markers[i].pid);
			marker_free(&markers[i]);
			continue;
		}
		if (kept && !ret)
			ret = put_process(&markers[kept - 1], &text);
		markers[kept++] = markers[i];
		if (markers[i].pid)
			elog_text_printf(&text, "%d", markers[i].pid);
	}
	if (kept && !ret)
		ret = put_process(&markers[kept - 1], &text);
	*count = kept;
	elog_text_free(&text);
	return ret;
}

int markers_read_programs(int fd, struct marker_list *list, size_t *hidden)
{
	struct scan scan = { .list = list, .old_count = list->count };
	struct stat status;
	size_t i, count;
	int ret;

	*hidden = 0;
	if (fstat(fd, &status))
		return -errno;
	scan.device = status.st_rdev;
	ret = read_definitions(&scan, fd);
	if (!ret)
		ret = read_processes(&scan);
	if (!ret)
		ret = add_unexplained(&scan);
	if (!ret) {
		count = list->count - scan.old_count;
		ret = join_processes(list->markers + scan.old_count, &count);
		list->count = scan.old_count + count;
	}
	*hidden = scan.unexplained ? scan.hidden : 0;
	if (scan.is_full)
		elog_error("too many markers of programs: the list is incomplete");
	for (i = 0; i < scan.definition_count; i++) {
		free(scan.definitions[i].provider);
		free(scan.definitions[i].event);
		free(scan.definitions[i].fields);
	}
	free(scan.definitions);
	for (i = 0; i < scan.file_count; i++)
		file_markers_free(&scan.files[i].markers);
	free(scan.files);
	return ret;
}
