// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ELF notes of markers in a file: see marker_note.h.
 *
 * In a linked file the addresses in a note are final, because the section of the notes is
 * not loaded. In an object file such as a kernel module, the linker's relocations give
 * them.
 *
 * libelf parses the headers. Everything else is read in small pieces and checked.
 */
#ifdef ELOG_ELF
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elog_marker.h"
#include "marker/marker_note.h"
#include "util/array.h"
#include "util/tool.h"

/* Limits: sufficient for compiled files, and small enough for forged ones. */
#define NOTES_MAX	65536U
#define NOTES_BYTES_MAX	(16U << 20)
/* libelf needs memory for all headers of a kind; the rest costs only time. */
#define HEADERS_MAX	262144U
#define FILE_MAX	(16ULL << 30)
/* Bytes of relocations that are read at once; a multiple of all their sizes. */
#define WINDOW		49152U

#define NOTE_SECTION	".note.eventlog"
#define NOTE_OWNER	"eventlog"
#define NOTE_PROGRAM	1U
#define NOTE_MODULE	2U

/* Where a slot is stored: in a note or, for ELOG_MARKER_NOTE_STRUCT, in the marker. */
struct stored {
	uint64_t address;
	uint32_t section;
	struct target *target;
};

/* ------------------------------------------------------------------------
 * Reading
 */

/* Return: the number of bytes read, less than @bytes at the end; or a negative errno. */
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

int image_string(const struct image *image, const struct target *target, size_t max,
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
 * Areas
 */

static int add_area(struct image *image, const struct area *area)
{
	struct area *larger = array_grow(image->areas, image->area_count, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	image->areas = larger;
	larger[image->area_count++] = *area;
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
		});
	}
	return ret;
}

/* A section that has data in the file; NULL: not found, or without data. */
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
		});
	}
	return ret;
}

/* libelf would read all names, and perhaps decompress them. */
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

/* ------------------------------------------------------------------------
 * Notes
 */

static int add_note(struct image *image, uint32_t section, uint64_t address, bool of_module,
		    const unsigned char *bytes)
{
	struct note *notes, *note;
	unsigned int i;

	if (image->count == NOTES_MAX)
		return -E2BIG;
	notes = array_grow(image->notes, image->count, sizeof(*notes));
	if (!notes)
		return -ENOMEM;
	image->notes = notes;
	note = &notes[image->count++];
	*note = (struct note){ .section = section, .address = address, .of_module = of_module };
	for (i = 0; i < SLOTS; i++, bytes += image->word) {
		note->slots[i].address = number(image, bytes, image->word);
		note->slots[i].known = image->is_linked;
	}
	for (i = 0; i < NUMBERS; i++, bytes += 4)
		note->numbers[i] = (uint32_t)number(image, bytes, 4);
	return 0;
}

static uint64_t align_4(uint64_t size)
{
	return (size + 3) & ~3ULL;
}

/* Skip notes of other owners, types and sizes. */
static int parse_notes(struct image *image, uint32_t section, const unsigned char *bytes,
		       size_t size)
{
	uint64_t at = 0, name, next, name_size, desc_size, type;
	int ret = 0;

	while (!ret && size - at >= 12) {
		name_size = number(image, bytes + at, 4);
		desc_size = number(image, bytes + at + 4, 4);
		type = number(image, bytes + at + 8, 4);
		name = at + 12;
		at = name + align_4(name_size);
		next = at + align_4(desc_size);
		if (next > size)
			return -ENOEXEC;
		if (name_size == sizeof(NOTE_OWNER) &&
		    !memcmp(bytes + name, NOTE_OWNER, sizeof(NOTE_OWNER)) &&
		    desc_size == SLOTS * image->word + 4 * NUMBERS &&
		    (type == NOTE_PROGRAM || (type == NOTE_MODULE && !image->is_linked)))
			ret = add_note(image, section, at, type == NOTE_MODULE, bytes + at);
		at = next;
	}
	return ret;
}

static int find_notes(struct image *image)
{
	size_t count, index, i;
	GElf_Shdr section, names;
	unsigned char *bytes;
	uint64_t total = 0;
	int ret = 0;

	if (elf_getshdrnum(image->elf, &count))
		return -ENOEXEC;
	/* A file without sections has no notes, but may run. */
	if (elf_getshdrstrndx(image->elf, &index) || !find_section(image, index, &names))
		return 0;
	for (i = 1; i < count && !ret; i++) {
		if (!find_section(image, i, &section) || section.sh_type != SHT_NOTE ||
		    section.sh_flags & SHF_COMPRESSED || !section.sh_size ||
		    !is_named(image, &section, &names, NOTE_SECTION))
			continue;
		total += section.sh_size;
		if (total > NOTES_BYTES_MAX)
			return -E2BIG;
		bytes = malloc((size_t)section.sh_size);
		if (!bytes)
			return -ENOMEM;
		ret = read_all(image, section.sh_offset, bytes, (size_t)section.sh_size);
		if (!ret)
			ret = parse_notes(image, (uint32_t)i, bytes, (size_t)section.sh_size);
		free(bytes);
	}
	return ret;
}

/* ------------------------------------------------------------------------
 * Relocations
 */

