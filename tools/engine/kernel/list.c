// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trees: see klinux/list.h.
 */
#include "kernel/klinux.h"

void rb_link_node(struct rb_node *node, struct rb_node *parent, struct rb_node **link)
{
	*node = (struct rb_node){ .parent = parent, .priority = get_random_u32() };
	*link = node;
}

static struct rb_node **link_of(const struct rb_node *node, struct rb_root *root)
{
	struct rb_node *parent = node->parent;

	if (!parent)
		return &root->rb_node;
	return parent->rb_left == node ? &parent->rb_left : &parent->rb_right;
}

/* Lets a node and its parent change places; the order of all nodes stays. */
static void rotate_up(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *parent = node->parent, *moved;

	*link_of(parent, root) = node;
	node->parent = parent->parent;
	parent->parent = node;
	if (parent->rb_left == node) {
		moved = node->rb_right;
		parent->rb_left = moved;
		node->rb_right = parent;
	} else {
		moved = node->rb_left;
		parent->rb_right = moved;
		node->rb_left = parent;
	}
	if (moved)
		moved->parent = parent;
}

void rb_insert_color(struct rb_node *node, struct rb_root *root)
{
	while (node->parent && node->parent->priority < node->priority)
		rotate_up(node, root);
}

void rb_erase(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *left, *right;

	while (node->rb_left && node->rb_right) {
		left = node->rb_left;
		right = node->rb_right;
		rotate_up(left->priority > right->priority ? left : right, root);
	}
	left = node->rb_left ? node->rb_left : node->rb_right;
	*link_of(node, root) = left;
	if (left)
		left->parent = node->parent;
}
