#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# marker_file_test - tests elog marker list FILE with the output of several compilers and
# linkers, for several architectures, and with damaged files. Prints TAP.
#
# EVENTLOG_TOOLS is the output of make -C tools (default: build/tools); the damaged files
# are tested with sanitizers if build/tools.sanitized exists. CC and CXX are the
# compilers; clang and lld are used too if they are installed.
set -eu
export LC_ALL=C

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
top=$(cd "$here/../../.." && pwd -P)
built=${EVENTLOG_TOOLS:-$top/build/tools}
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
flags="-O2 -Wall -Wextra -Werror -I$top/tools/libelog/include -I$top/uapi -L$built"
export LD_LIBRARY_PATH="$built"
unset ELOG_MARKERS

cat > "$work/many.c" <<'SOURCE'
#include <stddef.h>
#include <elog_marker.h>

#ifdef __cplusplus
template <class T> inline T shown(T value)
{
	ELOG_MARKER(shown, FIELD(auto, value));
	return value;
}
#else
#define shown(value) (value)
#endif

static inline int inlined(int value)
{
	ELOG_MARKER(first, FIELD(auto, value));
	return value;
}

static void one(const char *text)
{
	ELOG_MARKER(first, FIELD(auto, text), FIELD(s8, -1));
	ELOG_MARKER(second, FIELD(bool, 2), FIELD(u8, 1 + 1), FIELD(u8, 1 + 1),
		    FIELD_NAMED(ptr, here, text), FIELD(auto, 1UL));
	ELOG_MARKER(first); ELOG_MARKER_SESSION(7, third);
}

int main(void)
{
	one("text");
	return inlined(shown(0)) + inlined(shown('\0'));
}
SOURCE
cp "$work/many.c" "$work/many.cc"

# Prints the markers of a file: event, place, types and names of fields.
listed()
{
	"$built/elog" marker list --format json "$@" > "$work/json" || return
	python3 -c '
import json, sys
for line in sys.stdin:
    marker = json.loads(line)
    place = "{path}:{function}:{ordinal}".format(**marker)
    value = 0xcbf29ce484222325
    for byte in place.encode():
        value = (value ^ byte) * 0x100000001b3 % 2**64
    assert int(marker["id"], 16) == value, marker
    assert marker["line"] > 0 and marker["allowed"] == ["print", "trace", "probe"], marker
    print(marker["event"], place, *(field["type"] + ":" + field["name"]
                                    for field in marker["fields"]),
          *(["session"] if marker.get("session") else []))
' < "$work/json" | sort
}

# expect SUFFIX LONG: prints the markers of many.SUFFIX; LONG is the type of unsigned long.
expect()
{
	{
		cat <<TEXT
first many.$1:inlined:0 s32:value
first_2 many.$1:one:0 string:text s8:_1
first_3 many.$1:one:2
second many.$1:one:1 u8:_2 u8:_1_1 u8:_1_1_2 u64:here $2:_1UL
third many.$1:one:3 session
TEXT
		if [ "$1" = cc ]; then
			echo "shown many.cc:shown:0 s32:value"
			echo "shown_2 many.cc:shown:0 s8:value"
		fi
	} | sort
}

# The instances of a template may be in any order.
any_order()
{
	sed 's/^shown_2 /shown /' "$1" | sort | if [ "$#" = 2 ]; then diff - "$2"; else cat; fi
}

same_as_expected()
{
	listed "$1" > "$work/listed" && expect "$2" "$3" > "$work/expected" &&
	any_order "$work/expected" > "$work/expected.sorted" &&
	any_order "$work/listed" "$work/expected.sorted"
}

# The program prints the same markers when it runs. An old C library cannot load
# programs with DT_RELR.
same_as_run()
{
	! ELOG_MARKERS='' "$1" 2>&1 | grep DT_RELR || return 0
	ELOG_MARKERS='*=print' "$1" 2>&1 | sed 's/^\([^ ]* [^ ]*\):.*/\1/' | sort -u > "$work/run"
	cut -d ' ' -f 1,2 "$work/listed" | sort -u | diff - "$work/run"
}

# linked NAME COMPILER SUFFIX FLAGS
linked()
{
	# shellcheck disable=SC2086 # several words
	(cd "$work" && rm -f many && $2 $flags $4 -o many "many.$3" -lelog) &&
	same_as_expected "$work/many" "$3" u64 && same_as_run "$work/many"
}

