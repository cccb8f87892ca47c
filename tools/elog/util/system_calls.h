/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of system calls.
 */
#ifndef SYSTEM_CALLS_H
#define SYSTEM_CALLS_H

/**
 * system_call_name() - the name of a system call
 * @machine: what uname(2) calls the machine, for example "x86_64"; NULL: not known
 * @number: of the call
 *
 * Return: the name; NULL: it is not known. The headers of the machine that built elog have the
 * numbers of some machines only.
 */
const char *system_call_name(const char *machine, int number);

#endif /* SYSTEM_CALLS_H */
