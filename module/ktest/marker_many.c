// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_marker_many.ko: ten thousand markers, a thousand in each function.  It does not
 * look whether they are registered.
 */
#include <linux/eventlog_marker.h>
#include <linux/module.h>

#define ONE(name)	eventlog_marker(name, EVENTLOG_MARKER_TRACE, FIELD(u32, value))
#define TEN(name)							\
	do {								\
		ONE(name##0); ONE(name##1); ONE(name##2); ONE(name##3);	\
		ONE(name##4); ONE(name##5); ONE(name##6); ONE(name##7);	\
		ONE(name##8); ONE(name##9);				\
	} while (0)
#define HUNDRED(name)							\
	do {								\
		TEN(name##0); TEN(name##1); TEN(name##2); TEN(name##3);	\
		TEN(name##4); TEN(name##5); TEN(name##6); TEN(name##7);	\
		TEN(name##8); TEN(name##9);				\
	} while (0)
#define THOUSAND(name)							\
	static noinline void name(unsigned int value)			\
	{								\
		HUNDRED(name##_0); HUNDRED(name##_1); HUNDRED(name##_2); \
		HUNDRED(name##_3); HUNDRED(name##_4); HUNDRED(name##_5); \
		HUNDRED(name##_6); HUNDRED(name##_7); HUNDRED(name##_8); \
		HUNDRED(name##_9);					\
	}

THOUSAND(many_0)
THOUSAND(many_1)
THOUSAND(many_2)
THOUSAND(many_3)
THOUSAND(many_4)
THOUSAND(many_5)
THOUSAND(many_6)
THOUSAND(many_7)
THOUSAND(many_8)
THOUSAND(many_9)

static void (*const functions[])(unsigned int value) = {
	many_0, many_1, many_2, many_3, many_4, many_5, many_6, many_7, many_8, many_9,
};

/* Runs through every marker with the value written. */
static int pass_set(const char *text, const struct kernel_param *parameter)
{
	unsigned int value, i;
	int ret = kstrtouint(text, 0, &value);

	for (i = 0; !ret && i < ARRAY_SIZE(functions); i++)
		functions[i](value);
	return ret;
}

static const struct kernel_param_ops pass_ops = { .set = pass_set };
module_param_cb(pass, &pass_ops, NULL, 0200);

static int __init many_init(void)
{
	return 0;
}

static void __exit many_exit(void)
{
}

module_init(many_init);
module_exit(many_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Ten thousand eventlog markers");
