/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known of the instances of a live run, besides their events: who owns them, and how
 * many providers they have. For the process's own thread.
 */
#ifndef INSTANCE_FACTS_H
#define INSTANCE_FACTS_H

#include "input/live.h"

#define INSTANCE_USER_BYTES	33

/**
 * struct instance_fact - of an instance
 * @name: of the instance; "-": the root
 * @id: of the instance; 0: the root
 * @user: the owner's name, or number
 * @definitions: of events, when @providers were counted
 * @providers: number of different names of providers
 * @deleted: the instance was deleted
 */
struct instance_fact {
	char name[EVENTLOG_INSTANCE_NAME_MAX];
	uint32_t id;
	char user[INSTANCE_USER_BYTES];
	uint32_t definitions;
	uint32_t providers;
	bool deleted;
};

/**
 * struct instance_facts - of all subscriptions of a live run; zero: none yet
 * @facts: allocated; of an instance with the name of an earlier one only the newer
 * @count: of @facts
 * @reads: how often they were read
 */
struct instance_facts {
	struct instance_fact *facts;
	size_t count;
	unsigned int reads;
};

/**
 * instance_facts_read() - bring them up to date
 * @facts: the facts
 * @live: with --instances
 *
 * Providers are counted if the number of definitions has changed, and at every tenth call. What
 * the kernel does not tell stays as it was.
 *
 * Return: 0 or -ENOMEM.
 */
int instance_facts_read(struct instance_facts *facts, const struct live *live);

/** instance_facts_find() - those of an instance, by name, or NULL */
struct instance_fact *instance_facts_find(const struct instance_facts *facts, const char *name);

/** instance_facts_free() - free them */
void instance_facts_free(struct instance_facts *facts);

#endif /* INSTANCE_FACTS_H */
