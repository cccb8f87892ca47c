// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Writes the fuzzers' seeds into the existing directories DIR/FUZZER: small files of each kind
 * from libelog's writer, a schema with every type, records with each kind of fields in both byte
 * orders, answers of servers, messages of a stream, and a filter. The Makefile makes ELF files.
 */
#include <fcntl.h>

#include "file/file_source.h"

static const char types[] =
	"eventlog 1\n"
	"provider all \"every type\"\n"
	"keyword some 0x6 \"bits\"\n"
	"enum state\n"
	"	-2 LOW\n"
	"	1 ONE \"described\"\n"
	"flags bits\n"
	"	0 NONE\n"
	"	0x1 FIRST\n"
	"event 1 typed info some,0x100 \"an event\"\n"
	"	u8 a as hex\n"
	"	u64 b\n"
	"	s16 c as dec\n"
	"	bool d\n"
	"	char[5] e\n"
	"	u8[3] f\n"
	"	string g\n"
	"	bytes:rel h\n"
	"	ipv4 i\n"
	"	ipv6 j\n"
	"	port k\n"
	"	mac l\n"
	"	time m\n"
	"	duration n\n"
	"	ptr o\n"
	"	enum:state:s32 p\n"
	"	flags:bits:u16 q\n"
	"	struct:opaque:6 r\n"
	"event 2 bare error -\n";

static const char metadata[] =
	"Event;a=b\0u\0\x82\3b\0\2s\0\x81\2t\0\7w\0\x88\x0c" "c\0\x8a\x0ci\0\x85\x06p\0\x84\x11"
	"g\0\x86\x0fn\0\x8d\2m\0\x8d\7d\0\x8a\x08r\0\x8d\x10" "h\0\x8d\x12"
	"a\0\xc1\2x\0\x44y\0\x47v\0\x23\2\0f\0\xcd\2";

static const char data[] =
	"\7\1" "text\0" "w\0\0\0" "\3\0abc" "\0\1\2\3\0\0\0\0" "\x7f\0\0\1"
	"0123456789abcdef" "\2\0\1\2" "\1\0\xff" "\0\0" "\2\0\x1f\x90" "\4\0\x7f\0\0\1"
	"\2\0" "\0\0\1\0q\0" "\1\0\1\2\3\4\0\0" "\1\0\2\0" "\2\0\1\0\1\0\0";

static void write_extension(int fd, bool big, size_t size, unsigned int kind, const char *bytes)
{
	const unsigned char numbers[] = {
		(unsigned char)(big ? size >> 8 : size), (unsigned char)(big ? size : size >> 8),
		(unsigned char)(big ? kind >> 8 : kind), (unsigned char)(big ? kind : kind >> 8),
	};

	check_equal(write(fd, numbers, sizeof(numbers)), sizeof(numbers));
	check_equal(write(fd, bytes, size), size);
}

/* The numbers in the data have the order of bytes of little-endian records. */
static void write_record(int fd, bool big)
{
	const char header[8] = { big ? 4 : 6, 1, 2, 3, 4, 5, 1, 4 };

	check_equal(write(fd, header, sizeof(header)), sizeof(header));
	write_extension(fd, big, 16, 0x8002, "0123456789abcdef");
	write_extension(fd, big, sizeof(metadata) - 1, 1, metadata);
	check_equal(write(fd, data, sizeof(data) - 1), sizeof(data) - 1);
	close(fd);
}