for compiler in "${CC:-gcc}" clang "${CXX:-g++}" clang++; do
	case $(basename "${compiler%% *}") in
	*++*) suffix=cc ;;
	*) suffix=c ;;
	esac
	while read -r how; do
		name="$(basename "${compiler%% *}") $how"
		case $how in
		*lld*) linker=ld.lld ;;
		*) linker=ld ;;
		esac
		if ! command -v "${compiler%% *}" > /dev/null || ! command -v $linker > /dev/null
		then
			skip "$name" "compiler or linker is not installed"
		else
			check "$name" linked "$name" "$compiler" "$suffix" "$how"
		fi
	done <<'HOW'
-fPIE -pie
-fno-pie -no-pie
-fPIE -pie -s -Wl,--gc-sections
-ffunction-sections -fdata-sections -Wl,--gc-sections
-O0 -g
-O3 -flto
-fPIE -pie -fuse-ld=lld
-fPIE -pie -fuse-ld=lld -Wl,--pack-dyn-relocs=relr
HOW
done

# Files that are never run. They are small, because they are truncated at every byte.
library()
{
	# shellcheck disable=SC2086 # several words
	(cd "$work" && $1 $flags $4 -o "$3" "many.$2") &&
	same_as_expected "$work/$3" "$2" "$5"
}

alone="-DELOG_MARKERS_EXPLICIT -nodefaultlibs -s -Wl,-z,noseparate-code \
	-fno-exceptions -fno-asynchronous-unwind-tables"
check "a library, C" library "${CC:-gcc}" c library.so "-fPIC -shared $alone" u64
check "an object, C" library "${CC:-gcc}" c object.o "-c -fPIC" u64
if command -v "${CXX:-g++}" > /dev/null; then
	check "a library, C++, -O0" library "${CXX:-g++}" cc library_cc.so "-O0 -fPIC -shared $alone" u64
	check "a library, C++" library "${CXX:-g++}" cc library_cc.so "-fPIC -shared $alone" u64
	check "an object, C++" library "${CXX:-g++}" cc object_cc.o "-c" u64
else
	skip "a library, C++, -O0" "the compiler is not installed"
	skip "a library, C++" "the compiler is not installed"
	skip "an object, C++" "the compiler is not installed"
fi
# The 32-bit build uses the headers of the 64-bit one.
m32="-m32 -idirafter /usr/include/$(${CC:-gcc} -print-multiarch)"
# shellcheck disable=SC2086 # several words
if echo '#include <elog_marker.h>' |
   ${CC:-gcc} $m32 -I"$top/tools/libelog/include" -I"$top/uapi" -fsyntax-only -x c - 2> /dev/null
then
	check "a 32-bit library" library "${CC:-gcc}" c library32.so "$m32 -fPIC -shared $alone" u32
	check "a 32-bit object" library "${CC:-gcc}" c object32.o "$m32 -c" u32
else
	skip "a 32-bit library" "the compiler cannot build 32-bit programs"
	skip "a 32-bit object" "the compiler cannot build 32-bit programs"
fi
for compiler in arm-linux-gnueabihf-gcc aarch64-linux-gnu-gcc; do
	compiler=$(command -v $compiler || command -v $compiler-12 || echo "$compiler")
	name=$(basename "$compiler")
	if command -v "$compiler" > /dev/null; then
		case $name in
		aarch64*) long=u64 ;;
		*) long=u32 ;;
		esac
		check "a library of $name" library "$compiler" c "$name.so" \
			"-fPIC -shared $alone" "$long"
		check "an object of $name" library "$compiler" c "$name.o" -c "$long"
	else
		skip "a library of $name" "the compiler is not installed"
		skip "an object of $name" "the compiler is not installed"
	fi
done

# clang compiles for machines of both byte orders; no headers of theirs are needed.
for target in aarch64:u64 powerpc64:u64 powerpc64le:u64 s390x:u64 riscv64:u64 mips:u32 \
	armeb:u32; do
	long=${target#*:}
	target=${target%:*}-linux-gnu
	cross="--target=$target -DELOG_MARKERS_EXPLICIT \
		-idirafter /usr/include/$(${CC:-gcc} -print-multiarch) -Wno-error"
	# shellcheck disable=SC2086 # several words
	if ! echo '#include <elog_marker.h>' |
	     clang $cross -I"$top/tools/libelog/include" -I"$top/uapi" -fsyntax-only -x c - \
		2> /dev/null; then
		skip "an object for $target" "clang cannot compile for it"
	else
		for options in "-O2 -fPIC" "-O0 -fno-pic"; do
			check "an object for $target, $options" library clang c "$target.o" \
				"$cross $options -c" "$long"
		done
	fi
	case $target in
	s390x*|armeb*) continue ;;	# not all versions of lld link for them
	esac
	if command -v ld.lld > /dev/null && [ -e "$work/$target.o" ]; then
		check "a library for $target" library clang c "$target.so" \
			"$cross -fPIC -shared -nostdlib -fuse-ld=lld" "$long"
	else
		skip "a library for $target" "clang or lld is not installed"
	fi
