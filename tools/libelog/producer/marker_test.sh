#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# marker_test - tests ELOG_MARKER without a kernel module: generated code, printing,
# places, threads and signal handlers. Prints TAP.
#
# EVENTLOG_TOOLS is the output of make -C tools (default: build/tools); CC and CXX are
# the compilers; clang and clang++ are used too if they are installed.
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
#include <elog_marker.h>
#include <stdio.h>

static int evaluated;

static int evaluate(void)
{
	return ++evaluated;
}

static void one(const char *text)
{
	char chars[4] = "abc";

	ELOG_MARKER(first, FIELD(auto, text), FIELD(auto, chars), FIELD(s8, -1));
	ELOG_MARKER(second, FIELD(u8, 511), FIELD(bool, 2), FIELD(u8, 1 + 1),
		    FIELD(u8, 1 + 1), FIELD(u8, evaluate()));
	ELOG_MARKER(first); ELOG_MARKER(third, FIELD(string, 0));
	ELOG_MARKER_SESSION(evaluate() + 0x1e, fourth, FIELD(u8, 3));
	ELOG_MARKER_SESSION(-1, fifth);
	ELOG_MARKER_SESSION(0, fifth);
}

int main(void)
{
	one("a \"b\"");
	printf("%d\n", evaluated);
	return 0;
}
SOURCE
cp "$work/many.c" "$work/many.cc"

cat > "$work/many.expected" <<'TEXT'
first many.SUFFIX:one:0: text="a \"b\"" chars="abc" _1=-1
second many.SUFFIX:one:1: _511=255 _2=1 _1_1=2 _1_1_2=2 evaluate=1
first_2 many.SUFFIX:one:2:
third many.SUFFIX:one:3: _0="(null)"
fourth many.SUFFIX:one:4: session=0x20 _3=3
fifth many.SUFFIX:one:5: session=0xffffffffffffffff
fifth_2 many.SUFFIX:one:6: session=0x0
TEXT

# The output is the same with every compiler.
prints()
{
	suffix=$3
	# shellcheck disable=SC2086 # several words
	(cd "$work" && $1 $2 $flags -o many "many.$suffix" -lelog) &&
	[ "$("$work/many" 2> "$work/errors")" = 0 ] && [ ! -s "$work/errors" ] &&
	[ "$(ELOG_MARKERS='*=print' "$work/many" 2> "$work/errors")" = 2 ] &&
	sed "s/SUFFIX/$suffix/" "$work/many.expected" | diff - "$work/errors"
}

# compiled COMPILER FLAGS SUFFIX
compiled()
{
	name=$(basename "${1%% *}")
	if command -v "${1%% *}" > /dev/null; then
		check "$name $2" prints "$1" "$2" "$3"
	else
		skip "$name $2" "$1 is not installed"
	fi
}

for compiler in "${CC:-gcc}" clang; do
	for std in gnu89 c99 c11 gnu17; do
		compiled "$compiler" "-std=$std" c
	done
	compiled "$compiler" "-std=c11 -O0 -fPIE -pie -Wpedantic" c
done
for compiler in "${CXX:-g++}" clang++; do
	compiled "$compiler" -std=c++11 cc
	compiled "$compiler" "-std=c++17 -O0 -Wpedantic" cc
done

# The program contains the library.
statically()
{
	# shellcheck disable=SC2046,SC2086 # several words
	(cd "$work" && ${CC:-gcc} $flags -o many many.c "$built/libelog.a" \
		$(sed -n 's/^Libs.private: //p' "$built/libelog.pc")) &&
	ELOG_MARKERS='*=print' "$work/many" 2> "$work/errors" &&
	sed "s/SUFFIX/c/" "$work/many.expected" | diff - "$work/errors"
}
check "linked with libelog.a" statically

# The linker removes unreferenced sections.
collected()
{
	# shellcheck disable=SC2086 # several words
	(cd "$work" && $1 $flags -ffunction-sections -fdata-sections -fuse-ld="$2" \
		-Wl,--gc-sections -o many many.c -lelog) &&
	ELOG_MARKERS='*=print' "$work/many" 2> "$work/errors" &&
	sed "s/SUFFIX/c/" "$work/many.expected" | diff - "$work/errors"
}

