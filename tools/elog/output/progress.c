// SPDX-License-Identifier: GPL-2.0-only
/*
 * How far a long reading has come: see progress.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "output/progress.h"

#define FIRST_NS	1000000000ULL	/* what is quicker needs none */
#define NEXT_NS		200000000ULL

void progress_start(struct progress *progress, const struct options *options,
		    const struct output *output)
{
	progress->wanted = isatty(STDERR_FILENO) && !options->quiet &&
			   !options->follow && !output->terminal;
	progress->shown = false;
	progress->next = progress->wanted ? monotonic() + FIRST_NS : 0;
}

void progress_update(struct progress *progress, const struct source *source,
		     uint64_t events)
{
	uint64_t now, done, total;

	if (!progress->wanted)
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
