// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the maps of a BPF object hold: see bpf_maps.h.
 */
#ifdef ELOG_BPF

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bpf/bpf_maps.h"
#include "bpf/bpf_value.h"

struct ring {
	struct bpf_maps *maps;
	const struct bpf_map *map;
	uint32_t type;		/* of its records; 0: not told */
};

struct bpf_maps {
	struct bpf_object *object;
	struct output *output;
	struct value_style style;
	struct ring_buffer *reader;	/* NULL: there are no rings */
	struct ring *rings;
	size_t ring_count;
};

static bool is_ring(const struct bpf_map *map)
{
	return bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF;
}

static bool is_array(const struct bpf_map *map)
{
	return bpf_map__type(map) == BPF_MAP_TYPE_ARRAY ||
	       bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_ARRAY;
}

static bool is_per_cpu(const struct bpf_map *map)
{
	return bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_ARRAY ||
	       bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_HASH ||
	       bpf_map__type(map) == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

/* What the program cannot write to, constants, is not of interest. */
static bool is_printed(const struct bpf_map *map)
{
	return (is_array(map) || is_per_cpu(map) ||
		bpf_map__type(map) == BPF_MAP_TYPE_HASH ||
		bpf_map__type(map) == BPF_MAP_TYPE_LRU_HASH) &&
	       !(bpf_map__map_flags(map) & BPF_F_RDONLY_PROG);
}

int bpf_maps_prepare(struct bpf_maps **result, struct bpf_object *object,
		     struct output *output, bool json)
{
	struct bpf_maps *maps = calloc(1, sizeof(*maps));
	struct bpf_map *map;
	size_t rings = 0;
	int ret;

	if (!maps)
		return -ENOMEM;
	*result = maps;
	maps->object = object;
	maps->output = output;
	maps->style.json = json;
	bpf_object__for_each_map(map, object)
		rings += is_ring(map);
	maps->rings = calloc(rings + 1, sizeof(*maps->rings));
	if (!maps->rings)
		return -ENOMEM;
	bpf_object__for_each_map(map, object) {
		if (!is_ring(map))
			continue;
		maps->rings[maps->ring_count++] = (struct ring){
			.maps = maps, .map = map,
			.type = bpf_map__btf_value_type_id(map),
		};
		ret = bpf_map__set_value_size(map, 0);
		if (!ret)
			ret = bpf_map__set_key_size(map, 0);
		if (ret)
			return ret;
	}
	return 0;
}

static void put_map(const struct bpf_maps *maps, const struct bpf_map *map,
		    struct elog_text *text)
{
	const char *name = bpf_map__name(map);

	if (!maps->style.json) {
		elog_text_string(text, name);
		return;
	}
	elog_text_put(text, "{", 1);
	json_member(text, "map", name);
	elog_text_put(text, ",", 1);
}

static int print_record(void *context, void *data, size_t size)
{
	const struct ring *ring = context;
	const struct bpf_maps *maps = ring->maps;
	struct elog_text *text = &maps->output->text;

	put_map(maps, ring->map, text);
	elog_text_string(text, maps->style.json ? "\"record\":" : ": ");
	put_value(&maps->style, ring->type, data, size, text);
	elog_text_string(text, maps->style.json ? "}\n" : "\n");
	output_check(maps->output);
	return maps->output->closed || text->error ? -EPIPE : 0;
}

int bpf_maps_open(struct bpf_maps *maps)
{
	size_t i;
	int ret;

	/* What the kernel has not understood is not looked at here either. */
	if (bpf_object__btf_fd(maps->object) >= 0)
		maps->style.btf = bpf_object__btf(maps->object);
	for (i = 0; i < maps->ring_count; i++) {
		const int fd = bpf_map__fd(maps->rings[i].map);

		if (maps->reader) {
			ret = ring_buffer__add(maps->reader, fd, print_record,
					       &maps->rings[i]);
			if (ret)
				return ret;
			continue;
		}
		maps->reader = ring_buffer__new(fd, print_record, &maps->rings[i],
						NULL);
		if (!maps->reader)
			return -errno;
	}
	return 0;
}

void bpf_maps_close(struct bpf_maps *maps)
{
	if (!maps)
		return;
	ring_buffer__free(maps->reader);
	free(maps->rings);
	free(maps);
}

int bpf_maps_fd(const struct bpf_maps *maps)
{
	return maps->reader ? ring_buffer__epoll_fd(maps->reader) : -1;
}

int bpf_maps_consume(struct bpf_maps *maps)
{
	int ret = maps->reader ? ring_buffer__consume(maps->reader) : 0;

	output_flush(maps->output);
	/* Nobody reads any more: that is known. */
	return ret < 0 && ret != -EPIPE ? ret : 0;
}

/* ------------------------------------------------------------------------
 * Maps with keys
 */

struct entries {
	const struct bpf_maps *maps;
	const struct bpf_map *map;
	unsigned char *key;
	unsigned char *value;	/* of a map by CPU, that of each CPU */
	size_t stride;		/* from one CPU's to the next one's */
	unsigned int cpus;	/* 1: it is not by CPU */
};

static bool is_zero(const unsigned char *data, size_t size)
{
	return !size || (!data[0] && !memcmp(data, data + 1, size - 1));
}

static void put_entry(const struct entries *entries, struct elog_text *text)
{
	const struct value_style *style = &entries->maps->style;
	const struct bpf_map *map = entries->map;
	const uint32_t key = bpf_map__btf_key_type_id(map);
	const uint32_t value = bpf_map__btf_value_type_id(map);
	const uint32_t size = bpf_map__value_size(map);
	unsigned int cpu;
	uint32_t index;

	put_map(entries->maps, map, text);
	if (!bpf_map__is_internal(map)) {
		elog_text_string(text, style->json ? "\"key\":" : "[");
		if (is_array(map)) {
			memcpy(&index, entries->key, sizeof(index));
			elog_text_unsigned(text, index, 1, ' ');
		} else {
			put_value(style, key, entries->key, bpf_map__key_size(map),
				  text);
		}
		elog_text_string(text, style->json ? "," : "]");
	}
	if (style->json)
		elog_text_string(text, is_per_cpu(map) ? "\"values\":" : "\"value\":");
	else
		elog_text_string(text, ": ");
	if (is_per_cpu(map))
		elog_text_put(text, "[", 1);
	for (cpu = 0; cpu < entries->cpus; cpu++) {
		if (cpu)
			elog_text_put(text, ",", 1);
		put_value(style, value, entries->value + cpu * entries->stride, size,
			  text);
	}
	if (is_per_cpu(map))
		elog_text_put(text, "]", 1);
	elog_text_string(text, style->json ? "}\n" : "\n");
}

/* Keys may come and go meanwhile, if others use the map: so there is a limit. */
static int print_entries(const struct entries *entries)
{
	const struct bpf_map *map = entries->map;
	const size_t values = entries->stride * entries->cpus;
	struct output *output = entries->maps->output;
	const uint32_t most = bpf_map__max_entries(map);
	unsigned char *before = NULL;
	uint32_t count;
	int ret;

	for (count = 0; count < most && !output->closed; count++) {
		ret = bpf_map__get_next_key(map, before, entries->key,
					    bpf_map__key_size(map));
		if (ret)
			return ret == -ENOENT ? 0 : ret;
		before = entries->key;
		ret = bpf_map__lookup_elem(map, entries->key, bpf_map__key_size(map),
					   entries->value, values, 0);
		if (ret == -ENOENT)
			continue;
		if (ret)
			return ret;
		/* An array has all its elements always. */
		if (is_array(map) && most > 1 && is_zero(entries->value, values))
			continue;
		put_entry(entries, &output->text);
		output_check(output);
	}
	return 0;
}

static int print_map(const struct bpf_maps *maps, const struct bpf_map *map)
{
	struct entries entries = { .maps = maps, .map = map, .cpus = 1 };
	int ret;

	entries.stride = bpf_map__value_size(map);
	if (is_per_cpu(map)) {
		ret = libbpf_num_possible_cpus();
		if (ret < 0)
			return ret;
		entries.cpus = (unsigned int)ret;
		entries.stride = (entries.stride + 7) & ~(size_t)7;
	}
	entries.key = calloc(1, bpf_map__key_size(map) + sizeof(uint32_t));
	entries.value = calloc(entries.cpus, entries.stride + 1);
	ret = entries.key && entries.value ? print_entries(&entries) : -ENOMEM;
	free(entries.key);
	free(entries.value);
	return ret;
}

int bpf_maps_print(struct bpf_maps *maps)
{
	const struct bpf_map *map;
	int ret = 0;

	bpf_object__for_each_map(map, maps->object) {
		if (is_printed(map) && !ret)
			ret = print_map(maps, map);
	}
	output_flush(maps->output);
	return ret;
}

#endif /* ELOG_BPF */