static int create(const char *directory, const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

/* For parser_fuzz: the module takes the canonical form, and one event. */
static const char canonical[] =
	"eventlog 1\nprovider all \"a \\\"b\\\"\"\nkeyword some 0x6 \"bits\"\nenum state\n"
	"\t-2 LOW\n"
	"\t1 ONE \"described\"\nflags bits\n\t0 NONE\n\t0x1 FIRST\n"
	"event 1 typed info some,0x100 \"an event\"\n\tu8 a as hex\n\tu64 b\n\tchar[5] c\n"
	"\tstring d\n\tenum:state:s32 e\n\tflags:bits:u16 f\n\tstruct:opaque:6 g\n";

static const char command[] =
	"name \"a description\" u8 a; unsigned char b; char[3] c; __data_loc char[] d; "
	"__rel_loc unsigned char[] e; struct s f 6; s64 g";

/* What a server answers, for nats_fuzz: the first byte says to what. */
static const char *const answers[] = {
	"\3{\"message\":{\"subject\":\"elog.m.c\",\"seq\":12,\"hdrs\":"
	"\"TkFUUy8xLjANCkVsb2ctRmlsZTogMDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWYNCkVsb2ctT2Zm"
	"c2V0OiAxMg0KDQo=\",\"data\":\"AAECAwQ=\",\"time\":\"2026-11-23T19:49:37.123456789Z\"}}",
	"\3{\"error\":{\"code\":404,\"err_code\":10037,\"description\":\"no message found\"}}",
	"\1{\"stream\":\"ELOG\",\"seq\":3,\"duplicate\":true}",
	"\1{\"error\":{\"code\":503,\"err_code\":10023,\"description\":\"no resources\"}}",
};

/* Files 1 and 2, and a message of file 1 twice; see order_fuzz.c. */
static const unsigned char messages[] =
	"\0\1\0\0\0\12\0\0" "\0\1\0\0\12\12\0\0" "\0\1\0\0\12\12\0\0"
	"\0\2\1\24\0\12\0\0" "\0\2\0\0\36\12\0\0" "\0\2\0\0\12\12\0\0";

/* The message "refused", of 7 records. */
static const unsigned char accepted[] = "\12\13\10\7\22\7refused";
static const unsigned char refused[] = "\10\3\22\7refused";

static void write_file(const char *directory, const char *name, const void *bytes, size_t size)
{
	const int fd = create(directory, name);

	check_equal(write(fd, bytes, size), size);
	close(fd);
}

/* The first field is less than 5, or begins with "ab"; see filter_fuzz.c. */
static void write_filter(const char *directory)
{
	static const char pool[] = "a\0o\0ab";
	const struct eventlog_term terms[2] = {
		{ .name = 0, .flags = EVENTLOG_TERM_NUMBER, .operation = EVENTLOG_TERM_OP_LESS,
		  .on_true = EVENTLOG_FILTER_ACCEPT, .on_false = 1, .number = 5 },
		{ .name = 2, .flags = EVENTLOG_TERM_STRING, .operation = EVENTLOG_TERM_OP_BEGINS,
		  .on_true = EVENTLOG_FILTER_ACCEPT, .on_false = EVENTLOG_FILTER_REJECT,
		  .string = 4 },
	};
	const unsigned char sizes[2] = { 1, sizeof(pool) };
	const int fd = create(directory, "filter_fuzz/two");

	check_equal(write(fd, sizes, sizeof(sizes)), sizeof(sizes));
	check_equal(write(fd, terms, sizeof(terms)), sizeof(terms));
	check_equal(write(fd, pool, sizeof(pool)), sizeof(pool));
	check_equal(write(fd, data, sizeof(data)), sizeof(data));
	close(fd);
}

static void write_answers(const char *directory)
{
	char name[32];
	size_t i;

	for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		snprintf(name, sizeof(name), "nats_fuzz/answer%zu", i);
		write_file(directory, name, answers[i], strlen(answers[i]));
	}
	write_file(directory, "order_fuzz/files", messages, sizeof(messages) - 1);
	write_file(directory, "otlp_fuzz/accepted", accepted, sizeof(accepted) - 1);
	write_file(directory, "otlp_fuzz/refused", refused, sizeof(refused) - 1);
}

int main(int argc, char **argv)
{
	static const char payload[200];
	struct elog_compressor *compressor;
	struct source source;
	int fd;

	if (argc != 2) {
		fprintf(stderr, "usage: make_seeds DIR\n");
		return 2;
	}
	seed_random();
	fd = create(argv[1], "file_fuzz/plain");
	write_part(&source, fd, 20, 0, true);
	close(fd);
	fd = create(argv[1], "file_fuzz/cut");
	write_part(&source, fd, 10, 0, false);
	check_equal(ftruncate(fd, lseek(fd, 0, SEEK_CUR) - 11), 0);
	close(fd);
	interval = 500;
	tick = 1000000;
	fd = create(argv[1], "file_fuzz/index");
	write_part(&source, fd, 100, 1024, true);
	write_part(&source, fd, 50, 0, true);
	close(fd);
	if (!elog_compressor_new(&compressor, 3)) {
		elog_compressor_free(compressor);
		compression = 3;
		fd = create(argv[1], "file_fuzz/compressed");
		write_part(&source, fd, 60, 1024, true);
		close(fd);
	}
	fd = create(argv[1], "schema_fuzz/types");
	check_equal(write(fd, types, sizeof(types)), sizeof(types));
	check_equal(write(fd, payload, sizeof(payload)), sizeof(payload));
	close(fd);
	write_file(argv[1], "parser_fuzz/schema", canonical, sizeof(canonical));
	write_file(argv[1], "parser_fuzz/command", command, sizeof(command));
	write_answers(argv[1]);
	write_filter(argv[1]);
	write_record(create(argv[1], "eventheader_fuzz/little"), false);
	write_record(create(argv[1], "eventheader_fuzz/big"), true);
	return failures != 0;
}