done

# Stripped files keep the notes, as they keep those of static probes.
stripped()
{
	# shellcheck disable=SC2086 # several words
	(cd "$work" && ${CC:-gcc} $flags -g -o many many.c -lelog && $1 many) &&
	! readelf -SW "$work/many" | grep -F .symtab &&
	same_as_expected "$work/many" c u64 && same_as_run "$work/many"
}
for strip in "strip --strip-all" "strip --strip-unneeded" "llvm-strip --strip-all-gnu"; do
	if command -v "${strip%% *}" > /dev/null; then
		check "a program after $strip" stripped "$strip"
	else
		skip "a program after $strip" "it is not installed"
	fi
done

# Copies of markers: inline functions and templates in two units, inlined several times.
cat > "$work/copies.h" <<'SOURCE'
#include <elog_marker.h>
template <class T> inline T shown(T value)
{
	ELOG_MARKER(shown, FIELD(auto, value));
	return value;
}
template <int number> inline int numbered(int value)
{
	ELOG_MARKER(numbered, FIELD(auto, value % 2 | number), FIELD(auto, "100 %d {a|b}"));
	return value;
}
inline int inlined(int value)
{
	ELOG_MARKER(inlined, FIELD(auto, value));
	return shown(value) + shown(value + 1) + numbered<1>(value) + numbered<2>(value);
}
int other(int value);
SOURCE
cat > "$work/copies_main.cc" <<'SOURCE'
#include "copies.h"
int main(void)
{
	return inlined(0) + inlined(-1) + shown(0) + other(0) ? 0 : 0;
}
SOURCE
cat > "$work/copies_other.cc" <<'SOURCE'
#include "copies.h"
int other(int value)
{
	for (int i = 0; i < 3; i++)
		value += inlined(value) + shown(value + i);
	return value;
}
SOURCE
cat > "$work/copies.expected" <<'TEXT'
inlined copies.h:inlined:0 s32:value
numbered copies.h:numbered:0 s32:value_2_number string:_100_d_a_b
numbered_2 copies.h:numbered:0 s32:value_2_number string:_100_d_a_b
shown copies.h:shown:0 s32:value
TEXT
# copies COMPILER FLAGS: each marker is listed once.
copies()
{
	# shellcheck disable=SC2086 # several words
	(cd "$work" && $1 $flags $2 -o copies copies_main.cc copies_other.cc \
		-lelog) && listed "$work/copies" > "$work/listed" &&
	diff "$work/listed" "$work/copies.expected" &&
	"$work/copies" && same_as_run "$work/copies"
}
# Without inlining there is one note of each, although two units contain the code.
groups()
{
	copies "$1" -O0 &&
	[ "$(readelf -nW "$work/copies" | grep -c '^  eventlog')" = 4 ]
}
for compiler in "${CXX:-g++}" clang++; do
	for options in -O2 -O3 "-O2 -flto" "-O2 -ffunction-sections -Wl,--gc-sections" \
		"-O0 -ffunction-sections -Wl,--gc-sections"; do
		if command -v "${compiler%% *}" > /dev/null; then
			check "$compiler $options: a marker is listed once" copies \
				"$compiler" "$options"
		else
			skip "$compiler $options: a marker is listed once" "it is not installed"
		fi
	done
	if command -v "${compiler%% *}" > /dev/null; then
		check "$compiler: discarded code takes its notes with it" groups "$compiler"
	else
		skip "$compiler: discarded code takes its notes with it" "it is not installed"
	fi
done

rejected()
{
	! "$built/elog" marker list "$1" > "$work/out" 2> "$work/err" &&
	cat "$work/err" && grep -F "$2" "$work/err" && [ ! -s "$work/out" ]
}

printf 'text' > "$work/text"
: > "$work/empty"
mkfifo "$work/fifo"
check "a text file is rejected" rejected "$work/text" "not an ELF file"
check "an empty file is rejected" rejected "$work/empty" "not an ELF file"
check "a pipe is rejected" rejected "$work/fifo" "not an ELF file"
check "a directory is rejected" rejected "$work/" "Is a directory"
check "a missing file is rejected" rejected "$work/none" "No such file"
check "a program without markers is rejected" rejected "$(command -v sh)" "no marker"

