/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hosts whose events are merged, and how far their clocks may be apart. For one thread.
 */
#ifndef HOSTS_H
#define HOSTS_H

#include <elog.h>

struct hosts;

/** hosts_new() - NULL: no memory */
struct hosts *hosts_new(void);

/** hosts_free() - free it; NULL is allowed */
void hosts_free(struct hosts *hosts);

/** hosts_see() - a part of a file begins; return 0 or -ENOMEM */
int hosts_see(struct hosts *hosts, const struct elog_reader *reader);

/** hosts_report() - print on stderr which events may be in another order; NULL is allowed */
void hosts_report(const struct hosts *hosts);

#endif /* HOSTS_H */
