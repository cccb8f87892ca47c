// SPDX-License-Identifier: GPL-2.0-only
/*
 * A consumer in C++: prints the next COUNT events of a provider.
 *
 *	./watch 'request_*' 10
 */
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <elog.h>

struct close_consumer {
	void operator()(elog_consumer *consumer) const
	{
		elog_consumer_close(consumer);
	}
};
using consumer_pointer = std::unique_ptr<elog_consumer, close_consumer>;

static std::string describe(elog_consumer *consumer, const elog_item &item)
{
	const elog_schema_event *event;
	elog_text text = {};
	std::string line;

	if (elog_consumer_describe(consumer, item.descriptor, &event))
		return "?";
	elog_format_fields(&text, event, item.payload, item.payload_size);
	line = std::string(event->provider->name) + "/" + event->name + " " +
	       std::string(text.data ? text.data : "", text.size);
	elog_text_free(&text);
	return line;
}

static int watch(const char *provider, unsigned long wanted)
{
	elog_consumer *consumer;
	elog_rule rule = {};
	elog_item item;
	int ret = elog_consumer_open(&consumer, nullptr);

	if (ret)
		return ret;
	consumer_pointer owner(consumer);
	rule.size = sizeof(rule);
	rule.provider = provider;
	ret = elog_consumer_rule_add(consumer, &rule, nullptr);
	while (!ret && wanted) {
		elog_consumer_wait(consumer, 100, nullptr);
		ret = elog_consumer_flush(consumer);
		while (!ret && wanted && elog_consumer_next(consumer, &item) > 0) {
			if (item.type != ELOG_ITEM_EVENT)
				continue;
			std::puts(describe(consumer, item).c_str());
			std::fflush(stdout);
			wanted--;
		}
	}
	return ret;
}

int main(int count, char **arguments)
{
	int ret;

	if (count != 3) {
		std::fprintf(stderr, "usage: watch PROVIDER COUNT\n");
		return 1;
	}
	ret = watch(arguments[1], std::strtoul(arguments[2], nullptr, 0));
	if (ret)
		std::fprintf(stderr, "watch: %s\n", std::strerror(-ret));
	return ret != 0;
}