# Older compilers lack the attribute that keeps a section.
retains()
{
	printf '%s\n' '#if !__has_attribute(__retain__)' '#error' '#endif' |
		$1 -fsyntax-only -x c - 2> /dev/null
}

for compiler in "${CC:-gcc}" clang; do
	for linker in bfd lld; do
		name="$(basename "${compiler%% *}"), $linker: markers survive --gc-sections"
		if command -v "${compiler%% *}" > /dev/null &&
		   command -v "ld.$linker" > /dev/null && retains "$compiler"; then
			check "$name" collected "$compiler" "$linker"
		else
			skip "$name" "compiler or linker is not installed"
		fi
	done
done

# C++: in templates and inline functions a variable cannot choose its section.
cat > "$work/plus.cc" <<'SOURCE'
#include <elog_marker.h>

enum class Colour : short { red, green };
enum class Below : signed char { cellar = -2 };
enum class Above : unsigned char { attic = 254 };
enum Plain { minus = -1, plus = 1 };

template <class T> inline T shown(T value)
{
	ELOG_MARKER(shown, FIELD(auto, value));
	return value;
}

struct Thing {
	Colour colour;
	int method(const int &reference) const
	{
		ELOG_MARKER(method, FIELD(auto, reference), FIELD(auto, colour));
		return reference;
	}
};

inline int inlined(int value)
{
	ELOG_MARKER(inlined, FIELD(auto, value));
	return value;
}

int main()
{
	auto lambda = [] (unsigned char c) { ELOG_MARKER(lambda, FIELD(auto, c)); };

	lambda(200);
	ELOG_MARKER(levels, FIELD(auto, Below::cellar), FIELD(auto, Above::attic),
		    FIELD(auto, minus));
	return shown(1) - shown('\2') + Thing{Colour::green}.method(3) - inlined(2);
}
SOURCE
cat > "$work/plus.expected" <<'TEXT'
lambda plus.cc:operator():0: c=200
levels plus.cc:main:0: Below_cellar=-2 Above_attic=254 minus=-1
shown plus.cc:shown:0: value=1
shown plus.cc:shown:0: value=2
method plus.cc:method:0: reference=3 colour=1
inlined plus.cc:inlined:0: value=2
TEXT

templates()
{
	# shellcheck disable=SC2086 # several words
	(cd "$work" && $1 -std=c++11 $flags -o plus plus.cc -lelog) &&
	ELOG_MARKERS='*=print' "$work/plus" 2> "$work/errors" &&
	sort "$work/plus.expected" > "$work/sorted" &&
	sed 's/^shown_2 /shown /' "$work/errors" | sort | diff "$work/sorted" -
}

for compiler in "${CXX:-g++}" clang++; do
	if command -v "${compiler%% *}" > /dev/null; then
		check "$compiler: templates, methods, inline functions" templates "$compiler"
	else
		skip "$compiler: templates, methods, inline functions" "it is not installed"
	fi
done

# A disabled marker loads an address, tests the byte there, and branches.
one_branch()
{
	cat > "$work/branch.c" <<'SOURCE'
#include <elog_marker.h>
void passes(int value);
void passes(int value)
{
	ELOG_MARKER(here, FIELD(auto, value));
}
SOURCE
	# shellcheck disable=SC2086 # several words
	${CC:-gcc} $flags -c -o "$work/branch.o" "$work/branch.c" &&
	objdump -d --no-show-raw-insn "$work/branch.o" |
	awk '/<passes>:$/ { inside = 1; next }
		inside && /[[:space:]]ret/ { exit }
		inside { print }' > "$work/code" &&
	cat "$work/code" &&
	[ "$(grep -cE '[[:space:]]j[a-z]+ ' "$work/code")" = 1 ] &&
	[ "$(grep -cv endbr64 "$work/code")" = 3 ] &&
	! grep -E '[[:space:]](call|push|sub)' "$work/code"
}
if [ "$(uname -m)" = x86_64 ]; then
	check "a disabled marker is three instructions, one of them a branch" one_branch
else
	skip "a disabled marker is three instructions, one of them a branch" "not x86"
fi

