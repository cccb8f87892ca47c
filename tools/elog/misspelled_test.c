// SPDX-License-Identifier: GPL-2.0-only
/*
 * Misspelled names, with files and without a device: writes files, runs the elog beside
 * this program, and compares its messages. Prints TAP.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libelog/util/tap.h"
#include "util/tool.h"

static char directory[] = "/tmp/misspelled_test.XXXXXX";
static char elog[PATH_MAX];
static char output[65536], errors[65536];

static const char *const schemas[] = {
	"eventlog 1\nprovider shop\nkeyword sale 0x1\n"
	"event 1 order error sale\n\tu32 bytes\n\tu16 port\n",
	"eventlog 1\nprovider shop\nkeyword sale 0x1\n"
	"event 2 close info -\n\tu8 code\n",
	"eventlog 1\nprovider proc\nkeyword life 0x1\nkeyword rundown 0x4\n"
	"event 1 fork info life\n\tu32 child\n",
};

static int write_events(struct elog_writer *writer, size_t count)
{
	static const unsigned char payload[8] = { 1, 0, 0, 0, 1 };
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < count; i++) {
		const struct elog_item item = {
			.type = ELOG_ITEM_EVENT, .time = i + 1, .descriptor = (uint32_t)i + 1,
			.pid = 1, .tid = 1, .payload = payload, .payload_size = sizeof(payload),
		};

		ret = elog_writer_schema(writer, item.descriptor, 0, schemas[i]);
		if (!ret)
			ret = elog_writer_add(writer, &item);
	}
	if (!ret)
		ret = elog_writer_sync(writer, 100, NULL, 0);
	return ret ? ret : elog_writer_end(writer, 0);
}

/* Write an event of each of the first schemas. */
static int write_file(const char *name, size_t count)
{
	const struct elog_writer_options options = {
		.size = sizeof(options), .program = "misspelled_test", .cpus = 1,
	};
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), ret;
	struct elog_writer *writer;

	if (fd < 0)
		return -errno;
	ret = elog_writer_open(&writer, fd, &options);
	if (!ret) {
		ret = write_events(writer, count);
		elog_writer_close(writer);
	}
	close(fd);
	return ret;
}

static void read_file(const char *name, char *text, size_t room)
{
	FILE *file = fopen(name, "re");

	text[file ? fread(text, 1, room - 1, file) : 0] = '\0';
	if (file)
		fclose(file);
}

