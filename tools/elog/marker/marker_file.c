// SPDX-License-Identifier: GPL-2.0-only
/*
 * Markers of files: see marker_file.h.
 *
 * A marker is data that can be written to, and begins with a number that nothing
 * else has: that is looked for, since in C++ no section has all of them, and since
 * files may have lost their table of sections. Behind it are pointers. In a linked
 * file a pointer is what a relocation with an addend says, or else what is there;
 * in one that is not, as a kernel module, it is what a relocation says. So first
 * places are found where a marker may be, then all relocations are gone through.
 *
 * libelf understands the headers; what they lead to is read piece by piece, and
 * nothing is taken for granted of it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "marker/marker_file.h"
#include "util/array.h"

#ifdef ELOG_ELF
#include <gelf.h>
#include "elog_marker_names.h"

#include "util/tool.h"

/* Enough for anything that is compiled, and small enough for what is made up. */
#define MARKERS_MAX	65536U
#define TEXT_MAX	65536U
#define PATH_LENGTH_MAX	1024U
#define NAME_LENGTH_MAX	256U
#define DYNAMIC_MAX	65536U
#define TEXTS_MAX	(64U << 20)
/* libelf reads all headers of a kind at once; the rest takes only time. */
#define HEADERS_MAX	262144U
#define FILE_MAX	(16ULL << 30)
/* Of a file that is read in one piece. */
#define WINDOW		65536U
/* More than a marker has behind its number. */
#define MARKER_BYTES	192U

#define KERNEL_MAGIC	0x4d6b724c67e87a9cULL

/* The pointers behind the number: of programs, and of modules. */
enum { TEXT, PATH, FUNCTION, UNIT, USER_SLOTS };
enum { K_SELF, K_HIT, K_TAG, K_TEXT, K_PATH, K_MODULE, K_FUNCTION, K_UNIT, KERNEL_SLOTS };
#define SLOTS		KERNEL_SLOTS

/* The fields' types in eventlog_marker.h, as far as they are other ones. */
static const char *const kernel_types[] = {
	"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "bool", "ptr", "time",
	"duration", "ipv4", "port", "string",
};

/* A place: of a linked file the section is 0, the address that of the program. */
struct target {
	uint64_t address;
	uint32_t section;
	bool known;
};

struct candidate {
	uint64_t address;	/* of the number */
	uint64_t offset;	/* of it, in the file */
	uint32_t section;
	bool of_module;
	bool is_listed;		/* in the section that C has */
	struct target slots[SLOTS];
};

/* Where the file has what is at an address. */
struct area {
	uint64_t address;
	uint64_t offset;
	uint64_t size;
	uint32_t section;
	bool is_writable;
};

struct image {
	int fd;
	Elf *elf;
	GElf_Ehdr header;
	uint64_t size;
	unsigned int word;	/* bytes of a pointer */
	bool is_big;
	bool is_linked;
	struct area *areas;
	size_t area_count;
	struct candidate *candidates;	/* by section and address */
	size_t count;
	/* Of the section elog_markers: what its pointers lead to. */
	struct area listed;
	struct target *list;
	size_t list_count;
};

/* ------------------------------------------------------------------------
 * Reading
 */

/* Return: as many bytes as there are, or a negative errno. */
static ssize_t read_some(const struct image *image, uint64_t offset, void *buffer, size_t bytes)
{
	size_t done = 0;
	ssize_t count;

	if (offset >= image->size)
		return 0;
	while (done < bytes) {
		count = pread(image->fd, (char *)buffer + done, bytes - done,
			      (off_t)(offset + done));
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;
		if (!count)
			break;
		done += (size_t)count;
	}
	return (ssize_t)done;
}

static int read_all(const struct image *image, uint64_t offset, void *buffer, size_t bytes)
{
	ssize_t count = read_some(image, offset, buffer, bytes);

	return count < 0 ? (int)count : (size_t)count < bytes ? -ENOEXEC : 0;
}

static uint64_t number(const struct image *image, const unsigned char *bytes, unsigned int size)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < size; i++)
		value = value << 8 | bytes[image->is_big ? i : size - 1 - i];
	return value;
}

