/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files, mappings, the memory of the module and that of its callers.
 */
#ifndef KLINUX_FILE_H
#define KLINUX_FILE_H

#include <sys/epoll.h>
#include <unistd.h>

#include "kernel/klinux/task.h"
#include "kernel/klinux/types.h"

/* ---- memory of the module; see pages.c for what programs map ---- */

#define GFP_KERNEL 0
#define GFP_KERNEL_ACCOUNT 0
#define GFP_ATOMIC 0
#define __GFP_NOWARN 0
#define NUMA_NO_NODE (-1)
#define kmalloc(bytes, gfp) malloc(bytes)
#define kzalloc(bytes, gfp) calloc(1, bytes)
#define kvmalloc(bytes, gfp) malloc(bytes)
#define kstrdup(text, gfp) strdup(text)
#define kfree(memory) free((void *)(memory))
#define kvfree(memory) free((void *)(memory))
#define totalram_pages() ((unsigned long)sysconf(_SC_PHYS_PAGES))

struct mem_cgroup;

static inline struct mem_cgroup *set_active_memcg(struct mem_cgroup *cgroup)
{
	return cgroup;
}

#define get_mem_cgroup_from_mm(mm) ((void)(mm), (struct mem_cgroup *)NULL)
#define mem_cgroup_put(cgroup) ((void)(cgroup))

/**
 * struct page - pages of a ring, in a file of their own
 * @users: references
 * @fd: the file
 * @address: where the engine has mapped it
 * @bytes: its size
 */
struct page {
	unsigned int users;
	int fd;
	void *address;
	size_t bytes;
};

#define page_address(page) ((page)->address)
#define get_page(page) ((void)(page)->users++)

void put_page(struct page *page);

void *vmalloc_user(unsigned long bytes);
void vfree(const void *address);

/* ---- files ---- */

typedef unsigned int fmode_t;

#define FMODE_READ 1U
#define FMODE_WRITE 2U
#define MAX_RW_COUNT (INT_MAX & PAGE_MASK)

struct inode {
	int unused;
};

struct file {
	void *private_data;
	const struct cred *f_cred;
	fmode_t f_mode;
	loff_t f_pos;
};

struct kiocb {
	struct file *ki_filp;
};

/**
 * struct iov_iter - what a program writes
 * @data: the bytes
 * @readable: how many of them the program can read itself
 * @at: how many the module has taken
 * @size: how many the program writes
 */
struct iov_iter {
	const u8 *data;
	size_t readable;
	size_t at;
	size_t size;
};

#define iov_iter_count(iter) ((iter)->size - (iter)->at)
#define iov_iter_advance(iter, bytes) ((void)((iter)->at += (bytes)))
#define iov_iter_revert(iter, bytes) ((void)((iter)->at -= (bytes)))

static inline bool copy_from_iter_full(void *to, size_t bytes, struct iov_iter *iter)
{
	if (iter->at > iter->readable || bytes > iter->readable - iter->at)
		return false;
	memcpy(to, iter->data + iter->at, bytes);
	iter->at += bytes;
	return true;
}

#define VM_READ 0x1UL
#define VM_WRITE 0x2UL
#define VM_EXEC 0x4UL
#define VM_SHARED 0x8UL
#define VM_MAYWRITE 0x20UL
#define VM_MAYEXEC 0x40UL
#define VM_DONTCOPY 0x80UL
#define VM_DONTEXPAND 0x100UL
#define VM_DONTDUMP 0x200UL

struct vm_operations_struct;

/**
 * struct vm_area_struct - a mapping of a program
 * @vm_start: 0
 * @vm_end: its size
 * @vm_pgoff: where in the file of the device
 * @vm_flags: VM_*
 * @vm_mm: of the program
 * @vm_ops: of the module
 * @vm_private_data: likewise
 * @fd: the file that the program maps instead; -1: none
 * @fd_offset: where in that file
 */
struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_pgoff;
	unsigned long vm_flags;
	struct mm_struct *vm_mm;
	const struct vm_operations_struct *vm_ops;
	void *vm_private_data;
	int fd;
	unsigned long fd_offset;
};

struct vm_operations_struct {
	void (*open)(struct vm_area_struct *vma);
	void (*close)(struct vm_area_struct *vma);
	int (*may_split)(struct vm_area_struct *vma, unsigned long address);
	int (*mremap)(struct vm_area_struct *vma);
};

#define vma_pages(vma) (((vma)->vm_end - (vma)->vm_start) >> PAGE_SHIFT)
#define vm_flags_set(vma, flags) ((void)((vma)->vm_flags |= (flags)))
#define vm_flags_clear(vma, flags) ((void)((vma)->vm_flags &= ~(flags)))

int remap_vmalloc_range(struct vm_area_struct *vma, void *address, unsigned long pgoff);

/* One queue: who waits is looked at after the call, see server.c. */
typedef struct {
	int unused;
} wait_queue_head_t;

struct poll_table_struct {
	int unused;
};

#undef __poll_t
#define __poll_t unsigned int
#define init_waitqueue_head(queue) ((void)(queue))
#define poll_wait(file, queue, table) ((void)(file), (void)(queue), (void)(table))
#define wake_up_all(queue) ((void)(queue), klinux_wake())

/** klinux_wake() - who waits for a file may find something */
void klinux_wake(void);

struct module;

struct file_operations {
	struct module *owner;
	int (*open)(struct inode *inode, struct file *filp);
	int (*release)(struct inode *inode, struct file *filp);
	ssize_t (*read)(struct file *filp, char *user, size_t bytes, loff_t *position);
	ssize_t (*write_iter)(struct kiocb *kiocb, struct iov_iter *from);
	__poll_t (*poll)(struct file *filp, struct poll_table_struct *table);
	long (*unlocked_ioctl)(struct file *filp, unsigned int command, unsigned long address);
	long (*compat_ioctl)(struct file *filp, unsigned int command, unsigned long address);
	int (*mmap)(struct file *filp, struct vm_area_struct *vma);
	loff_t (*llseek)(struct file *filp, loff_t offset, int whence);
};

struct miscdevice {
	int minor;
	const char *name;
	const struct file_operations *fops;
	umode_t mode;
};

#define THIS_MODULE NULL
#define MISC_DYNAMIC_MINOR 255
#define misc_register(device) ((void)(device), 0)
#define misc_deregister(device) ((void)(device))
#define compat_ptr_ioctl NULL
#define file_ns_capable(file, namespace, capability) \
	((void)(namespace), cap_raised((file)->f_cred->cap_effective, capability))

loff_t no_seek_end_llseek(struct file *filp, loff_t offset, int whence);

/* ---- memory of the caller: what came with the call, see caller.h ---- */

#define u64_to_user_ptr(address) ((void *)(uintptr_t)(address))
#define get_user(word, address) \
	(copy_from_user(&(word), address, sizeof(word)) ? -EFAULT : 0)

unsigned long copy_from_user(void *to, const void *from, size_t bytes);
unsigned long copy_to_user(void *to, const void *from, size_t bytes);
unsigned long clear_user(void *to, size_t bytes);
int copy_struct_from_user(void *to, size_t room, const void *from, size_t bytes);
char *strndup_user(const char *from, long room);

#endif /* KLINUX_FILE_H */
