// SPDX-License-Identifier: GPL-2.0-only
/*
 * The progress of reading files: see progress.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "output/progress.h"

#define FIRST_NS	1000000000ULL	/* faster runs show no progress */
#define NEXT_NS		200000000ULL

void progress_start(struct progress *progress, bool wanted, const struct output *output)
{
	progress->enabled = wanted && isatty(STDERR_FILENO) && !output->terminal;
	progress->shown = false;
	progress->next = progress->enabled ? monotonic() + FIRST_NS : 0;
}

void progress_update(struct progress *progress, const struct source *source,
		     uint64_t events)
{
	uint64_t now, done, total;

	if (!progress->enabled)
		return;
	now = monotonic();
	if (now < progress->next)
		return;
	progress->next = now + NEXT_NS;
	progress->shown = true;
	source_progress(source, &done, &total);
	if (total)
		fprintf(stderr, "\r\033[K%3.0f%%", 100.0 * (double)done /
			(double)total);
	else
		fputs("\r\033[K", stderr);
	fprintf(stderr, " %" PRIu64 " MiB, %" PRIu64 " events", done >> 20, events);
}

void progress_clear(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}
