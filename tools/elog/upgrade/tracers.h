/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracers that use trace events of eventlog.ko, as tracefs shows them.
 */
#ifndef TRACERS_H
#define TRACERS_H

#include <stdbool.h>

/**
 * tracers_enabled() - is a trace event of the module enabled?
 *
 * Then the module cannot be unloaded. What perf and BPF programs use is not found here.
 *
 * Return: true: they were printed. false, too, if tracefs is not mounted.
 */
bool tracers_enabled(void);

/**
 * tracers_eprobes() - is there an eprobe on a trace event of the module?
 *
 * Mostly the module cannot be unloaded then. If the event has just ended it can be, but that does
 * not end before the eprobe is removed.
 *
 * Return: as tracers_enabled().
 */
bool tracers_eprobes(void);

#endif /* TRACERS_H */
