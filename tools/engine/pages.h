/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of the engine that others may keep when it ends.
 */
#ifndef ENGINE_PAGES_H
#define ENGINE_PAGES_H

/**
 * pages_status_at() - let the status map be a file; before the module is loaded
 * @path: of the file. If it exists, its engine has ended: its programs are asked to leave
 */
void pages_status_at(const char *path);

#endif /* ENGINE_PAGES_H */
