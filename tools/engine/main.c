// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine as a program of its own, for tests.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server.h"

int main(int argc, char **argv)
{
	int ret;

	if (argc != 2) {
		fprintf(stderr, "usage: engine SOCKET\n");
		return 2;
	}
	ret = server_load();
	if (!ret)
		ret = server_listen(argv[1]);
	if (ret) {
		fprintf(stderr, "engine: %s: %s\n", argv[1], strerror(-ret));
		return 1;
	}
	server_run(0, NULL);
	unlink(argv[1]);
	return !server_unload();
}
