/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The terminal as a screen, by ncurses; or not at all, where elog was built
 * without. A process has one, and one thread that uses it.
 */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>

/** enum screen_key - keys that are no characters */
enum screen_key {
	SCREEN_NO_KEY = -1,
	SCREEN_UP = 256,
	SCREEN_DOWN,
	SCREEN_LEFT,
	SCREEN_RIGHT,
	SCREEN_PAGE_UP,
	SCREEN_PAGE_DOWN,
	SCREEN_HOME,
	SCREEN_END,
	SCREEN_ENTER,
	SCREEN_ESCAPE,
	SCREEN_OTHER,
};

/** enum screen_style - how text is shown */
enum screen_style {
	SCREEN_PLAIN,
	SCREEN_BOLD,
	SCREEN_REVERSE,
	SCREEN_ALARM,
};

/**
 * screen_check() - is there a terminal to take over?
 *
 * Return: 0, or a negative errno, the reason being told: there is none, or elog
 * was built without ncurses.
 */
int screen_check(void);

/**
 * screen_open() - take the terminal over
 *
 * After screen_check() and signals_catch(). From then on SIGTSTP and SIGWINCH come in where those
 * signals do, and are seen to.
 *
 * Return: 0, or a negative errno, the reason being told: it is of no known kind.
 */
int screen_open(void);

/** screen_close() - give the terminal back as it was; harmless without one */
void screen_close(void);

/** screen_unicode() - can it show all characters? */
bool screen_unicode(void);

/** screen_size() - rows and columns, just now */
void screen_size(int *rows, int *columns);

/** screen_clear() - begin to draw: all is blank */
void screen_clear(void);

/**
 * screen_put() - draw text
 * @row: from 0; below the last one nothing is drawn
 * @column: from 0, likewise
 * @width: columns, cut where the screen ends, filled up with blanks
 * @style: how
 * @text: in the locale's encoding; what cannot be shown becomes "?"
 */
void screen_put(int row, int column, int width, enum screen_style style,
		const char *text);

/** screen_show() - show what was drawn */
void screen_show(void);

/** screen_key() - a key, enum screen_key or a character; does not wait */
int screen_key(void);

#endif /* SCREEN_H */