compiled_out()
{
	# shellcheck disable=SC2086 # several words
	${CC:-gcc} -DELOG_NO_MARKERS $flags -c -o "$work/out.o" "$work/branch.c" &&
	! nm "$work/out.o" | grep -E 'elog_marker_(fire|enabled_slow)|constructor' &&
	! objdump -h "$work/out.o" | grep -E 'elog_markers|init_array'
}
check "ELOG_NO_MARKERS removes all code" compiled_out

# Changes of other code do not change a marker's place and id.
stable()
{
	cat > "$work/before.c" <<'SOURCE'
#include <elog_marker.h>
static void other(void)
{
}
int main(void)
{
	ELOG_MARKER(here);
	other();
	ELOG_MARKER(there);
	return 0;
}
SOURCE
	sed -e 's/^{$/{\n\tint unrelated = 1;\n\n\t(void)unrelated;/' \
		-e '0,/unrelated;$/s//unrelated; ELOG_MARKER(new);/' \
		-e 's/^static/\n\n\nint early;\nvoid first(void);\nvoid first(void)\n{\n\tELOG_MARKER(here);\n}\n\nstatic/' \
		"$work/before.c" > "$work/after.c"
	! cmp -s "$work/before.c" "$work/after.c" || return 1
	for edition in before after; do
		mkdir -p "$work/$edition/build"
		cp "$work/$edition.c" "$work/$edition/main.c"
		# shellcheck disable=SC2086 # several words
		(cd "$work/$edition/build" && ${CC:-gcc} $flags -o main ../main.c -lelog) &&
		ELOG_MARKERS='*:main:*=print' "$work/$edition/build/main" \
			2> "$work/$edition.places" || return 1
	done
	printf '%s\n' 'here main.c:main:0:' 'there main.c:main:1:' | diff - "$work/before.places" &&
	sed 's/^here_2/here/' "$work/after.places" | diff - "$work/before.places"
}
check "places stay when other code changes" stable

cat > "$work/local.c" <<'SOURCE'
#include <stdio.h>
#include <elog.h>
struct elog_marker;
static void see(const struct elog_marker *marker, const uint64_t *values, void *context);
#ifdef OVERRIDE
#define ELOG_LOCAL_MARKERS_HANDLER see
#endif
#define ELOG_ENABLE_LOCAL_MARKERS
#include <elog_marker.h>
static void see(const struct elog_marker *marker, const uint64_t *values, void *context)
{
	printf("%s %lld %llu %d %llu\n", elog_marker_place(marker), (long long)values[0],
	       (unsigned long long)values[1], context != NULL,
	       (unsigned long long)elog_marker_session(marker, values));
}
int main(void)
{
	int context;
	ELOG_MARKER(here, FIELD(s8, 255), FIELD(u8, -1));
	elog_markers_probe(see, &context);
	if (elog_markers_switch("*:main:*", ELOG_MARKER_PROBE) != 2 ||
	    elog_markers_switch("no such", ELOG_MARKER_PROBE) ||
	    elog_markers_switch("*", 8) != -EINVAL)
		return 1;
	ELOG_MARKER_SESSION(9, there, FIELD(s32, -3), FIELD(u32, -3));
	return 0;
}
SOURCE
sed -i '1i #include <errno.h>' "$work/local.c"

enabled_locally()
{
	# shellcheck disable=SC2086 # several words
	(cd "$work" && ${CC:-gcc} $1 $flags -o local local.c -lelog) &&
	"$work/local" > "$work/output" 2> "$work/errors" &&
	diff - "$work/output"
}
check "a file's markers print, a probe is called" enabled_locally "" <<'TEXT'
local.c:main:1 -3 4294967293 1 9
TEXT
check "the printed values are right" grep -x 'here local.c:main:0: _255=-1 _1=255' "$work/errors"
check "a file overrides the handler of its markers" enabled_locally -DOVERRIDE <<'TEXT'
local.c:main:0 -1 255 0 0
local.c:main:1 -3 4294967293 0 9
TEXT