cat > "$work/forge.c" <<'SOURCE'
#include <elog_marker.h>
#line 1 "a\033[2Jb\nc.c"
int main(void)
{
	ELOG_MARKER(here);
	return 0;
}
SOURCE
forged()
{
	# shellcheck disable=SC2086 # several words
	(cd "$work" && ${CC:-gcc} $flags -c -o forge.o forge.c) &&
	[ "$("$built/elog" marker list -q "$work/forge.o" | tr -s ' ')" = \
		"trace - forge.o/here a?[2Jb?c.c:main:0" ]
}
check "names cannot forge output" forged

too_many()
{
	printf '%s\n' '.section .note.eventlog,"","note"' ".rept $1" '.4byte 9, 76, 1' \
		'.asciz "eventlog"' '.balign 4' '.zero 76' .endr |
		${CC:-gcc} -x assembler -c -o "$work/too_many.o" - &&
	rejected "$work/too_many.o" "$2"
}
check "too many notes are rejected" too_many 65537 "too many markers"
check "notes without addresses are ignored" too_many 65536 "no marker"

# Notes of other owners, types and sizes, and one that ends after the section.
foreign()
{
	printf '%s\n' '.section .note.eventlog,"","note"' '.4byte 9, 76, 3' \
		'.asciz "eventlog"' '.balign 4' '.zero 76' '.4byte 9, 72, 1' \
		'.asciz "eventlog"' '.balign 4' '.zero 72' '.4byte 9, 76, 1' \
		'.asciz "eventlo_"' '.balign 4' '.zero 76' "$1" |
		${CC:-gcc} -x assembler -c -o "$work/foreign.o" - &&
	rejected "$work/foreign.o" "$2"
}
check "foreign notes are ignored" foreign "" "no marker"
check "a note larger than its section is an error" foreign \
	'.4byte 9, 0xffffffff, 1; .asciz "eventlog"' "not an ELF file"

# Sparse files: 2^24 section headers, 2^24 segment headers, a huge data segment.
python3 -c '
import struct, sys
def elf(name, kind, shoff, shnum, phnum, more, size):
    with open(sys.argv[1] + "/" + name, "wb") as file:
        file.write(struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", kind, 62, 1, 0,
                               64 if phnum == 1 else 128, shoff, 0, 64, 56, phnum, 64,
                               shnum, 0))
        file.write(more)
        file.truncate(size)
count = 1 << 24
section = "<IIQQQQIIQQ"
elf("sections", 1, 64, 0, 0, struct.pack(section, 0, 0, 0, 0, 0, count, 0, 0, 0, 0),
    64 + count * 64)
elf("segments", 3, 64, 1, 0xffff, struct.pack(section, 0, 0, 0, 0, 0, 0, 0, count, 0, 0),
    128 + count * 56)
elf("data", 3, 0, 0, 1, struct.pack("<IIQQQQQQ", 1, 6, 0, 0, 0, 1 << 38, 1 << 38, 8), 1 << 38)
' "$work"
for file in sections segments data; do
	check "a file with large $file is rejected" rejected "$work/$file" "file too large"
done

# selects COUNT ARGUMENT...: the arguments select so many markers.
selects()
{
	count=$1
	shift
	[ "$("$built/elog" marker list -q "$work/library.so" "$@" | wc -l)" = "$count" ]
}
check "a tag selects markers" selects 3 first
check "a place selects a marker" selects 1 'many.c:one:1'
check "the name of another file selects no marker" selects 0 --module 'other*'

tree()
{
	"$built/elog" marker list --tree "$work/library.so" | diff - "$work/tree"
}
cat > "$work/tree" <<'TEXT'
library.so
  many.c
    inlined
      first (0, trace)
    one
      first (0, trace)
      second (1, trace)
      first (2, trace)
      third (3, trace)
TEXT
check "markers are listed as a tree" tree

# Truncated and mutated files, with the build that has sanitizers if it exists.
tester=$built/marker_file_test
[ ! -x "$top/build/tools.sanitized/marker_file_test" ] ||
	tester=$top/build/tools.sanitized/marker_file_test
for file in library.so object.o library_cc.so library32.so object32.o; do
	if [ -e "$work/$file" ]; then
		check "damaged: $file" "$tester" "$work/$file"
	else
		skip "damaged: $file" "it was not built"
	fi
done
end_checks
