/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists, hash tables, trees, as in <linux/list.h>, <linux/hashtable.h>, <linux/rbtree.h>. The
 * functions of trees are in list.c.
 */
#ifndef KLINUX_LIST_H
#define KLINUX_LIST_H

#include "kernel/klinux/types.h"

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD_INIT(name) { &(name), &(name) }
#define LIST_HEAD(name) struct list_head name = LIST_HEAD_INIT(name)

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline bool list_is_last(const struct list_head *node, const struct list_head *head)
{
	return node->next == head;
}

static inline void klinux_list_join(struct list_head *left, struct list_head *right)
{
	left->next = right;
	right->prev = left;
}

static inline void list_add(struct list_head *node, struct list_head *head)
{
	klinux_list_join(node, head->next);
	klinux_list_join(head, node);
}

static inline void list_add_tail(struct list_head *node, struct list_head *head)
{
	list_add(node, head->prev);
}

static inline void list_del_init(struct list_head *node)
{
	klinux_list_join(node->prev, node->next);
	INIT_LIST_HEAD(node);
}

static inline void list_del(struct list_head *node)
{
	klinux_list_join(node->prev, node->next);
	node->next = NULL;
	node->prev = NULL;
}

static inline void list_move(struct list_head *node, struct list_head *head)
{
	klinux_list_join(node->prev, node->next);
	list_add(node, head);
}

static inline void list_move_tail(struct list_head *node, struct list_head *head)
{
	klinux_list_join(node->prev, node->next);
	list_add_tail(node, head);
}

static inline void list_splice(struct list_head *from, struct list_head *head)
{
	if (list_empty(from))
		return;
	klinux_list_join(from->prev, head->next);
	klinux_list_join(head, from->next);
}

static inline void list_splice_init(struct list_head *from, struct list_head *head)
{
	list_splice(from, head);
	INIT_LIST_HEAD(from);
}

static inline void list_splice_tail(struct list_head *from, struct list_head *head)
{
	list_splice(from, head->prev);
}

static inline void list_splice_tail_init(struct list_head *from, struct list_head *head)
{
	list_splice_init(from, head->prev);
}

#define list_entry(pointer, type, member) container_of(pointer, type, member)
#define list_first_entry(head, type, member) list_entry((head)->next, type, member)
#define list_last_entry(head, type, member) list_entry((head)->prev, type, member)
#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : list_first_entry(head, type, member))
#define list_next_entry(at, member) list_entry((at)->member.next, __typeof__(*(at)), member)
#define list_prev_entry(at, member) list_entry((at)->member.prev, __typeof__(*(at)), member)
#define list_for_each_entry_from(at, head, member) \
	for (; &(at)->member != (head); (at) = list_next_entry(at, member))
#define list_for_each_entry_continue(at, head, member) \
	for ((at) = list_next_entry(at, member); &(at)->member != (head); \
	     (at) = list_next_entry(at, member))
#define list_for_each_entry(at, head, member) \
	for ((at) = list_first_entry(head, __typeof__(*(at)), member); &(at)->member != (head); \
	     (at) = list_next_entry(at, member))
#define list_for_each_entry_reverse(at, head, member) \
	for ((at) = list_last_entry(head, __typeof__(*(at)), member); &(at)->member != (head); \
	     (at) = list_prev_entry(at, member))
#define list_for_each_entry_safe(at, following, head, member) \
	for ((at) = list_first_entry(head, __typeof__(*(at)), member), \
	     (following) = list_next_entry(at, member); &(at)->member != (head); \
	     (at) = (following), (following) = list_next_entry(following, member))

/* ---- hash tables: chains with one pointer ---- */

struct hlist_node {
	struct hlist_node *next, **link;
};

struct hlist_head {
	struct hlist_node *first;
};

static inline void INIT_HLIST_NODE(struct hlist_node *node)
{
	node->next = NULL;
	node->link = NULL;
}

