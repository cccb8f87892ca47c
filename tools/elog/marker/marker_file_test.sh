#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# marker_file_test - elog marker list FILE: what different compilers and linkers
# make, of several architectures; files that are broken. Prints TAP.
#
# EVENTLOG_TOOLS is what make -C tools built (default: build/tools), or one that has
# sanitizers beside it; CC and CXX compile; clang and lld as well, where there are such.
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
	ELOG_MARKER(first); ELOG_MARKER(third);
}

int main(void)
{
	one("text");
	return inlined(shown(0)) + inlined(shown('\0'));
}
SOURCE
cp "$work/many.c" "$work/many.cc"

# What a file's markers are: event, place, types and names of fields.
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
                                    for field in marker["fields"]))
' < "$work/json" | sort
}

# expect SUFFIX LONG: of many.SUFFIX, LONG being the type of unsigned long.
expect()
{
	{
		cat <<TEXT
first many.$1:inlined:0 s32:value
first_2 many.$1:one:0 string:text s8:_1
first_3 many.$1:one:2
second many.$1:one:1 u8:_2 u8:_1_1 u8:_1_1_2 u64:here $2:_1UL
third many.$1:one:3
TEXT
		if [ "$1" = cc ]; then
			echo "shown many.cc:shown:0 s32:value"
			echo "shown_2 many.cc:shown:0 s8:value"
		fi
	} | sort
}

# What of that may be otherwise: which instance of a template comes first.
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

# And what a program prints that runs is what was said before it did; the C library
# does not load what only newer ones load.
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
			skip "$name" "there is no such compiler, or linker"
		else
			check "$name" linked "$name" "$compiler" "$suffix" "$how"
		fi
	done <<'HOW'
-fPIE -pie
-fno-pie -no-pie
-fPIE -pie -s -Wl,--gc-sections
-fPIE -pie -fuse-ld=lld
-fPIE -pie -fuse-ld=lld -Wl,--pack-dyn-relocs=relr
HOW
done

# What is never run. Small ones, for they are cut off at every place.
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
	check "a library, C++" library "${CXX:-g++}" cc library_cc.so "-fPIC -shared $alone" u64
	check "an object, C++" library "${CXX:-g++}" cc object_cc.o "-c" u64
else
	skip "a library, C++" "there is no compiler"
	skip "an object, C++" "there is no compiler"
fi
# The headers are those that belong to this compiler otherwise.
m32="-m32 -idirafter /usr/include/$(${CC:-gcc} -print-multiarch)"
# shellcheck disable=SC2086 # several words
if echo '#include <elog_marker.h>' |
   ${CC:-gcc} $m32 -I"$top/tools/libelog/include" -I"$top/uapi" -fsyntax-only -x c - 2> /dev/null
then
	check "a 32-bit library" library "${CC:-gcc}" c library32.so "$m32 -fPIC -shared $alone" u32
	check "a 32-bit object" library "${CC:-gcc}" c object32.o "$m32 -c" u32
else
	skip "a 32-bit library" "no 32-bit programs can be made"
	skip "a 32-bit object" "no 32-bit programs can be made"
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
		skip "a library of $name" "there is no compiler"
		skip "an object of $name" "there is no compiler"
	fi
done

refused()
{
	! "$built/elog" marker list "$1" > "$work/out" 2> "$work/err" &&
	cat "$work/err" && grep -F "$2" "$work/err" && [ ! -s "$work/out" ]
}

printf 'nonsense' > "$work/nonsense"
: > "$work/empty"
mkfifo "$work/fifo"
check "no ELF file" refused "$work/nonsense" "no ELF file"
check "an empty file" refused "$work/empty" "no ELF file"
check "a pipe" refused "$work/fifo" "no ELF file"
check "a directory" refused "$work/" "Is a directory"
check "a file that is not there" refused "$work/none" "No such file"
check "a program without markers" refused "$(command -v sh)" "no marker"

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
check "names forge nothing" forged

too_many()
{
	printf '.data\n.rept 65537\n.quad 0x656c6f676d6b7231\n.endr\n' |
		${CC:-gcc} -x assembler -c -o "$work/too_many.o" - &&
	refused "$work/too_many.o" "too many markers"
}
check "more markers than there can be" too_many

# Sparse files, whose size costs nothing: 2^24 headers of sections, of segments; data.
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
	check "a large file, of $file" refused "$work/$file" "too large a file"
done

chosen()
{
	[ "$("$built/elog" marker list -q "$work/library.so" "$@" | wc -l)" = "$wanted" ]
}
wanted=3
check "a tag" chosen first
wanted=1
check "a place" chosen 'many.c:one:1'
wanted=0
check "another file's name" chosen --module 'other*'

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
check "a tree" tree

# Cut off, changed: by what has sanitizers, if it has been built.
tester=$built/marker_file_test
[ ! -x "$top/build/tools.sanitized/marker_file_test" ] ||
	tester=$top/build/tools.sanitized/marker_file_test
for file in library.so object.o library_cc.so library32.so object32.o; do
	if [ -e "$work/$file" ]; then
		check "broken: $file" "$tester" "$work/$file"
	else
		skip "broken: $file" "it could not be made"
	fi
done
end_checks