/* Run elog with arguments for the shell. Return: its exit status. */
static int run_elog(const char *arguments)
{
	char command[PATH_MAX + 1024];
	int status;

	snprintf(command, sizeof(command), "'%s' %s > out 2> err", elog, arguments);
	status = system(command);
	read_file("out", output, sizeof(output));
	read_file("err", errors, sizeof(errors));
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A message is a whole line, without "elog VERB: ". */
static bool has_message(const char *message)
{
	char line[1024], *found;

	snprintf(line, sizeof(line), ": %s\n", message);
	found = strstr(errors, line);
	while (found && found > errors && found[-1] != '\n')
		found--;
	return found && !strncmp(found, "elog", 4);
}

struct sample {
	const char *arguments;
	const char *message;
	const char *printed;		/* on stdout as well; NULL: nothing need be */
};

static void check_sample(const struct sample *sample)
{
	int status = run_elog(sample->arguments);

	if (status != STATUS_ERROR)
		fail(__FILE__, __LINE__, "elog %s: status %d", sample->arguments, status);
	if (!has_message(sample->message))
		fail(__FILE__, __LINE__, "elog %s: no '%s' in '%s'", sample->arguments,
		     sample->message, errors);
	if (sample->printed && !strstr(output, sample->printed))
		fail(__FILE__, __LINE__, "elog %s: no '%s' in '%s'", sample->arguments,
		     sample->printed, output);
}

static void check_samples(const struct sample *samples, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		check_sample(&samples[i]);
}

static void test_events(void)
{
	static const struct sample samples[] = {
		{ "show -e shop/odrer file",
		  "no event 'shop/odrer'; did you mean 'shop/order'?", NULL },
		{ "show -e Shop/clsoe file",
		  "no event 'Shop/clsoe'; did you mean 'shop/close'?", NULL },
		{ "show -e proc/order file",
		  "no event 'proc/order'; did you mean 'shop/order'?", NULL },
		{ "show -e 'shop/x*' file", "no event 'shop/x*'", NULL },
		{ "show -e shpo file", "no provider 'shpo'; did you mean 'shop'?", NULL },
		{ "show -e order file", "no provider 'order'; did you mean 'shop/order'?", NULL },
		/* One name is right, the other one is not. */
		{ "show -e shop/close -e shop/ordre file",
		  "no event 'shop/ordre'; did you mean 'shop/order'?", "code=1" },
		{ "show -e shop/ordre - < file",
		  "no event 'shop/ordre'; did you mean 'shop/order'?", NULL },
		{ "show -e shop/ordre empty file",
		  "no event 'shop/ordre'; did you mean 'shop/order'?", NULL },
		{ "stat -e shop/ordre file",
		  "no event 'shop/ordre'; did you mean 'shop/order'?", "total" },
		{ "latency odrer close file",
		  "no event 'odrer'; did you mean 'shop/order'?", "0 pairs" },
		/* The rest of a file that was cut off may have it, but that is an error, too. */
		{ "show -e shop/ordre cut",
		  "no event 'shop/ordre'; did you mean 'shop/order'?", NULL },
	};

	check_samples(samples, ARRAY_SIZE(samples));
	check_equal(run_elog("show -e shop/odrer file"), STATUS_ERROR);
	check_string(output, "");
	check_string(errors, "elog: 0 events, lost 0\n"
		     "elog show: no event 'shop/odrer'; did you mean 'shop/order'?\n");
}

static void test_filters(void)
{
	static const struct sample samples[] = {
		{ "show -f 'byts > 1' file",
		  "-f 'byts > 1': column 1: no field 'byts'; did you mean 'bytes'?", NULL },
		{ "show -f 'bytes == 1 || prot == 80' file",
		  "-f 'bytes == 1 || prot == 80': column 15: no field 'prot'; did you mean 'port'?",
		  "bytes=1" },
		{ "stat -f 'bytes > 1 && byte < 9' file",
		  "-f 'bytes > 1 && byte < 9': column 14: no field 'byte'; did you mean 'bytes'?",
		  "total" },
		/* Only the events that -e, -k and -l select count. */
		{ "show -e shop/close -f 'bytes > 1' file",
		  "-f 'bytes > 1': column 1: no field 'bytes'", NULL },
		{ "show -l error -f code file", "-f 'code': column 1: no field 'code'", NULL },
		{ "show -f 'provider == shpo' file",
		  "-f 'provider == shpo': column 13: no provider 'shpo'; did you mean 'shop'?",
		  NULL },
		{ "show -f 'event != ordr' file",
		  "-f 'event != ordr': column 10: no event 'ordr'; did you mean 'order'?",
		  "shop" },
		{ "show -f 'keywords & lief|sale' file",
		  "-f 'keywords & lief|sale': column 12: no keyword 'lief'; did you mean 'life'?",
		  NULL },
	};

	check_samples(samples, ARRAY_SIZE(samples));
}

static void test_fields_and_keywords(void)
{
	static const struct sample samples[] = {
		{ "show -k lief file", "-k: no keyword 'lief'; did you mean 'life'?", NULL },
		{ "show -k life,bogus file", "-k: no keyword 'bogus'", "child=1" },
		{ "show -e proc -k sale file", "-k: no keyword 'sale'", NULL },
		{ "show --fields tiem,bytes file",
		  "--fields: no field 'tiem'; did you mean 'time'?", "bytes=1" },
		{ "show --format csv --fields time,prot file",
		  "--fields: no field 'prot'; did you mean 'port'?", "time,prot\n" },
		{ "latency --by prot order close file",
		  "--by: no START has a field 'prot'; did you mean 'port'?", NULL },
		{ "latency --group cod order close file",
		  "--group: no END has a field 'cod'; did you mean 'code'?", NULL },
	};

	check_samples(samples, ARRAY_SIZE(samples));
}

/* No error: the names are known, or what was not read may have them. */
static void test_known(void)
{
	check_equal(run_elog("show -e shop/order -e 'pr*/fo*' -k life,sale,1 "
			     "-f 'bytes == 1 || event == fork' "
			     "-f '@keywords & life || @provider == shop || tid' "
			     "--fields time,fields,bytes file"), STATUS_OK);
	check_string(errors, "elog: 2 events, lost 0\n");
	check_equal(run_elog("show -q -e '[s]hop/[!o]*' -e 'proc/[]f]*' file"), STATUS_OK);
	check_string(errors, "");
	check(strstr(output, "code=1") && strstr(output, "fork"));
	/* A file without events proves nothing. */
	check_equal(run_elog("show -e x/y -f 'byts > 1' --fields tiem -k z empty"), STATUS_OK);
	check_string(errors, "elog: 0 events, lost 0\n");
	check_equal(run_elog("show -q -e shop/order empty file"), STATUS_OK);
	check_string(errors, "");
	check_equal(run_elog("show -q -n 1 -e shop -e shop/ordre file"), STATUS_OK);
	check_string(errors, "");
	check_equal(run_elog("show -q --since 1970-01-02 -e shop/ordre file"), STATUS_OK);
	check_string(errors, "elog show: no event 'shop/ordre' since then; "
		     "did you mean 'shop/order'?\n");
	check_equal(run_elog("show -q -l warn -e shop file"), STATUS_OK);
	check(strstr(output, "bytes=1") && !strstr(output, "code=1"));
	check_equal(run_elog("show -q -f 'provider == shop && level <= warn' file"), STATUS_OK);
	check(strstr(output, "bytes=1") && !strstr(output, "code=1"));
}

#define NO_BRACKET	"'[' has no ']'; \\[ is the character"

static void test_globs(void)
{
	static const struct sample samples[] = {
		{ "show -e 'proc/[' file", "-e: invalid PROVIDER[/EVENT] 'proc/[': " NO_BRACKET,
		  NULL },
		{ "show -e '[' file", "-e: invalid PROVIDER[/EVENT] '[': " NO_BRACKET, NULL },
		{ "show -e 'a[/b]' file", "-e: invalid PROVIDER[/EVENT] 'a[/b]': " NO_BRACKET,
		  NULL },
		{ "show -e 'a/[]' file", "-e: invalid PROVIDER[/EVENT] 'a/[]': " NO_BRACKET,
		  NULL },
		{ "show -e '[!]' file", "-e: invalid PROVIDER[/EVENT] '[!]': " NO_BRACKET, NULL },
		{ "show -e 'x\\' file",
		  "-e: invalid PROVIDER[/EVENT] 'x\\': nothing follows the last \\", NULL },
		{ "capture --overwrite --trigger 'x/['",
		  "--trigger: invalid PROVIDER[/EVENT] 'x/[': " NO_BRACKET, NULL },
		{ "list 'proc/['", "invalid PROVIDER[/EVENT] 'proc/[': " NO_BRACKET, NULL },
		{ "latency 'a[' b file", "invalid [PROVIDER/]EVENT 'a[': " NO_BRACKET, NULL },
		{ "marker list 'a['", "invalid PATTERN 'a[': " NO_BRACKET, NULL },
		{ "marker list --module '['", "--module: invalid glob '[': " NO_BRACKET, NULL },
	};

	check_samples(samples, ARRAY_SIZE(samples));
}

static void test_options(void)
{
	static const struct sample samples[] = {
		{ "show --sesion 1 file", "no option '--sesion'; did you mean '--session'?", NULL },
		{ "show --sesion=1 file", "no option '--sesion'; did you mean '--session'?", NULL },
		{ "show -E shop file", "no option '-E'; did you mean '-e'?", NULL },
		{ "show -Z file", "no option '-Z'", NULL },
		{ "show --sessio 1",
		  "the option '--sessio' is ambiguous: --session, --session-summary", NULL },
		{ "capture --per-cpu-bytes 3M",
		  "--per-cpu-bytes: invalid size '3M': must be a power of two, at most 1G", NULL },
		{ "show -l wran file",
		  "-l: invalid level 'wran': must be one of critical, error, warning, notice, "
		  "info, debug, verbose, warn, or a number from 1 to 7; did you mean 'warn'?",
		  NULL },
		{ "show --format jsn file", "--format: invalid format 'jsn': must be one of text, "
		  "json, csv; did you mean 'json'?", NULL },
		{ "show --time wal file", "--time: invalid argument 'wal': must be one of mono, "
		  "wall, delta, utc; did you mean 'wall'?", NULL },
		{ "stat --by evnt", "--by: invalid name 'evnt': must be one of event, provider, "
		  "session, pid, cpu, instance, host; did you mean 'event'?", NULL },
		{ "stat --sort byts", "--sort: invalid name 'byts': must be one of events, bytes, "
		  "rate, lost, name; did you mean 'bytes'?", NULL },
	};

	check_samples(samples, ARRAY_SIZE(samples));
}

/* One line, not the whole usage. */
static void test_verbs(void)
{
	static const char *const others[] = { "script", "log", "tail", "trace", "print", "count" };
	char help[sizeof(output)];
	size_t i;

	check_equal(run_elog("caputre"), STATUS_ERROR);
	check_string(errors, "elog: no verb 'caputre'; did you mean 'capture'?\n");
	check_equal(run_elog("x"), STATUS_ERROR);
	check_string(errors, "elog: no verb 'x': must be one of capture, show, report, stop, "
		     "stat, top, latency, why, export, sql, list, marker, info, emit, create, "
		     "delete, ship, upgrade, engine, help\n");
	check_equal(run_elog("st"), STATUS_ERROR);
	check_string(errors, "elog: the verb 'st' is ambiguous: stop, stat\n");
	check_equal(run_elog("marker enabel x"), STATUS_ERROR);
	check_string(errors, "elog marker: no action 'enabel'; did you mean 'enable'?\n");
	check_equal(run_elog("record -o x"), STATUS_ERROR);
	check_string(errors, "elog: no verb 'record'; elog capture -o FILE records\n");
	check_equal(run_elog("start"), STATUS_ERROR);
	check_string(errors, "elog: no verb 'start'; elog capture --background -o FILE starts a "
		     "recording\n");
	check_equal(run_elog("help query"), STATUS_ERROR);
	check_string(errors, "elog: no verb 'query'; elog sql FILE QUERY answers a query\n");
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		check_equal(run_elog(others[i]), STATUS_ERROR);
		check(strstr(errors, "'; elog ") && !strstr(errors, "did you mean"));
		check(strchr(errors, '\n') == errors + strlen(errors) - 1);
	}
	check_equal(run_elog("help caputre"), STATUS_ERROR);
	check_string(errors, "elog: no verb 'caputre'; did you mean 'capture'?\n");
	check_equal(run_elog("help stat show"), STATUS_ERROR);
	check_string(errors, "elog: unexpected argument 'show'\n");

	check_equal(run_elog("sho -q -e shop/order file"), STATUS_OK);
	check(strstr(output, "bytes=1"));
	check_equal(run_elog("--help"), STATUS_OK);
	strcpy(help, output);
	check(strstr(help, "elog help VERB"));
	check_equal(run_elog("help"), STATUS_OK);
	check_string(output, help);
	check_equal(run_elog("help help"), STATUS_OK);
	check_string(output, help);
	check_equal(run_elog("latency --help"), STATUS_OK);
	strcpy(help, output);
	check_equal(run_elog("help latency"), STATUS_OK);
	check_string(output, help);
	check_equal(run_elog("hel lat"), STATUS_OK);
	check_string(output, help);
}