static inline bool hlist_unhashed(const struct hlist_node *node)
{
	return !node->link;
}

static inline void hlist_add_head_rcu(struct hlist_node *node, struct hlist_head *head)
{
	node->next = head->first;
	if (node->next)
		node->next->link = &node->next;
	head->first = node;
	node->link = &head->first;
}

static inline void hlist_del_init_rcu(struct hlist_node *node)
{
	if (hlist_unhashed(node))
		return;
	*node->link = node->next;
	if (node->next)
		node->next->link = node->link;
	INIT_HLIST_NODE(node);
}

#define hlist_entry(pointer, type, member) container_of(pointer, type, member)
#define klinux_hlist_entry(pointer, type, member) ({				\
	struct hlist_node *node_ = (pointer);					\
										\
	node_ ? container_of(node_, type, member) : NULL;			\
})
#define hlist_for_each_entry_rcu(at, head, member) \
	for ((at) = klinux_hlist_entry((head)->first, __typeof__(*(at)), member); (at); \
	     (at) = klinux_hlist_entry((at)->member.next, __typeof__(*(at)), member))
#define hlist_for_each_entry_rcu_notrace(at, head, member) \
	hlist_for_each_entry_rcu(at, head, member)
#define klinux_hlist_for_each_safe(at, following, head, member) \
	for ((at) = klinux_hlist_entry((head)->first, __typeof__(*(at)), member); \
	     (at) && ((following) = (at)->member.next, true); \
	     (at) = klinux_hlist_entry(following, __typeof__(*(at)), member))

#define DECLARE_HASHTABLE(name, bits) struct hlist_head name[1 << (bits)]
#define DEFINE_HASHTABLE(name, bits) struct hlist_head name[1 << (bits)]
#define hash_init(table) memset(table, 0, sizeof(table))
#define klinux_chain(table, key) \
	(&(table)[((u64)(key) * 0x9e3779b97f4a7c15ULL) >> 32 & (ARRAY_SIZE(table) - 1)])
#define hash_add(table, node, key) hlist_add_head_rcu(node, klinux_chain(table, key))
#define hash_del(node) hlist_del_init_rcu(node)
#define hash_hashed(node) (!hlist_unhashed(node))
#define hash_empty(table) klinux_hash_empty(table, ARRAY_SIZE(table))
#define hash_for_each_possible(table, at, member, key) \
	hlist_for_each_entry_rcu(at, klinux_chain(table, key), member)
#define hash_for_each_possible_safe(table, at, following, member, key) \
	klinux_hlist_for_each_safe(at, following, klinux_chain(table, key), member)
#define hash_for_each(table, index, at, member) \
	for ((index) = 0; (index) < ARRAY_SIZE(table); (index)++) \
		hlist_for_each_entry_rcu(at, &(table)[index], member)
#define hash_for_each_safe(table, index, following, at, member) \
	for ((index) = 0; (index) < ARRAY_SIZE(table); (index)++) \
		klinux_hlist_for_each_safe(at, following, &(table)[index], member)

static inline bool klinux_hash_empty(const struct hlist_head *table, size_t chains)
{
	while (chains && !table[chains - 1].first)
		chains--;
	return !chains;
}

/*
 * ---- trees ----
 *
 * Treaps: a node has a random priority, and none above its parent's. So a tree is as low as one
 * whose nodes come in random order, whatever users choose.
 */

struct rb_node {
	struct rb_node *rb_left, *rb_right, *parent;
	u32 priority;
};

struct rb_root {
	struct rb_node *rb_node;
};

#define RB_ROOT ((struct rb_root){ NULL })
#define rb_entry(pointer, type, member) container_of(pointer, type, member)

/* As in <linux/rbtree.h>. */
void rb_link_node(struct rb_node *node, struct rb_node *parent, struct rb_node **link);
void rb_insert_color(struct rb_node *node, struct rb_root *root);
void rb_erase(struct rb_node *node, struct rb_root *root);

#endif /* KLINUX_LIST_H */
