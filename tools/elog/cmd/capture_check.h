/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which options of elog capture go together. Only for capture.c.
 */
#ifndef CAPTURE_CHECK_H
#define CAPTURE_CHECK_H

#include "cmd/options.h"

/** capture_to_files() - are files written, instead of printing or sending? */
bool capture_to_files(const struct options *options);

/** capture_check() - 0, or -EINVAL after an error message */
int capture_check(const struct options *options);

#endif /* CAPTURE_CHECK_H */