static int begin(void)
{
	ssize_t size = readlink("/proc/self/exe", elog, sizeof(elog) - 8);

	if (size < 0 || !mkdtemp(directory) || chdir(directory))
		return -errno;
	elog[size] = '\0';
	strcpy(strrchr(elog, '/'), "/elog");
	setenv("TZ", "UTC", 1);
	unsetenv("PAGER");
	/* The last 16 bytes of a file are a part of its END block. */
	return write_file("file", ARRAY_SIZE(schemas)) || write_file("empty", 0) ||
	       system("head -c -16 file > cut");
}

static void end(void)
{
	static const char *const names[] = { "file", "empty", "cut", "out", "err" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		unlink(names[i]);
	rmdir(directory);
}

int main(void)
{
	static const struct test tests[] = {
		{ "events and providers that no event has", test_events },
		{ "names in filters", test_filters },
		{ "fields and keywords", test_fields_and_keywords },
		{ "names that are known, or may be", test_known },
		{ "malformed globs", test_globs },
		{ "options and their arguments", test_options },
		{ "verbs, abbreviations and help", test_verbs },
	};
	int ret;

	if (begin()) {
		printf("Bail out! cannot write files to %s\n", directory);
		return 1;
	}
	ret = run_tests(tests, ARRAY_SIZE(tests), NULL);
	end();
	return ret;
}