# Python computes the same hash.
hash_is_known()
{
	cat > "$work/hash.c" <<'SOURCE'
#include <inttypes.h>
#include <stdio.h>
#include <elog_marker.h>
static void see(const struct elog_marker *marker, const uint64_t *values, void *context)
{
	(void)values;
	(void)context;
	printf("%" PRIu64 " %s\n", elog_marker_id(marker), elog_marker_place(marker));
}
int main(void)
{
	elog_markers_probe(see, NULL);
	elog_markers_switch("*", ELOG_MARKER_PROBE);
	ELOG_MARKER(here);
	ELOG_MARKER(there);
	return 0;
}
SOURCE
	# shellcheck disable=SC2086 # several words
	(cd "$work" && ${CC:-gcc} $flags -o hash hash.c -lelog) &&
	"$work/hash" | python3 -c '
import sys
lines = sys.stdin.read().splitlines()
assert len(lines) == 2
for line in lines:
    number, place = line.split(" ", 1)
    value = 0xcbf29ce484222325
    for byte in place.encode():
        value = (value ^ byte) * 0x100000001b3 % 2**64
    assert value == int(number), line
'
}
check "an id is the hash of the place" hash_is_known

# A library with markers is loaded and unloaded while threads fire other markers.
cat > "$work/plugin.c" <<'SOURCE'
#include <elog_marker.h>
int plugin(int value);
int plugin(int value)
{
	ELOG_MARKER(plugged, FIELD(auto, value));
	return value;
}
SOURCE
cp "$work/plugin.c" "$work/plugin_cc.cc"
sed -i 's/^int plugin(int value)/extern "C" &/' "$work/plugin_cc.cc"
cat > "$work/host.c" <<'SOURCE'
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <elog_marker.h>

static unsigned long fired, plugged, moved;
static const char *places[2];
static int over;

static void see(const struct elog_marker *marker, const uint64_t *values, void *context)
{
	(void)values;
	(void)context;
	if (marker->text[1] == 'l') {
		const char **place = &places[plugged % 2];

		moved += *place && *place != elog_marker_place(marker);
		*place = elog_marker_place(marker);
	}
	__atomic_fetch_add(marker->text[1] == 'l' ? &plugged : &fired, 1, __ATOMIC_RELAXED);
}

static void *pass(void *unused)
{
	int value = 0;

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
		ELOG_MARKER(passed, FIELD(auto, value++), FIELD(string, "text"));
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];
	int i, status;

	elog_markers_probe(see, NULL);
	elog_markers_switch("p*", ELOG_MARKER_PROBE | ELOG_MARKER_TRACE);
	elog_markers_switch("passed", ELOG_MARKER_PROBE);
	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, pass, NULL);
	/* Wait for the threads: on a busy machine they could start too late. */
	while (!__atomic_load_n(&fired, __ATOMIC_RELAXED))
		sched_yield();
	for (i = 0; i < 200; i++) {
		void *library = dlopen(argv[1 + i % (argc - 1)], RTLD_NOW | RTLD_LOCAL);
		int (*plugin)(int) = library ? (int (*)(int))dlsym(library, "plugin") : NULL;
		pid_t child;

		if (!plugin || plugin(i) != i)
			return 1;
		elog_markers_switch("passed", i % 2 ? ELOG_MARKER_PROBE : 0);
		if (i % 20 == 0) {
			child = fork();
			if (!child) {
				plugin(i);
				elog_markers_switch("plugged", 0);
				plugin(i);
				_exit(plugged == (unsigned long)i + 2 ? 0 : 1);
			}
			if (waitpid(child, &status, 0) != child || status)
				return 2;
		}
		if (dlclose(library) || dlopen(argv[1 + i % (argc - 1)], RTLD_NOW | RTLD_NOLOAD))
			return 3;
	}
	__atomic_store_n(&over, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("%lu %d %lu\n", plugged, fired > 0, moved);
	return 0;
}
SOURCE

libraries()
{
	# shellcheck disable=SC2086 # several words
	(cd "$work" && ${CC:-gcc} $flags -fPIC -shared -o plugin.so plugin.c -lelog &&
		${CXX:-g++} $flags -fPIC -shared -o plugin_cc.so plugin_cc.cc -lelog &&
		${CC:-gcc} $1 $flags -Wno-pedantic -pthread -o host host.c -lelog -ldl) &&
	"$work/host" "$work/plugin.so" "$work/plugin_cc.so" > "$work/output" &&
	[ "$(cat "$work/output")" = "200 1 0" ]
}
check "libraries are loaded and unloaded while threads run and fork" libraries ""

