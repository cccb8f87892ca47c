/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A full-screen terminal, by ncurses; not available if elog was built without ncurses.
 * Only one thread of the process may use it.
 */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>
#include <stddef.h>

/** enum screen_key - keys that are not characters */
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
 * screen_check() - check that there is a terminal, and ncurses
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int screen_check(void);

/**
 * screen_open() - switch the terminal to full screen
 *
 * After screen_check() and signals_catch(). Also handles SIGTSTP and SIGWINCH.
 *
 * Return: 0; a negative errno if the type of terminal is unknown; the reason was printed.
 */
int screen_open(void);

/**
 * screen_message() - get the last message on stderr, if it is a new one
 * @buffer: takes it
 * @size: of @buffer
 *
 * While the screen is open, and stderr is a terminal, messages are kept; screen_close() prints
 * them.
 *
 * Return: false if there is no new one.
 */
bool screen_message(char *buffer, size_t size);

/** screen_close() - restore the terminal; does nothing if it is not open */
void screen_close(void);

/** screen_unicode() - can the terminal show all characters? */
bool screen_unicode(void);

/** screen_size() - get the present number of rows and columns */
void screen_size(int *rows, int *columns);

/** screen_clear() - start to draw on a blank screen */
void screen_clear(void);

/**
 * screen_put() - draw text
 * @row: from 0; text outside the screen is not drawn
 * @column: from 0, likewise
 * @width: columns; text is truncated or padded with blanks
 * @style: style of the text
 * @text: in the locale's encoding; characters that cannot be shown become "?"
 */
void screen_put(int row, int column, int width, enum screen_style style,
		const char *text);

/** screen_put_fitted() - as screen_put(); text that is truncated ends with a mark */
void screen_put_fitted(int row, int column, int width, enum screen_style style,
		       const char *text);

/** screen_width() - how many columns a text needs */
int screen_width(const char *text);

/** screen_show() - update the terminal */
void screen_show(void);

/** screen_key() - read a key, enum screen_key or a character, without waiting */
int screen_key(void);

#endif /* SCREEN_H */