static int compare_areas(const void *left, const void *right)
{
	const struct area *a = left, *b = right;

	if (a->section != b->section)
		return a->section < b->section ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

/* The area of an address, or NULL. */
static const struct area *find_area(const struct image *image, uint32_t section,
				    uint64_t address)
{
	struct area key = { .section = section, .address = address };
	size_t low = 0, high = image->area_count, middle;
	const struct area *area;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare_areas(&image->areas[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	area = &image->areas[low - 1];
	return area->section == section && address - area->address < area->size ? area : NULL;
}

/* A string, to be freed; NULL with 0: there is none of at most @max bytes. */
static int read_string(const struct image *image, const struct target *target, size_t max,
		       char **string)
{
	const struct area *area = find_area(image, target->section, target->address);
	size_t room = 128, bytes;
	char *text, *larger;
	uint64_t at;
	ssize_t count;

	*string = NULL;
	if (!target->known || !area)
		return 0;
	at = target->address - area->address;
	text = NULL;
	for (;; room *= 4) {
		bytes = room < max ? room : max;
		if (bytes > area->size - at)
			bytes = (size_t)(area->size - at);
		larger = realloc(text, bytes);
		if (!larger) {
			free(text);
			return -ENOMEM;
		}
		text = larger;
		count = read_some(image, area->offset + at, text, bytes);
		if (count < 0) {
			free(text);
			return (int)count;
		}
		if (memchr(text, '\0', (size_t)count)) {
			*string = text;
			return 0;
		}
		if (bytes < room || (size_t)count < bytes) {
			free(text);
			return 0;
		}
	}
}

/* ------------------------------------------------------------------------
 * Where something may be
 */

static int add_area(struct image *image, const struct area *area)
{
	struct area *larger;

	/* Doubled when it is a power of two. */
	if (!(image->area_count & (image->area_count - 1))) {
		larger = reallocarray(image->areas,
				      image->area_count ? 2 * image->area_count : 1,
				      sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		image->areas = larger;
	}
	image->areas[image->area_count++] = *area;
	return 0;
}

static bool is_inside(const struct image *image, uint64_t offset, uint64_t size)
{
	return offset <= image->size && size <= image->size - offset;
}

static int find_segments(struct image *image)
{
	size_t count, i;
	GElf_Phdr segment;
	int ret = 0;

	if (elf_getphdrnum(image->elf, &count))
		return -ENOEXEC;
	if (count > HEADERS_MAX)
		return -E2BIG;
	for (i = 0; i < count && !ret; i++) {
		if (!gelf_getphdr(image->elf, (int)i, &segment))
			return -ENOEXEC;
		if (segment.p_type != PT_LOAD || !segment.p_filesz)
			continue;
		if (!is_inside(image, segment.p_offset, segment.p_filesz))
			return -ENOEXEC;
		ret = add_area(image, &(struct area){
			.address = segment.p_vaddr,
			.offset = segment.p_offset,
			.size = segment.p_filesz,
			.is_writable = segment.p_flags & PF_W,
		});
	}
	return ret;
}

/* One that has something in the file; NULL: it has not, or there is none. */
static GElf_Shdr *find_section(const struct image *image, size_t index, GElf_Shdr *section)
{
	Elf_Scn *scn = elf_getscn(image->elf, index);

	if (!scn || !gelf_getshdr(scn, section) || section->sh_type == SHT_NOBITS ||
	    !is_inside(image, section->sh_offset, section->sh_size))
		return NULL;
	return section;
}

static int find_sections(struct image *image)
{
	size_t count, i;
	GElf_Shdr section;
	int ret = 0;

	if (elf_getshdrnum(image->elf, &count))
		return -ENOEXEC;
	for (i = 1; i < count && !ret; i++) {
		Elf_Scn *scn = elf_getscn(image->elf, i);

		if (!scn || !gelf_getshdr(scn, &section))
			return -ENOEXEC;
		if (section.sh_type == SHT_NOBITS || !(section.sh_flags & SHF_ALLOC))
			continue;
		if (!is_inside(image, section.sh_offset, section.sh_size))
			return -ENOEXEC;
		ret = add_area(image, &(struct area){
			.offset = section.sh_offset,
			.size = section.sh_size,
			.section = (uint32_t)i,
			.is_writable = section.sh_flags & SHF_WRITE,
		});
	}
	return ret;
}

/* libelf would read all names, and uncompress them if it is told to. */
static bool is_named(const struct image *image, const GElf_Shdr *section,
		     const GElf_Shdr *names, const char *name)
{
	size_t bytes = strlen(name) + 1;
	char text[32];

	return bytes <= sizeof(text) && section->sh_name < names->sh_size &&
	       names->sh_size - section->sh_name >= bytes &&
	       !read_all(image, names->sh_offset + section->sh_name, text, bytes) &&
	       !memcmp(text, name, bytes);
}

/* The section that the linker collects pointers to C's markers in, if it is known. */
static void find_listed(struct image *image)
{
	GElf_Shdr section, names;
	size_t count, index, i;

	if (elf_getshdrnum(image->elf, &count) || elf_getshdrstrndx(image->elf, &index) ||
	    !find_section(image, index, &names))
		return;
	for (i = 1; i < count; i++) {
		if (!find_section(image, i, &section) ||
		    !is_named(image, &section, &names, "elog_markers"))
			continue;
		image->listed.address = section.sh_addr;
		image->listed.offset = section.sh_offset;
		image->listed.size = section.sh_size;
		image->listed.section = image->is_linked ? 0 : (uint32_t)i;
		return;
	}
}

/* ------------------------------------------------------------------------
 * Candidates
 */

static int add_candidate(struct image *image, const struct area *area, uint64_t at,
			 bool of_module)
{
	struct candidate *larger;

	if (image->count == MARKERS_MAX)
		return -E2BIG;
	larger = array_grow(image->candidates, image->count, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	image->candidates = larger;
	image->candidates[image->count++] = (struct candidate){
		.address = area->address + at,
		.offset = area->offset + at,
		.section = area->section,
		.of_module = of_module,
	};
	return 0;
}

static int scan_area(struct image *image, const struct area *area)
{
	uint64_t kernel_magic = image->word == 8 ? KERNEL_MAGIC : (uint32_t)KERNEL_MAGIC;
	unsigned char buffer[WINDOW + 8];
	/* Aligned as it is in memory. */
	uint64_t at = -area->address & 3;
	size_t bytes, i;
	int ret;

	for (; at < area->size; at += WINDOW) {
		bytes = sizeof(buffer);
		if (bytes > area->size - at)
			bytes = (size_t)(area->size - at);
		ret = read_all(image, area->offset + at, buffer, bytes);
		for (i = 0; !ret && i < WINDOW && i + 8 <= bytes; i += 4) {
			if (number(image, buffer + i, 8) == ELOG_MARKER_MAGIC)
				ret = add_candidate(image, area, at + i, false);
			else if (!image->is_linked &&
				 number(image, buffer + i, image->word) == kernel_magic)
				ret = add_candidate(image, area, at + i, true);
		}
		if (ret)
			return ret;
	}
	return 0;
}

static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->section != b->section)
		return a->section < b->section ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

static int find_candidates(struct image *image)
{
	uint64_t total = 0;
	size_t i;
	int ret = 0;

	if (image->area_count)
		qsort(image->areas, image->area_count, sizeof(*image->areas), compare_areas);
	for (i = 0; i < image->area_count && !ret; i++) {
		if (!image->areas[i].is_writable)
			continue;
		/* Those of a file that is well-formed have nothing in common. */
		total += image->areas[i].size;
		ret = total > image->size ? -ENOEXEC : scan_area(image, &image->areas[i]);
	}
	if (!ret && image->count)
		qsort(image->candidates, image->count, sizeof(*image->candidates),
		      compare_candidates);
	return ret;
}

static unsigned int slot_count(const struct candidate *candidate)
{
	return candidate->of_module ? KERNEL_SLOTS : USER_SLOTS;
}

/* Behind the number of 8 bytes, or of a long. */
static uint64_t slots_at(const struct image *image, const struct candidate *candidate)
{
	return candidate->of_module ? image->word : 8;
}

/* The last candidate that is not behind an address, or NULL. */
static struct candidate *candidate_before(struct image *image, uint32_t section,
					  uint64_t address)
{
	struct candidate key = { .section = section, .address = address };
	size_t low = 0, high = image->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare_candidates(&image->candidates[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || image->candidates[low - 1].section != section)
		return NULL;
	return &image->candidates[low - 1];
}

/* The pointer that is at an address, if it is one of those asked for. */
static struct target *find_slot(struct image *image, uint32_t section, uint64_t address)
{
	struct candidate *candidate;
	uint64_t at;

	if (image->list_count && section == image->listed.section &&
	    address >= image->listed.address) {
		at = address - image->listed.address;
		if (!(at % image->word) && at / image->word < image->list_count)
			return &image->list[at / image->word];
	}
	candidate = candidate_before(image, section, address);
	if (!candidate)
		return NULL;
	at = address - candidate->address - slots_at(image, candidate);
	if (at % image->word || at / image->word >= slot_count(candidate))
		return NULL;
	return &candidate->slots[at / image->word];
}

/* What is there before relocation: in a linked file mostly what is there after it. */
static int read_slots(struct image *image, uint64_t offset, struct target *slots, size_t count)
{
	unsigned char bytes[8];
	size_t i;
	int ret = 0;

	for (i = 0; i < count && !ret; i++) {
		ret = read_all(image, offset + i * image->word, bytes, image->word);
		slots[i].address = number(image, bytes, image->word);
		slots[i].known = image->is_linked;
	}
	/* What is cut off is no marker. */
	return ret == -ENOEXEC ? 0 : ret;
}

static int read_pointers(struct image *image)
{
	struct candidate *candidate;
	size_t i;
	int ret = 0;

	for (i = 0; i < image->count && !ret; i++) {
		candidate = &image->candidates[i];
		ret = read_slots(image, candidate->offset + slots_at(image, candidate),
				 candidate->slots, slot_count(candidate));
	}
	image->list_count = (size_t)(image->listed.size / image->word);
	if (image->list_count > MARKERS_MAX)
		return -E2BIG;
	if (ret || !image->list_count)
		return ret;
	image->list = calloc(image->list_count, sizeof(*image->list));
	if (!image->list)
		return -ENOMEM;
	return read_slots(image, image->listed.offset, image->list, image->list_count);
}

/* ------------------------------------------------------------------------
 * Relocations
 */

/* A table of relocations, and the symbols they name. */
struct table {
	uint64_t offset;
	uint64_t size;
	uint64_t symbols;	/* offset in the file; 0: none */
	uint64_t symbols_size;
	uint32_t section;	/* that they are for */
	bool has_addends;
};

static int read_symbol(const struct image *image, const struct table *table, uint64_t index,
		       struct target *symbol)
{
	bool is_long = image->word == 8;
	unsigned int bytes = is_long ? 24 : 16, section;
	unsigned char buffer[24];
	int ret;

	memset(symbol, 0, sizeof(*symbol));
	if (!table->symbols || index >= table->symbols_size / bytes)
		return 0;
	ret = read_all(image, table->symbols + index * bytes, buffer, bytes);
	if (ret)
		return ret == -ENOEXEC ? 0 : ret;
	section = (unsigned int)number(image, buffer + (is_long ? 6 : 14), 2);
	symbol->address = number(image, buffer + (is_long ? 8 : 4), image->word);
	symbol->section = image->is_linked ? 0 : section;
	symbol->known = section != SHN_UNDEF && section < SHN_LORESERVE;
	return 0;
}

static int relocate(struct image *image, const struct table *table, const unsigned char *entry)
{
	uint64_t info = number(image, entry + image->word, image->word), addend;
	uint64_t index = image->word == 8 ? info >> 32 : info >> 8;
	struct target *slot, symbol;
	int ret;

	slot = find_slot(image, table->section, number(image, entry, image->word));
	if (!slot)
		return 0;
	addend = table->has_addends ? number(image, entry + 2 * image->word, image->word) :
				      slot->address;
	if (!index && image->is_linked) {
		slot->address = addend;
		slot->known = true;
		return 0;
	}
	ret = read_symbol(image, table, index, &symbol);
	if (ret)
		return ret;
	slot->address = symbol.address + addend;
	if (image->word == 4)
		slot->address &= UINT32_MAX;
	slot->section = symbol.section;
	slot->known = symbol.known;
	return 0;
}

static int read_table(struct image *image, const struct table *table)
{
	unsigned int bytes = image->word * (table->has_addends ? 3 : 2);
	unsigned char buffer[WINDOW - WINDOW % 24];
	uint64_t at;
	size_t size, i;
	int ret = 0;

	if (!is_inside(image, table->offset, table->size))
		return -ENOEXEC;
	for (at = 0; at < table->size && !ret; at += sizeof(buffer)) {
		size = sizeof(buffer);
		if (size > table->size - at)
			size = (size_t)(table->size - at);
		ret = read_all(image, table->offset + at, buffer, size);
		for (i = 0; !ret && i + bytes <= size; i += bytes)
			ret = relocate(image, table, buffer + i);
	}
	return ret;
}

/* The part of the file behind an address of a linked one. */
static bool find_bytes(const struct image *image, uint64_t address, uint64_t *offset,
		       uint64_t *size)
{
	const struct area *area = find_area(image, 0, address);

	if (!area)
		return false;
	*offset = area->offset + (address - area->address);
	*size = area->size - (address - area->address);
	return true;
}

/* What the dynamic section of a linked file says. */
struct dynamic {
	uint64_t rela, rela_size;
	uint64_t rel, rel_size;
	uint64_t symbols;
};

static int read_dynamic(const struct image *image, uint64_t offset, uint64_t size,
			struct dynamic *dynamic)
{
	unsigned char entry[16];
	uint64_t at, value;
	int ret = 0;

	if (size > DYNAMIC_MAX)
		size = DYNAMIC_MAX;
	for (at = 0; at + 2 * image->word <= size; at += 2 * image->word) {
		ret = read_all(image, offset + at, entry, 2 * image->word);
		if (ret)
			break;
		value = number(image, entry + image->word, image->word);
		switch (number(image, entry, image->word)) {
		case DT_RELA:
			dynamic->rela = value;
			break;
		case DT_RELASZ:
			dynamic->rela_size = value;
			break;
		case DT_REL:
			dynamic->rel = value;
			break;
		case DT_RELSZ:
			dynamic->rel_size = value;
			break;
		case DT_SYMTAB:
			dynamic->symbols = value;
			break;
		case DT_NULL:
			return 0;
		}
	}
	return ret;
}

static int read_dynamic_table(struct image *image, const struct dynamic *dynamic,
			      uint64_t address, uint64_t size, bool has_addends)
{
	struct table table = { .size = size, .has_addends = has_addends };
	uint64_t room;

	if (!size)
		return 0;
	if (!find_bytes(image, address, &table.offset, &room) || room < size)
		return -ENOEXEC;
	if (!find_bytes(image, dynamic->symbols, &table.symbols, &table.symbols_size))
		table.symbols = 0;
	return read_table(image, &table);
}

static int relocate_segments(struct image *image)
{
	struct dynamic dynamic = { 0 };
	GElf_Phdr segment;
	size_t count, i;
	int ret;

	if (elf_getphdrnum(image->elf, &count))
		return -ENOEXEC;
	for (i = 0; i < count; i++) {
		if (!gelf_getphdr(image->elf, (int)i, &segment))
			return -ENOEXEC;
		if (segment.p_type != PT_DYNAMIC)
			continue;
		ret = read_dynamic(image, segment.p_offset, segment.p_filesz, &dynamic);
		if (ret)
			return ret;
		break;
	}
	ret = read_dynamic_table(image, &dynamic, dynamic.rel, dynamic.rel_size, false);
	return ret ? ret :
	       read_dynamic_table(image, &dynamic, dynamic.rela, dynamic.rela_size, true);
}

static int relocate_sections(struct image *image)
{
	GElf_Shdr section, symbols;
	uint64_t total = 0;
	struct table table;
	size_t count, i;
	int ret = 0;

	if (elf_getshdrnum(image->elf, &count))
		return -ENOEXEC;
	for (i = 1; i < count && !ret; i++) {
		if (!find_section(image, i, &section) ||
		    (section.sh_type != SHT_RELA && section.sh_type != SHT_REL) ||
		    !find_section(image, section.sh_link, &symbols) ||
		    symbols.sh_type != SHT_SYMTAB)
			continue;
		table = (struct table){
			.offset = section.sh_offset,
			.size = section.sh_size,
			.symbols = symbols.sh_offset,
			.symbols_size = symbols.sh_size,
			.section = section.sh_info,
			.has_addends = section.sh_type == SHT_RELA,
		};
		total += section.sh_size;
		ret = total > image->size ? -ENOEXEC : read_table(image, &table);
	}
	return ret;
}

static int compare_targets(const void *left, const void *right)
{
	const struct target *a = left, *b = right;

	if (a->section != b->section)
		return a->section < b->section ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

/* A marker begins a pointer before its number, but for what that is aligned to. */
static void find_out_listed(struct image *image)
{
	struct candidate *candidate;
	struct target key;
	size_t i;

	if (!image->list_count)
		return;
	qsort(image->list, image->list_count, sizeof(*image->list), compare_targets);
	for (i = 0; i < image->count; i++) {
		candidate = &image->candidates[i];
		key = (struct target){ candidate->address - 8, candidate->section, true };
		candidate->is_listed = bsearch(&key, image->list, image->list_count,
					       sizeof(key), compare_targets);
		if (candidate->is_listed || image->word == 8)
			continue;
		key.address += 4;
		candidate->is_listed = bsearch(&key, image->list, image->list_count,
					       sizeof(key), compare_targets);
	}
}

/* ------------------------------------------------------------------------
 * Markers
 */

/* One that is being read: as the library has it, and what else there is to it. */
struct found {
	struct elog_marker marker;
	char *tag;		/* of a module */
	uint64_t address;
	unsigned int allowed;
	bool of_module;
	bool is_listed;
};

static void free_found(struct found *found)
{
	if (found->marker.state)
		elog_marker_state_free(found->marker.state);
	free((char *)(uintptr_t)found->marker.text);
	free((char *)(uintptr_t)found->marker.path);
	free((char *)(uintptr_t)found->marker.function);
	free(found->tag);
}

static bool is_identifier(const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (!elog_marker_is_word(text[i]))
			return false;
	return length;
}

/* How many fields, and what they are, then handlers; false: that cannot be. */
static bool take_types(struct found *found, const unsigned char *bytes)
{
	unsigned int i, last = found->of_module ? ARRAY_SIZE(kernel_types) :
						  ELOG_MARKER_TYPES - 1;

	if (bytes[0] > ELOG_MARKER_FIELDS_MAX)
		return false;
	for (i = 0; i < bytes[0]; i++)
		if (!bytes[1 + i] || bytes[1 + i] > last)
			return false;
	memcpy(found->marker.types, bytes, sizeof(found->marker.types));
	return true;
}

static int read_strings(const struct image *image, const struct candidate *candidate,
			struct found *found)
{
	const struct target *slots = candidate->slots;
	bool of_module = candidate->of_module;
	char *text, *path, *function;
	int ret;

	ret = read_string(image, &slots[of_module ? K_TEXT : TEXT], TEXT_MAX, &text);
	found->marker.text = text;
	if (ret)
		return ret;
	ret = read_string(image, &slots[of_module ? K_PATH : PATH], PATH_LENGTH_MAX, &path);
	found->marker.path = path;
	if (ret)
		return ret;
	ret = read_string(image, &slots[of_module ? K_FUNCTION : FUNCTION], NAME_LENGTH_MAX,
			  &function);
	found->marker.function = function;
	if (ret || !of_module)
		return ret;
	return read_string(image, &slots[K_TAG], NAME_LENGTH_MAX, &found->tag);
}

/* A module's fields, with the tag before them, as a program's markers have it. */
static int join_text(struct found *found)
{
	char *text;

	if (asprintf(&text, "%s, %s", found->tag, found->marker.text) < 0)
		return -ENOMEM;
	free((char *)(uintptr_t)found->marker.text);
	found->marker.text = text;
	return 0;
}

/*
 * What is built elsewhere than in the kernel's own tree may be compiled by absolute
 * paths: then, unless the compiler was told otherwise, the module's directory is the
 * top. So it is when it is loaded.
 */
static int shorten_path(const struct image *image, const struct candidate *candidate,
			struct found *found)
{
	const char *path = found->marker.path, *end;
	size_t length;
	char *module;
	int ret;

	ret = read_string(image, &candidate->slots[K_MODULE], PATH_LENGTH_MAX, &module);
	if (ret || !module)
		return ret;
	end = strrchr(module, '/');
	length = end ? (size_t)(end + 1 - module) : 0;
	if (*path == '/' && length && !strncmp(path, module, length))
		memmove((char *)(uintptr_t)path, path + length, strlen(path + length) + 1);
	free(module);
	return 0;
}

static const char *known_tag(const struct found *found)
{
	return found->of_module ? found->tag : found->marker.text;
}

/*
 * Return: 1: it is a marker; 0: it is not; or a negative errno. @found is to be
 * freed in any case.
 */
static int read_marker(const struct image *image, const struct candidate *candidate,
		       struct found *found)
{
	uint64_t slots = slots_at(image, candidate);
	uint64_t at = slots + slot_count(candidate) * image->word, types;
	const struct target *unit = &candidate->slots[candidate->of_module ? K_UNIT : UNIT];
	const struct target *self = &candidate->slots[K_SELF];
	unsigned char bytes[MARKER_BYTES] = { 0 };
	const char *tag;
	ssize_t count;
	int ret;

	memset(found, 0, sizeof(*found));
	found->of_module = candidate->of_module;
	found->is_listed = candidate->is_listed;
	count = read_some(image, candidate->offset, bytes, sizeof(bytes));
	if (count < 0)
		return (int)count;
	found->marker.line = (uint32_t)number(image, bytes + at, 4);
	found->marker.sequence = (uint32_t)number(image, bytes + at + 4, 4);
	types = at + 8;
	if (candidate->of_module) {
		/* Its ordinal, its id, aligned as it happens to be, come before. */
		types = at + 12;
		if (image->word == 8 || image->header.e_machine != EM_386)
			types += -(candidate->address + types) & 7;
		types += 8;
		if (self->section != candidate->section ||
		    self->address >= candidate->address)
			return 0;
	}
	if ((uint64_t)count < types + 20 || !take_types(found, bytes + types))
		return 0;
	bytes[types + 17] &= ELOG_MARKER_PRINT | ELOG_MARKER_TRACE | ELOG_MARKER_PROBE;
	found->marker.handlers = bytes[types + 17];
	found->allowed = ELOG_MARKER_PRINT | ELOG_MARKER_TRACE | ELOG_MARKER_PROBE;
	if (candidate->of_module) {
		found->allowed &= bytes[types + 18];
		found->marker.handlers |= bytes[types + 19] & 7;
		found->marker.handlers &= found->allowed;
	} else {
		found->address = candidate->address + types + 17;
	}
	/* It is only told from others. */
	found->marker.unit = (const void *)(uintptr_t)((uint64_t)unit->section << 40 |
						       unit->address);
	ret = read_strings(image, candidate, found);
	if (ret)
		return ret;
	if (!found->marker.text || !found->marker.path || !found->marker.function)
		return 0;
	tag = known_tag(found);
	if (!tag || !is_identifier(tag, strcspn(tag, " ,\t")))
		return 0;
	if (candidate->of_module) {
		ret = shorten_path(image, candidate, found);
		if (!ret)
			ret = join_text(found);
	}
	return ret ? ret : 1;
}

static char *describe_fields(const struct found *found)
{
	const struct elog_marker *marker = &found->marker;
	char *text = NULL;
	unsigned int i;
	size_t size;
	FILE *stream;

	stream = open_memstream(&text, &size);
	if (!stream)
		return NULL;
	for (i = 0; i < marker->types[0]; i++) {
		unsigned int type = marker->types[1 + i];

		fprintf(stream, "%s%s %s", i ? "; " : "",
			found->of_module ? kernel_types[type - 1] :
					   elog_marker_type_name(type),
			marker->state->fields[i]);
	}
	if (fclose(stream)) {
		free(text);
		return NULL;
	}
	return text;
}

static int keep_marker(struct file_markers *markers, const struct found *found)
{
	const struct elog_marker *marker = &found->marker;
	struct file_marker *kept = &markers->markers[markers->count++];

	*kept = (struct file_marker){
		.tag = strndup(marker->text, elog_marker_tag_length(marker)),
		.event = strdup(marker->state->name),
		.path = strdup(elog_marker_short_path(marker->path)),
		.function = strdup(marker->function),
		.place = strdup(marker->state->place),
		.fields = describe_fields(found),
		.id = marker->state->id,
		.address = found->address,
		.line = marker->line,
		.ordinal = marker->state->ordinal,
		.handlers = marker->handlers,
		.allowed = found->allowed,
		.of_module = found->of_module,
	};
	return kept->tag && kept->event && kept->path && kept->function && kept->place &&
	       kept->fields ? 0 : -ENOMEM;
}

/* Those of C and those of C++ are named as if the others were not there. */
static int keep_group(struct file_markers *markers, struct found *found, size_t count,
		      bool is_listed)
{
	struct elog_marker **group = calloc(count + 1, sizeof(*group));
	size_t i, members = 0;
	int ret = 0;

	if (!group)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		if (found[i].is_listed == is_listed)
			group[members++] = &found[i].marker;
	if (!elog_markers_name(group, members))
		ret = -ENOMEM;
	/* The marker is what it begins with. */
	for (i = 0; i < members && !ret; i++)
		ret = keep_marker(markers, (struct found *)(void *)group[i]);
	free(group);
	return ret;
}

static int read_markers(struct image *image, struct file_markers *markers)
{
	struct found *found = calloc(image->count + 1, sizeof(*found));
	size_t i, count = 0, bytes = 0;
	int ret = 0;

	if (!found)
		return -ENOMEM;
	for (i = 0; i < image->count; i++) {
		ret = read_marker(image, &image->candidates[i], &found[count]);
		if (ret <= 0)
			free_found(&found[count]);
		if (ret < 0)
			goto out;
		if (!ret)
			continue;
		/* Many may have one string, and each has its own copy. */
		bytes += strlen(found[count].marker.text) +
			 strlen(found[count].marker.path) +
			 strlen(found[count].marker.function);
		count++;
		ret = bytes > TEXTS_MAX ? -E2BIG : 0;
		if (ret)
			goto out;
	}
	ret = -ENOMEM;
	markers->markers = calloc(count + 1, sizeof(*markers->markers));
	if (markers->markers)
		ret = keep_group(markers, found, count, true);
	if (!ret)
		ret = keep_group(markers, found, count, false);
out:
	for (i = 0; i < count; i++)
		free_found(&found[i]);
	free(found);
	return ret;
}

static int keep_segments(const struct image *image, struct file_markers *markers)
{
	size_t i;

	if (!image->is_linked)
		return 0;
	markers->segments = calloc(image->area_count + 1, sizeof(*markers->segments));
	if (!markers->segments)
		return -ENOMEM;
	markers->segment_count = image->area_count;
	for (i = 0; i < image->area_count; i++)
		markers->segments[i] = (struct file_segment){
			.offset = image->areas[i].offset,
			.address = image->areas[i].address,
			.size = image->areas[i].size,
		};
	return 0;
}

/*
 * Are there too many sections?  libelf has memory for each of them as soon as it
 * sees the file: so it is looked for before that.  It finds what else is wrong.
 */
static int check_sections(struct image *image)
{
	unsigned char bytes[64];
	bool is_long;

	if (read_all(image, 0, bytes, sizeof(bytes)) || memcmp(bytes, ELFMAG, SELFMAG))
		return 0;
	is_long = bytes[EI_CLASS] == ELFCLASS64;
	image->word = is_long ? 8 : 4;
	image->is_big = bytes[EI_DATA] == ELFDATA2MSB;
	/* More than fit into the header are in the first section's. */
	if (number(image, bytes + (is_long ? 60 : 48), 2) ||
	    read_all(image, number(image, bytes + (is_long ? 40 : 32), image->word), bytes,
		     is_long ? 64 : 40))
		return 0;
	return number(image, bytes + (is_long ? 32 : 20), image->word) > HEADERS_MAX ?
	       -E2BIG : 0;
}

static int read_image(struct image *image, struct file_markers *markers)
{
	int ret;

	if (elf_kind(image->elf) != ELF_K_ELF || !gelf_getehdr(image->elf, &image->header))
		return -ENOEXEC;
	image->word = image->header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	image->is_big = image->header.e_ident[EI_DATA] == ELFDATA2MSB;
	switch (image->header.e_type) {
	case ET_EXEC:
	case ET_DYN:
		image->is_linked = true;
		ret = find_segments(image);
		break;
	case ET_REL:
		ret = find_sections(image);
		break;
	default:
		return -ENOEXEC;
	}
	if (!ret)
		ret = find_candidates(image);
	if (!ret)
		ret = keep_segments(image, markers);
	if (ret || !image->count)
		return ret;
	find_listed(image);
	ret = read_pointers(image);
	if (!ret)
		ret = image->is_linked ? relocate_segments(image) : relocate_sections(image);
	if (ret)
		return ret;
	find_out_listed(image);
	return read_markers(image, markers);
}

int file_markers_read(int fd, struct file_markers *markers)
{
	struct image image = { .fd = fd };
	off_t size = lseek(fd, 0, SEEK_END);
	int ret;

	memset(markers, 0, sizeof(*markers));
	if (size < 0)
		return -errno;
	image.size = (uint64_t)size;
	if (image.size > FILE_MAX)
		return -E2BIG;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return -EOPNOTSUPP;
	ret = check_sections(&image);
	if (ret)
		return ret;
	image.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!image.elf)
		return -ENOEXEC;
	ret = read_image(&image, markers);
	free(image.list);
	free(image.candidates);
	free(image.areas);
	elf_end(image.elf);
	return ret;
}

#else

int file_markers_read(int fd, struct file_markers *markers)
{
	(void)fd;
	memset(markers, 0, sizeof(*markers));
	return -EOPNOTSUPP;
}

#endif

void file_markers_free(struct file_markers *markers)
{
	size_t i;

	for (i = 0; i < markers->count; i++) {
		struct file_marker *marker = &markers->markers[i];

		free(marker->tag);
		free(marker->event);
		free(marker->path);
		free(marker->function);
		free(marker->place);
		free(marker->fields);
	}
	free(markers->markers);
	free(markers->segments);
	memset(markers, 0, sizeof(*markers));
}