# libelog.so stays loaded when the plugin that loaded it is unloaded.
stays()
{
	cat > "$work/loader.c" <<'SOURCE'
#include <dlfcn.h>
#include <stddef.h>
int main(int argc, char **argv)
{
	void *library, *stays = NULL, *now;
	int i;

	for (i = 0; i < 20; i++) {
		library = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
		if (!library || !dlsym(library, "plugin") || dlclose(library))
			return 1;
		if (dlopen(argv[argc - 1], RTLD_NOW | RTLD_NOLOAD))
			return 2;
		library = dlopen("libelog.so.0", RTLD_NOW | RTLD_NOLOAD);
		if (!library)
			return 3;
		now = dlsym(library, "elog_marker_fire");
		if (!now || (stays && stays != now) || dlclose(library))
			return 4;
		stays = now;
	}
	return 0;
}
SOURCE
	# shellcheck disable=SC2086 # several words
	(cd "$work" && ${CC:-gcc} $flags -fPIC -shared -o plugin.so plugin.c -lelog &&
		${CC:-gcc} -O2 -Wall -Wextra -Werror -o loader loader.c -ldl) &&
	"$work/loader" "$work/plugin.so"
}
check "the library stays loaded when a plugin is unloaded" stays

# A program exits while its threads run: the last destructor waits until they have
# executed markers that are already unregistered.
cat > "$work/exit.c" <<'SOURCE'
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <elog_marker.h>

#define THREADS 4
#define PASSES 20000

static unsigned long passed[THREADS];
static int counted;

static void see(const struct elog_marker *marker, const uint64_t *values, void *context)
{
	(void)marker;
	(void)values;
	(void)context;
}

static void *pass(void *argument)
{
	unsigned long *count = (unsigned long *)argument;

	for (;;) {
		ELOG_MARKER(one, FIELD(auto, *count), FIELD(string, "text"));
		ELOG_MARKER(two);
		ELOG_MARKER(three, FIELD(u8, *count));
		__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void wait_for_more(void)
{
	unsigned long before;
	int i;

	for (i = 0; i < THREADS; i++) {
		before = __atomic_load_n(&passed[i], __ATOMIC_RELAXED);
		while (__atomic_load_n(&passed[i], __ATOMIC_RELAXED) - before < PASSES)
			sched_yield();
	}
}

static void __attribute__((destructor(101))) last(void)
{
	if (counted)
		wait_for_more();
}

int main(void)
{
	pthread_t threads[THREADS];
	int i;

	elog_markers_probe(see, NULL);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, pass, &passed[i]))
			return 1;
	wait_for_more();
	counted = 1;
	exit(0);
}
SOURCE
cp "$work/exit.c" "$work/exit.cc"

# ends COMPILER SUFFIX
ends()
{
	# shellcheck disable=SC2086 # several words
	(cd "$work" && $1 $flags -pthread -o exit "exit.$2" -lelog) || return 1
	for handlers in trace print probe trace+print+probe; do
		for _ in 1 2 3; do
			MALLOC_PERTURB_=165 ELOG_MARKERS="*=$handlers" "$work/exit" \
				2> "$work/errors" || return 1
		done
	done
}
check "threads execute markers while the program exits" ends "${CC:-gcc}" c
if command -v "${CXX:-g++}" > /dev/null; then
	check "threads execute markers while a C++ program exits" ends "${CXX:-g++}" cc
else
	skip "threads execute markers while a C++ program exits" "${CXX:-g++} is not installed"
fi

