/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module in the engine: loading it, and what is in place of parts that it does without.
 */
#ifndef ENGINE_GLUE_H
#define ENGINE_GLUE_H

/**
 * engine_load() - load the module; processes_init() was called
 *
 * Return: 0 or a negative errno.
 */
int engine_load(void);

/**
 * engine_unload() - unload it; no file is open
 *
 * Return: whether the module has not warned of anything since it was loaded.
 */
bool engine_unload(void);

#endif /* ENGINE_GLUE_H */
