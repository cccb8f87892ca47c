/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * elog info FILE: what the header of a file says. Only for info.c.
 */
#ifndef INFO_FILE_H
#define INFO_FILE_H

#include "cmd/options.h"

/** info_files() - print the headers of the files that the arguments name; an exit status */
int info_files(const struct options *options);

#endif /* INFO_FILE_H */