static int compare_stored(const void *left, const void *right)
{
	const struct stored *a = left, *b = right;

	if (a->section != b->section)
		return a->section < b->section ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

/* A table of relocations, and the symbols they name. */
struct table {
	uint64_t offset;
	uint64_t size;
	uint64_t symbols;	/* offset in the file; 0: none */
	uint64_t symbols_size;
	uint32_t section;	/* to which they apply */
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
	symbol->section = section;
	symbol->known = section != SHN_UNDEF && section < SHN_LORESERVE;
	return 0;
}

static int relocate(struct image *image, const struct table *table, const unsigned char *entry)
{
	uint64_t info = number(image, entry + image->word, image->word), addend;
	uint64_t index = image->word == 8 ? info >> 32 : info >> 8;
	struct stored key = { number(image, entry, image->word), table->section, NULL };
	struct stored *found;
	struct target symbol;
	int ret;

	found = bsearch(&key, image->stored, image->stored_count, sizeof(key), compare_stored);
	if (!found)
		return 0;
	addend = table->has_addends ? number(image, entry + 2 * image->word, image->word) :
				      found->target->address;
	ret = read_symbol(image, table, index, &symbol);
	if (ret)
		return ret;
	*found->target = symbol;
	found->target->address += addend;
	if (image->word == 4)
		found->target->address &= UINT32_MAX;
	return 0;
}

static int read_table(struct image *image, const struct table *table)
{
	unsigned int bytes = image->word * (table->has_addends ? 3 : 2);
	unsigned char buffer[WINDOW];
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

static int store(struct image *image, uint32_t section, uint64_t address,
		 struct target *target)
{
	struct stored *larger = array_grow(image->stored, image->stored_count, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	image->stored = larger;
	larger[image->stored_count++] = (struct stored){ address, section, target };
	return 0;
}

static int relocate_stored(struct image *image)
{
	if (image->is_linked || !image->stored_count)
		return 0;
	qsort(image->stored, image->stored_count, sizeof(*image->stored), compare_stored);
	return relocate_sections(image);
}

/* Set the slots that a program's note leaves to its struct. */
static int read_struct(struct image *image, struct note *note)
{
	static const unsigned char members[] = { TEXT, PATH, FUNCTION, UNIT };
	const struct target *self = &note->slots[SELF];
	uint64_t address = self->address + note->slots[TEXT_OFFSET].address;
	const struct area *area = find_area(image, self->section, address);
	unsigned char bytes[8];
	struct target *slot;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(members) && !ret; i++, address += image->word) {
		slot = &note->slots[members[i]];
		slot->known = false;
		if (!self->known || !area || address - area->address >= area->size)
			continue;
		ret = read_all(image, area->offset + (address - area->address), bytes,
			       image->word);
		slot->address = number(image, bytes, image->word);
		slot->known = image->is_linked;
		if (!ret)
			ret = store(image, self->section, address, slot);
	}
	return ret;
}

static int find_addresses(struct image *image)
{
	struct note *note;
	size_t i;
	unsigned int slot;
	int ret = 0;

	for (i = 0; i < image->count && !ret; i++) {
		note = &image->notes[i];
		for (slot = 0; slot < SLOTS && !ret; slot++)
			ret = store(image, note->section, note->address + slot * image->word,
				    &note->slots[slot]);
	}
	if (!ret)
		ret = relocate_stored(image);
	image->stored_count = 0;
	for (i = 0; i < image->count && !ret; i++) {
		note = &image->notes[i];
		if (!note->of_module && note->numbers[OTHERS] >> 24 & ELOG_MARKER_NOTE_STRUCT)
			ret = read_struct(image, note);
	}
	return ret ? ret : relocate_stored(image);
}

/* A marker has several notes if the compiler copied its code. */
static int compare_notes(const void *left, const void *right)
{
	const struct target *a = &((const struct note *)left)->slots[SELF];
	const struct target *b = &((const struct note *)right)->slots[SELF];

	if (a->section != b->section)
		return a->section < b->section ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

static void drop_copies(struct image *image)
{
	size_t count = image->count, i;

	if (!count)
		return;
	qsort(image->notes, count, sizeof(*image->notes), compare_notes);
	image->count = 1;
	for (i = 1; i < count; i++)
		if (compare_notes(&image->notes[i - 1], &image->notes[i]))
			image->notes[image->count++] = image->notes[i];
}

/* ------------------------------------------------------------------------
 * The file
 */

bool image_contains(const struct image *image, const struct target *target)
{
	return target->known && find_area(image, target->section, target->address);
}

/*
 * Are there too many sections? Check this first, since libelf allocates memory for all
 * sections when it opens the file. libelf finds other errors.
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
	/* A number too large for the header is in the first section header. */
	if (number(image, bytes + (is_long ? 60 : 48), 2) ||
	    read_all(image, number(image, bytes + (is_long ? 40 : 32), image->word), bytes,
		     is_long ? 64 : 40))
		return 0;
	return number(image, bytes + (is_long ? 32 : 20), image->word) > HEADERS_MAX ?
	       -E2BIG : 0;
}

static int read_image(struct image *image)
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
	if (ret)
		return ret;
	if (image->area_count)
		qsort(image->areas, image->area_count, sizeof(*image->areas), compare_areas);
	ret = find_notes(image);
	if (!ret)
		ret = find_addresses(image);
	if (!ret)
		drop_copies(image);
	return ret;
}

int image_read(int fd, struct image *image)
{
	off_t size = lseek(fd, 0, SEEK_END);
	int ret;

	*image = (struct image){ .fd = fd };
	if (size < 0)
		return -errno;
	image->size = (uint64_t)size;
	if (image->size > FILE_MAX)
		return -E2BIG;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return -EOPNOTSUPP;
	ret = check_sections(image);
	if (ret)
		return ret;
	image->elf = elf_begin(fd, ELF_C_READ, NULL);
	return image->elf ? read_image(image) : -ENOEXEC;
}

void image_free(struct image *image)
{
	free(image->stored);
	free(image->notes);
	free(image->areas);
	elf_end(image->elf);
}

#endif
