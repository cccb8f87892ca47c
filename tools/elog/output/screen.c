// SPDX-License-Identifier: GPL-2.0-only
/*
 * A full-screen terminal: see screen.h.
 *
 * ncurses handles SIGTSTP and SIGWINCH. They are blocked except while the process
 * sleeps, so that they never interrupt ncurses itself.
 */
#include <errno.h>

#include "output/screen.h"
#include "util/tool.h"

#ifdef ELOG_NCURSES

#include <curses.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#define ESCAPE		27
#define ESCAPE_MS	25	/* between Escape and the rest of a key's sequence */
#define WIDTH_MAX	1024

#define MESSAGES_MAX	(256 << 10)	/* bytes that are kept */
#define MESSAGE_BYTES	256

static SCREEN *terminal;
static int messages = -1;	/* a file in memory that is stderr meanwhile */
static off_t messages_seen;
static int terminal_stderr = -1;
static bool alarm_colour;

int screen_check(void)
{
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return 0;
	elog_error("stdin and stdout must be a terminal");
	elog_hint("elog stat needs no terminal");
	return -ENOTTY;
}

/* A line on stderr would spoil the screen. Without memory it does. */
static void keep_messages(void)
{
	if (!isatty(STDERR_FILENO))
		return;
	messages = memfd_create("elog", MFD_CLOEXEC);
	terminal_stderr = messages < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (terminal_stderr >= 0)
		dup2(messages, STDERR_FILENO);
}

static void print_messages(void)
{
	char buffer[MESSAGE_BYTES];
	off_t at = 0;
	ssize_t size;

	if (terminal_stderr >= 0) {
		dup2(terminal_stderr, STDERR_FILENO);
		close(terminal_stderr);
		while ((size = pread(messages, buffer, sizeof(buffer), at)) > 0) {
			fwrite(buffer, 1, (size_t)size, stderr);
			at += size;
		}
	}
	if (messages >= 0)
		close(messages);
	messages = -1;
	terminal_stderr = -1;
}

bool screen_message(char *buffer, size_t size)
{
	char text[MESSAGE_BYTES + 1], *line;
	struct stat info;
	off_t from;
	ssize_t got;

	if (terminal_stderr < 0 || fstat(messages, &info) || info.st_size == messages_seen)
		return false;
	messages_seen = info.st_size;
	from = info.st_size > MESSAGE_BYTES ? info.st_size - MESSAGE_BYTES : 0;
	got = pread(messages, text, MESSAGE_BYTES, from);
	while (got > 0 && text[got - 1] == '\n')
		got--;
	if (got <= 0)
		return false;
	text[got] = '\0';
	line = strrchr(text, '\n');
	snprintf(buffer, size, "%s", line ? line + 1 : text);
	if (info.st_size > MESSAGES_MAX && !ftruncate(messages, 0))
		messages_seen = lseek(messages, 0, SEEK_SET);
	return true;
}

int screen_open(void)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
	sigset_t held;

	setlocale(LC_CTYPE, "");
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal) {
		elog_error("TERM=%s: unknown type of terminal", term ? term : "");
		return -ENOTTY;
	}
	keep_messages();
	sigemptyset(&held);
	sigaddset(&held, SIGTSTP);
	sigaddset(&held, SIGWINCH);
	sigprocmask(SIG_BLOCK, &held, NULL);
	set_escdelay(ESCAPE_MS);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	alarm_colour = has_colors() && !(no_color && *no_color) &&
		       start_color() == OK && use_default_colors() == OK &&
		       init_pair(1, COLOR_RED, -1) == OK;
	return 0;
}

void screen_close(void)
{
	if (!terminal)
		return;
	endwin();
	delscreen(terminal);
	terminal = NULL;
	print_messages();
}

