// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: the bytes of an ELF file that may have notes of markers. What is found is
 * complete: each marker has its strings.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "marker/marker_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct file_marker *marker;
	struct file_markers markers;
	static int fd = -1;
	size_t i;

	if (fd < 0) {
		fd = memfd_create("marker", MFD_CLOEXEC);
		if (fd < 0)
			exit(1);
	}
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		exit(1);
	if (!file_markers_read(fd, &markers))
		for (i = 0; i < markers.count; i++) {
			marker = &markers.markers[i];
			if (!marker->tag || !marker->event || !marker->path || !marker->function ||
			    !marker->place || !marker->fields)
				abort();
			/* Reads each to its end. */
			if (!strlen(marker->event) || !strlen(marker->place))
				abort();
		}
	file_markers_free(&markers);
	return 0;
}
