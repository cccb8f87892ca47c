// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds comparisons of numbers with texts: see text_compare.h.
 *
 * SQLite has no function for this. So the program of the statement is read, as EXPLAIN lists
 * it: an instruction that compares has the affinity of its operands, which is numeric if one of
 * them is a column of numbers, and the other one is a register that String8 has loaded. With a
 * version of SQLite that has other instructions, less is found: sql_test.sh tells.
 */
#include <stdbool.h>
#include <string.h>

#include "sql/text_compare.h"

#ifdef ELOG_SQLITE
#define REGISTERS	1000	/* those that are observed */
#define AFFINITY_MASK	0x47	/* in the fifth operand */

enum { ADDRESS, OPCODE, P1, P2, P3, P4, P5 };	/* columns of the list */

/*
 * struct program - the state between two instructions
 * @texts: that are in registers, and are no numbers; NULL: none
 * @member: the text that becomes a member of the list behind IN, if the next instruction says so
 * @selects: it changes no table
 */
struct program {
	char *texts[REGISTERS];
	const char *member;
	bool selects;
};

static bool is_any(const char *opcode, const char *const *list)
{
	while (*list && strcmp(opcode, *list))
		list++;
	return *list;
}

static bool is_numeric(int affinity)
{
	return (affinity & AFFINITY_MASK) >= 'C';
}

static const char *text_of(const struct program *program, int number)
{
	return number > 0 && number < REGISTERS ? program->texts[number] : NULL;
}

/* @value: what the register gets; NULL: no text */
static void load(struct program *program, int number, sqlite3_value *value)
{
	sqlite3_value *copy = value ? sqlite3_value_dup(value) : NULL;

	if (number > 0 && number < REGISTERS) {
		sqlite3_free(program->texts[number]);
		program->texts[number] = copy && sqlite3_value_numeric_type(copy) == SQLITE_TEXT ?
			sqlite3_mprintf("%s", sqlite3_value_text(copy)) : NULL;
	}
	sqlite3_value_free(copy);
}

/* Return: the text that this instruction compares with numbers, or NULL. */
static const char *take_instruction(struct program *program, sqlite3_stmt *list)
{
	static const char *const compare[] = { "Eq", "Ne", "Lt", "Le", "Gt", "Ge", NULL };
	static const char *const load_p2[] = { "Integer", "Int64", "Real", "Null", "Rowid", "Copy",
					       "SCopy", "Variable", NULL };
	static const char *const load_p3[] = { "Column", "VColumn", "Function", "PureFunc", "Add",
					       "Subtract", "Multiply", "Divide", "Remainder",
					       "Concat", NULL };
	const char *opcode = (const char *)sqlite3_column_text(list, OPCODE) ? : "";
	const char *affinity = (const char *)sqlite3_column_text(list, P4) ? : "";
	const char *member = program->member, *text = NULL;
	const int p1 = sqlite3_column_int(list, P1), p2 = sqlite3_column_int(list, P2);
	const int p3 = sqlite3_column_int(list, P3);
	int i;

	program->member = NULL;
	if (!strcmp(opcode, "String8"))
		load(program, p2, sqlite3_column_value(list, P4));
	else if (is_any(opcode, load_p2))
		load(program, p2, NULL);
	else if (is_any(opcode, load_p3))
		load(program, p3, NULL);
	else if (is_any(opcode, compare) && is_numeric(sqlite3_column_int(list, P5)))
		text = text_of(program, p1) ? : text_of(program, p3);
	else if (!strcmp(opcode, "MakeRecord") && p2 == 1 && is_numeric(*affinity))
		program->member = text_of(program, p1);
	else if (!strcmp(opcode, "IdxInsert"))
		text = member;
	else if (!strcmp(opcode, "Affinity") && program->selects)	/* before a search */
		for (i = 0; i < p2 && affinity[i] && !text; i++)
			text = is_numeric(affinity[i]) ? text_of(program, p1 + i) : NULL;
	return text;
}

char *text_compare_find(sqlite3_stmt *statement)
{
	struct program program = { .selects = sqlite3_stmt_readonly(statement) };
	char *query = sqlite3_mprintf("EXPLAIN %s", sqlite3_sql(statement)), *result = NULL;
	sqlite3_stmt *list = NULL;
	const char *found = NULL;
	int i, constants = 0;

	if (query && !sqlite3_stmt_isexplain(statement) &&
	    !sqlite3_prepare_v2(sqlite3_db_handle(statement), query, -1, &list, NULL)) {
		/* The first instruction goes to those at the end that load constants. */
		while (sqlite3_step(list) == SQLITE_ROW)
			if (!sqlite3_column_int(list, ADDRESS))
				constants = sqlite3_column_int(list, P2);
			else if (sqlite3_column_int(list, ADDRESS) >= constants)
				take_instruction(&program, list);
		sqlite3_reset(list);
		while (!found && sqlite3_step(list) == SQLITE_ROW)
			found = take_instruction(&program, list);
	}
	if (found)
		result = sqlite3_mprintf("%s", found);
	for (i = 0; i < REGISTERS; i++)
		sqlite3_free(program.texts[i]);
	sqlite3_finalize(list);
	sqlite3_free(query);
	return result;
}
#endif