bool screen_unicode(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

void screen_size(int *rows, int *columns)
{
	getmaxyx(stdscr, *rows, *columns);
}

void screen_clear(void)
{
	erase();
}

static attr_t attribute(enum screen_style style)
{
	switch (style) {
	case SCREEN_BOLD:
		return A_BOLD;
	case SCREEN_REVERSE:
		return A_REVERSE;
	case SCREEN_ALARM:
		return alarm_colour ? A_BOLD | (attr_t)COLOR_PAIR(1) : A_BOLD;
	default:
		return A_NORMAL;
	}
}

/*
 * Convert the next character of a text for the screen.
 *
 * Return: its bytes; 0 at the end. @wide: set to its columns
 */
static size_t next_character(const char *text, size_t left, mbstate_t *state, wchar_t *character,
			     int *wide)
{
	size_t size = left ? mbrtowc(character, text, left, state) : 0;

	if (size > left) {
		memset(state, 0, sizeof(*state));
		*character = L'?';
		size = 1;
	}
	*wide = wcwidth(*character);
	/* Replace characters of unknown width. */
	if (size && *wide <= 0) {
		*character = L'?';
		*wide = 1;
	}
	return size;
}

int screen_width(const char *text)
{
	size_t left = strlen(text), size;
	mbstate_t state = { 0 };
	wchar_t character = L' ';
	int width = 0, wide;

	while ((size = next_character(text, left, &state, &character, &wide))) {
		width += wide;
		text += size;
		left -= size;
	}
	return width;
}

/* @mark: put it at the end of what is truncated; 0: none */
static void put(int row, int column, int width, enum screen_style style, const char *text,
		wchar_t mark)
{
	wchar_t cells[WIDTH_MAX], character = L' ';
	size_t left = strlen(text), size;
	int rows, columns, count = 0, filled = 0, wide = 0;
	mbstate_t state = { 0 };

	getmaxyx(stdscr, rows, columns);
	if (row < 0 || row >= rows || column < 0 || column >= columns)
		return;
	if (width > columns - column)
		width = columns - column;
	if (width > WIDTH_MAX)
		width = WIDTH_MAX;
	while (filled < width && (size = next_character(text, left, &state, &character, &wide))) {
		if (filled + wide > width)
			break;
		cells[count++] = character;
		filled += wide;
		text += size;
		left -= size;
	}
	/* A wide character before it leaves a blank. */
	if (left && mark && count) {
		filled -= wcwidth(cells[count - 1]);
		cells[count - 1] = mark;
		filled++;
	}
	while (filled < width) {
		cells[count++] = L' ';
		filled++;
	}
	attrset(A_NORMAL);
	attron(attribute(style));
	mvaddnwstr(row, column, cells, count);
	attrset(A_NORMAL);
}

void screen_put(int row, int column, int width, enum screen_style style,
		const char *text)
{
	put(row, column, width, style, text, 0);
}

void screen_put_fitted(int row, int column, int width, enum screen_style style,
		       const char *text)
{
	put(row, column, width, style, text, screen_unicode() ? L'…' : L'~');
}

void screen_show(void)
{
	refresh();
}

int screen_key(void)
{
	int key = getch();

	switch (key) {
	case ERR:
		return SCREEN_NO_KEY;
	case KEY_UP:
		return SCREEN_UP;
	case KEY_DOWN:
		return SCREEN_DOWN;
	case KEY_LEFT:
		return SCREEN_LEFT;
	case KEY_RIGHT:
		return SCREEN_RIGHT;
	case KEY_PPAGE:
		return SCREEN_PAGE_UP;
	case KEY_NPAGE:
		return SCREEN_PAGE_DOWN;
	case KEY_HOME:
		return SCREEN_HOME;
	case KEY_END:
		return SCREEN_END;
	case KEY_ENTER:
	case '\r':
	case '\n':
		return SCREEN_ENTER;
	case ESCAPE:
		return SCREEN_ESCAPE;
	default:
		return key >= 0 && key < SCREEN_UP ? key : SCREEN_OTHER;
	}
}

#else /* !ELOG_NCURSES */

bool screen_message(char *buffer, size_t size)
{
	(void)buffer;
	(void)size;
	return false;
}

int screen_check(void)
{
	elog_error("elog was built without ncurses");
	elog_hint("elog stat needs no ncurses");
	return -EOPNOTSUPP;
}

int screen_open(void)
{
	return -EOPNOTSUPP;
}

void screen_close(void)
{
}

bool screen_unicode(void)
{
	return false;
}

void screen_size(int *rows, int *columns)
{
	*rows = 0;
	*columns = 0;
}

void screen_clear(void)
{
}

void screen_put(int row, int column, int width, enum screen_style style,
		const char *text)
{
	(void)row;
	(void)column;
	(void)width;
	(void)style;
	(void)text;
}

void screen_put_fitted(int row, int column, int width, enum screen_style style,
		       const char *text)
{
	screen_put(row, column, width, style, text);
}

int screen_width(const char *text)
{
	(void)text;
	return 0;
}

void screen_show(void)
{
}

int screen_key(void)
{
	return SCREEN_NO_KEY;
}

#endif /* ELOG_NCURSES */
