/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The binary interface of user_events, as linux/user_events.h of newer kernels defines it for
 * programs.  Kernels that need this front end may lack that header, or have an older one.
 */
#ifndef EVENTLOG_USER_EVENTS_ABI_H
#define EVENTLOG_USER_EVENTS_ABI_H

#include <linux/types.h>

#define UE_PROVIDER "user_events"
#define UE_PROVIDER_MULTI "user_events_multi"

/* Limits of a command, NUL included, and of the elements of an array. */
#define UE_COMMAND_MAX 512
#define UE_ARRAY_MAX 1024

/* Flags of a registration: the event outlives its users; a name may have several formats. */
#define UE_PERSIST 1
#define UE_MULTI 2

/* Offsets of dynamic fields count from the start of a record, which has a header. */
#define UE_HEADER_BYTES 8

struct ue_reg {
	u32 size;
	u8 enable_bit;
	u8 enable_size;
	u16 flags;
	u64 enable_addr;
	u64 name_args;
	u32 write_index;
} __packed;

struct ue_unreg {
	u32 size;
	u8 disable_bit;
	u8 reserved;
	u16 reserved2;
	u64 disable_addr;
} __packed;

/*
 * Numbers of ioctls of type '*'.  Their argument's size is that of a pointer, so that
 * 32-bit programs have other commands.
 */
#define UE_IOC_TYPE '*'
#define UE_IOC_REG 0
#define UE_IOC_DEL 1
#define UE_IOC_UNREG 2

#endif /* EVENTLOG_USER_EVENTS_ABI_H */
