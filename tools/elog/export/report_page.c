// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page of elog report: see report_page.h. Its parts are files of elog/page and of
 * vendor/uplot, which the build puts into elog.
 */
#include <string.h>

#include "export/report_page.h"

/* ELOG_PAGES is the folder of both. */
#define PART(name, file)						\
	extern const char part_##name[] __attribute__((visibility("hidden")));	\
	__asm__(".pushsection .rodata\n"				\
		".globl part_" #name "\n"				\
		".hidden part_" #name "\n"				\
		"part_" #name ":\n"					\
		".incbin \"" ELOG_PAGES "/" file "\"\n"			\
		".byte 0\n"						\
		".popsection\n")

PART(page, "elog/page/page.html");
PART(style, "elog/page/page.css");
PART(format, "elog/page/format.js");
PART(frame, "elog/page/frame.js");
PART(charts, "elog/page/charts.js");
PART(script, "elog/page/page.js");
PART(uplot_style, "vendor/uplot/uPlot.min.css");
PART(uplot_script, "vendor/uplot/uPlot.iife.min.js");
PART(uplot_license, "vendor/uplot/LICENSE");

/* The comment at the beginning of a part is for developers, and is not in the page. */
static void put_code(struct elog_text *text, const char *part)
{
	const char *end = strstr(part, "*/");

	elog_text_string(text, end ? end + strlen("*/\n") : part);
}

static void put_style(struct elog_text *text)
{
	elog_text_string(text, part_uplot_style);
	elog_text_string(text, "\n");
	put_code(text, part_style);
}

/* In a function, so that no name of it is a name of the window. */
static void put_scripts(struct elog_text *text)
{
	elog_text_string(text, "/*\n");
	elog_text_string(text, part_uplot_license);
	elog_text_string(text, "\n*/\n");
	elog_text_string(text, part_uplot_script);
	elog_text_string(text, "\n(function () {\n");
	put_code(text, part_format);
	put_code(text, part_frame);
	put_code(text, part_charts);
	put_code(text, part_script);
	elog_text_string(text, "})();\n");
}

/* In JSON, "<" is in strings only. So the data cannot contain the end of the element. */
static void put_data(struct report_data *data, const struct visit *visit,
		     struct elog_text *text)
{
	struct elog_text json = { 0 };
	const char *from, *end;

	report_json(data, visit, &json);
	if (json.error) {
		text->error = json.error;
	} else {
		for (from = json.data; (end = strchr(from, '<')); from = end + 1) {
			elog_text_put(text, from, (size_t)(end - from));
			elog_text_string(text, "\\u003c");
		}
		elog_text_string(text, from);
	}
	elog_text_free(&json);
}

void report_page(struct report_data *data, const struct visit *visit, struct elog_text *text)
{
	static const char *const marks[] = {
		"<!--style-->\n", "<!--data-->\n", "<!--script-->\n",
	};
	const char *from = part_page, *mark;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(marks); i++) {
		mark = strstr(from, marks[i]);
		elog_text_put(text, from, (size_t)(mark - from));
		from = mark + strlen(marks[i]);
		if (i == 0)
			put_style(text);
		else if (i == 1)
			put_data(data, visit, text);
		else
			put_scripts(text);
	}
	elog_text_string(text, from);
}