# Probes that execute a marker themselves, each with a context of its own.
probes()
{
	cat > "$work/probe.c" <<'SOURCE'
#include <pthread.h>
#include <elog_marker.h>
static int of_first, of_second, wrong, over;
static unsigned long calls;
static void marked(void)
{
	ELOG_MARKER(inner);
}
static void first(const struct elog_marker *marker, const uint64_t *values, void *context)
{
	(void)marker;
	(void)values;
	marked();
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	if (context != &of_first)
		__atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
}
static void second(const struct elog_marker *marker, const uint64_t *values, void *context)
{
	(void)marker;
	(void)values;
	marked();
	if (context != &of_second)
		__atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
}
static void *pass(void *unused)
{
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
		marked();
	return unused;
}
int main(void)
{
	pthread_t threads[2];
	int i;

	elog_markers_probe(first, &of_first);
	elog_markers_switch("*", ELOG_MARKER_PROBE);
	marked();
	marked();
	if (calls != 2)
		return 1;
	for (i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, pass, NULL))
			return 2;
	for (i = 0; i < 500000; i++)
		elog_markers_probe(i % 2 ? first : second, i % 2 ? &of_first : &of_second);
	__atomic_store_n(&over, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return wrong ? 3 : 0;
}
SOURCE
	# shellcheck disable=SC2086 # several words
	(cd "$work" && ${CC:-gcc} $flags -pthread -o probe probe.c -lelog) &&
	"$work/probe"
}
check "a probe may execute markers and gets its own context" probes

limited()
{
	cat > "$work/limit.c" <<'SOURCE'
#include <elog_marker.h>
int main(void)
{
	int i;
	for (i = 0; i < 5000; i++)
		ELOG_MARKER(here, FIELD(auto, i));
	return 0;
}
SOURCE
	# shellcheck disable=SC2086 # several words
	(cd "$work" && ${CC:-gcc} $flags -o limit limit.c -lelog) &&
	ELOG_MARKERS=here=print "$work/limit" 2> "$work/errors" &&
	head -n 1 "$work/errors" | grep 'i=0' && [ "$(wc -l < "$work/errors")" -lt 5000 ]
}
check "printing is rate-limited" limited

# Tags of the maximum length that differ only at the end.
numbered()
{
	long=$(printf '%051d' 0 | tr 0 a)
	{
		printf '#include <elog_marker.h>\nint main(void)\n{\n'
		for end in b c b c; do
			printf '\tELOG_MARKER(%s%s);\n' "$long" $end
		done
		printf '\treturn 0;\n}\n'
	} > "$work/numbered.c"
	# shellcheck disable=SC2086 # several words
	(cd "$work" && ${CC:-gcc} $flags -o numbered numbered.c -lelog) &&
	ELOG_MARKERS='*=print' "$work/numbered" 2> "$work/errors" &&
	printf "$long%s\n" b c b_2 c_2 > "$work/numbered.expected" &&
	cut -d ' ' -f 1 "$work/errors" | diff - "$work/numbered.expected"
}
check "truncated names are unique" numbered

# Signal handlers must not allocate memory; the second marker does not fit on a line.
in_handlers()
{
	cat > "$work/handler.c" <<'SOURCE'
#include <elog_marker.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t handling;
static char longest[4000];

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

static void forbid(void)
{
	if (handling)
		_exit(9);
}

void *malloc(size_t size)
{
	forbid();
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	forbid();
	return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	forbid();
	return __libc_realloc(memory, size);
}

void free(void *memory)
{
	forbid();
	__libc_free(memory);
}

static void handle(int number)
{
	handling = 1;
	ELOG_MARKER(handled, FIELD(auto, number), FIELD(s64, -1), FIELD(ptr, 0),
		    FIELD(string, "a\nb"));
	ELOG_MARKER(cut, FIELD(string, longest), FIELD(string, longest),
		    FIELD(string, longest), FIELD(string, longest), FIELD(u8, 1));
	handling = 0;
}

int main(void)
{
	memset(longest, 'x', sizeof(longest) - 1);
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
	return 0;
}
SOURCE
	# shellcheck disable=SC2086 # several words
	(cd "$work" && ${CC:-gcc} $flags -fno-builtin -o handler handler.c -lelog) &&
	ELOG_MARKERS='*=print' "$work/handler" 2> "$work/errors" &&
	grep -Fx 'handled handler.c:handle:0: number=10 _1=-1 _0=0x0 a_nb="a\nb"' "$work/errors" &&
	[ "$(wc -l < "$work/errors")" = 2 ] &&
	[ "$(sed -n 2p "$work/errors" | wc -c)" -le 2048 ] &&
	sed -n '2{/^cut .*xxx"[^"]*\.\.\.$/p}' "$work/errors" | grep -q .
}
check "a signal handler can print" in_handlers

