// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the strings that kernel code emits.  No state, no lock.
 *
 * Most kernels look for the end of a string byte by byte.  This looks at whole aligned words.
 * Each of them has a byte of the string in it, so it can be read.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/eventlog.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/word-at-a-time.h>

/* Some architectures have code of their own.  Sanitizers report bytes beside the string. */
#if defined(__HAVE_ARCH_STRNLEN) || defined(CONFIG_KASAN) || defined(CONFIG_KMSAN)
#define EVENTLOG_PART_BYTEWISE 1
#else
#define EVENTLOG_PART_BYTEWISE 0
#endif

notrace u32 eventlog_part_length(const char *text)
{
	const struct word_at_a_time constants = WORD_AT_A_TIME_CONSTANTS;
	const unsigned long offset = (unsigned long)text % sizeof(unsigned long);
	const unsigned long *word = (const unsigned long *)((unsigned long)text - offset);
	unsigned long bytes, zeros, length;

	if (EVENTLOG_PART_BYTEWISE)
		return strnlen(text, EVENTLOG_PAYLOAD_MAX);
	/* The bytes before the string must not look like its end.  It may be changing. */
	bytes = data_race(READ_ONCE(*word)) | aligned_byte_mask(offset);
	while (!has_zero(bytes, &zeros, &constants)) {
		word++;
		if ((const char *)word - text >= EVENTLOG_PAYLOAD_MAX)
			return EVENTLOG_PAYLOAD_MAX;
		bytes = data_race(READ_ONCE(*word));
	}
	zeros = create_zero_mask(prep_zero_mask(bytes, zeros, &constants));
	length = (const char *)word - text + find_zero(zeros);
	return min_t(unsigned long, length, EVENTLOG_PAYLOAD_MAX);
}
EXPORT_SYMBOL_GPL(eventlog_part_length);
