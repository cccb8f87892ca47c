/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests that load and unload the module.  $EVENTLOG_KO, else $EVENTLOG_MODULE, is its
 * file.  After the last test the module is loaded again as it was before.
 */
#ifndef MODULE_COMMON_H
#define MODULE_COMMON_H

#include "eventlog_common.h"

/** module_path() - the module's file, or NULL */
const char *module_path(void);

/** try_load() - load the module with these parameters; -1 with errno on failure */
int try_load(const char *parameters);

/** try_unload() - unload the module; -1 with errno on failure */
int try_unload(void);

/** is_loaded() - is the module loaded */
bool is_loaded(void);

/** load() - unload the module and load it with these parameters; skips without a file */
void load(const char *parameters);

#endif /* MODULE_COMMON_H */