# Static probes (USDT): notes with a semaphore for each tag; values are evaluated once,
# and only while a tracer has set the semaphore.
cat > "$work/usdt.c" <<'SOURCE'
#define ELOG_MARKER_USDT
#include <elog_marker.h>
#include <stdio.h>

extern volatile unsigned short of_twice __asm__("elog_twice_semaphore")
	__attribute__((__visibility__("hidden")));
static int evaluated;

static int evaluate(int value)
{
	evaluated++;
	return value;
}

#ifdef __cplusplus
template <class T> inline T shown(T value)
{
	ELOG_MARKER(shown, FIELD(auto, value));
	return value;
}
#define SHOWN (shown(0) + shown('\0'))
#else
#define SHOWN 0
#endif

static void pass(const char *text)
{
	ELOG_MARKER(none);
	ELOG_MARKER(twice, FIELD(auto, text), FIELD(s32, evaluate(-1)));
	ELOG_MARKER(twice, FIELD(auto, evaluate(2)));
	ELOG_MARKER(many, FIELD(u8, 1), FIELD(u8, 2), FIELD(u8, 3), FIELD(u8, 4),
		    FIELD(u8, 5), FIELD(u8, 6), FIELD(u8, 7), FIELD(u8, 8), FIELD(u8, 9),
		    FIELD(u8, 10), FIELD(u8, 11), FIELD(u8, 12), FIELD(u8, 13),
		    FIELD(u8, 14), FIELD(u8, 15), FIELD(u8, evaluate(16)));
}

int main(void)
{
	pass("text");
	printf("%d", evaluated);
	of_twice = 1;
	pass("text");
	of_twice = 0;
	pass("text");
	printf(" %d\n", evaluated);
	return SHOWN;
}
SOURCE
cp "$work/usdt.c" "$work/usdt.cc"
printf '%s\n' 'none 0' 'twice 2' 'twice 1' 'many 12' | sort > "$work/usdt.expected"

# usdt COMPILER OPTIONS SUFFIX
usdt()
{
	# shellcheck disable=SC2086 # several words
	(cd "$work" && $1 $flags $2 -o usdt "usdt.$3" -lelog) &&
	[ "$("$work/usdt")" = "0 2" ] &&
	[ "$(ELOG_MARKERS='*=print' "$work/usdt" 2> "$work/errors")" = "3 9" ] &&
	grep 'twice_2 usdt[.].*:pass:2: evaluate_2=2' "$work/errors" &&
	readelf -nW "$work/usdt" > "$work/notes" && cat "$work/notes" &&
	awk '/Provider:/ { provider = $NF } /Name:/ { name = $2 }
		/Semaphore: 0x0*$/ { exit 1 }
		/Arguments:/ && provider == "elog" { print name, NF - 1 }' "$work/notes" |
		grep -v ^shown | sort -u | sed 's/ *$//' > "$work/probes" &&
	sort -u "$work/usdt.expected" | diff - "$work/probes"
}
usdt_compiled()
{
	name="$(basename "${1%% *}") $2: static probes"
	if ! echo '#include <sys/sdt.h>' | ${CC:-gcc} -E - > /dev/null 2>&1 ||
	   ! command -v "${1%% *}" > /dev/null; then
		skip "$name" "the compiler or <sys/sdt.h> is not installed"
	else
		check "$name" usdt "$1" "$2" "$3"
	fi
}

for options in "" "-std=gnu89 -O0" "-fPIE -pie -flto"; do
	usdt_compiled "${CC:-gcc}" "$options" c
done
usdt_compiled clang "" c
usdt_compiled clang -O0 c
usdt_compiled "${CXX:-g++}" "" cc
usdt_compiled "${CXX:-g++}" "-std=c++11 -O0" cc
usdt_compiled clang++ "" cc

bad_values()
{
	for text in ',' = '==,' x '*' '*=' '*=nothing' '=print' 'here=print+' ',,here=+'; do
		ELOG_MARKERS=$text "$work/limit" 2> "$work/errors" || return 1
	done
}
check "bad values of ELOG_MARKERS do no harm" bad_values
end_checks
