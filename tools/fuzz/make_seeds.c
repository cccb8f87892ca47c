// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Writes the fuzzers' seeds into the existing directories DIR/file_fuzz and
 * DIR/schema_fuzz: small files of each kind from libelog's writer, and a schema with
 * every type.
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
	return failures != 0;
}
