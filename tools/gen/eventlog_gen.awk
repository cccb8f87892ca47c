# SPDX-License-Identifier: GPL-2.0-only
#
# eventlog_gen.awk - writes headers, or the canonical text, for an event schema.
#
# elog_schema(5) describes the language. libelog parses it as well, and accepts the same
# schemas, except that only this program rejects names that are not possible in C, and
# values that a header cannot have.
#
# It must run with any POSIX awk and in any locale, with the same output. Therefore
# characters are looked up in strings instead of ranges, and numbers are strings of
# digits, because a double has 53 bits. The encoding is checked in the output of od(1),
# because some awks read characters, and others end a line at a NUL.
#
# Parsed values are in arrays indexed by SIDE: "new" or, with -k, "old".
#
# Longer than 900 lines because it is installed as a single file: awk has no includes.

function usage() {
	return "usage: eventlog-gen -p|-u|-c|-d|-t [-o OUT] FILE\n" \
		"       eventlog-gen -k OLD NEW\n" \
		"\n" \
		"  -p       print the header for the provider, which is kernel code\n" \
		"  -u       print the header for a program that is the provider, C or C++\n" \
		"  -c       print the header for consumers, C or C++ in user space\n" \
		"  -d       print functions that turn payloads into text, C or C++ in user space\n" \
		"  -t       print the canonical text\n" \
		"  -k       check that NEW is compatible with OLD\n" \
		"  -o OUT   write to this file, which changes only if there is no error\n" \
		"  -h       print this\n"
}

# ---- errors ----

function stop_usage(message) {
	print "eventlog-gen: " message > "/dev/stderr"
	printf "%s", usage() > "/dev/stderr"
	exit 2
}

function report_error(line, message) {
	print FILE ":" line ": " message > "/dev/stderr"
	if (++ERRORS < 20)
		return
	print FILE ":" line ": found 20 errors, expected none: giving up" > "/dev/stderr"
	exit 1
}

function expected(line, found, what) {
	report_error(line, "found " found ", expected " what)
}

# ---- characters ----

function begin_characters(   i) {
	LOWER = "abcdefghijklmnopqrstuvwxyz"
	UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	DIGITS = "0123456789"
	HEX = "0123456789abcdef"
	PRINTABLE = UPPER LOWER DIGITS "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	CONTROL = "\001\002\003\004\005\006\007\010\012\013\014\015\016\017\020\021" \
		"\022\023\024\025\026\027\030\031\032\033\034\035\036\037\177"
	NAME_PATTERN = "^[" UPPER LOWER "_][" UPPER LOWER DIGITS "_]*$"
	PROVIDER_PATTERN = "^[" UPPER LOWER "_][" UPPER LOWER DIGITS "_.-]*$"
}

function translate(text, from, to,   i, c, at, result) {
	result = ""
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		at = index(from, c)
		result = result (at ? substr(to, at, 1) : c)
	}
	return result
}

function upper(text) {
	return translate(text, LOWER, UPPER)
}

# A text as a C string.
function c_string(text,   i, c, last, result) {
	result = last = ""
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		if (c == "\t")
			result = result "\\t"
		else if (c == "\"" || c == "\\" || (c == "?" && last == "?"))
			result = result "\\" c
		else
			result = result c
		last = c
	}
	return "\"" result "\""
}

# A text as part of a comment, without the ends of comments and without trigraphs.
function c_comment(text,   i, c, pair, last, result) {
	result = last = ""
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		if (c == "\t")
			c = " "
		pair = last c
		if (pair == "*/" || pair == "/*" || pair == "??")
			result = result " "
		result = result c
		last = c
	}
	return result
}

# A text as a string of the schema language.
function schema_string(text,   i, c, result) {
	result = ""
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		result = result (c == "\"" || c == "\\" ? "\\" : "") c
	}
	return "\"" result "\""
}

# ---- numbers: 16 hexadecimal digits ----

# If the result is "", NUMBER_WRONG has the reason.
function number(text,   digits) {
	NUMBER_WRONG = "a number"
	digits = ""
	if (substr(text, 1, 2) == "0x") {
		digits = translate(substr(text, 3), UPPER, LOWER)
		if (digits !~ ("^[" HEX "]+$"))
			return ""
		sub(/^0+/, "", digits)
		NUMBER_WRONG = "a number of at most 64 bits"
		if (length(digits) > 16)
			return ""
		return substr("0000000000000000" digits, length(digits) + 1)
	}
	if (text != "0" && text !~ ("^[123456789][" DIGITS "]*$"))
		return ""
	NUMBER_WRONG = "a number of at most 64 bits"
	if (length(text) > 20 ||
	    (length(text) == 20 && ("x" text) > "x18446744073709551615"))
		return ""
	return from_decimal(text)
}

# A number that may be negative: the result is its absolute value, NEGATIVE its sign.
function signed_number(text,   value) {
	NEGATIVE = 0
	if (substr(text, 1, 1) != "-")
		return number(text)
	NEGATIVE = 1
	NUMBER_WRONG = "a number"
	if (text !~ ("^-[123456789][" DIGITS "]*$"))
		return ""
	value = number(substr(text, 2))
	if (("x" value) > "x8000000000000000")
		return ""
	return value
}

function from_decimal(text,   d, i, k, carry, result) {
	for (i = 1; i <= 16; i++)
		d[i] = 0
	for (k = 1; k <= length(text); k++) {
		carry = index(DIGITS, substr(text, k, 1)) - 1
		for (i = 16; i >= 1; i--) {
			carry += d[i] * 10
			d[i] = carry % 16
			carry = int(carry / 16)
		}
	}
	result = ""
	for (i = 1; i <= 16; i++)
		result = result substr(HEX, d[i] + 1, 1)
	return result
}

function to_decimal(value,   d, i, k, carry, result) {
	for (i = 1; i <= 20; i++)
		d[i] = 0
	for (k = 1; k <= 16; k++) {
		carry = index(HEX, substr(value, k, 1)) - 1
		for (i = 20; i >= 1; i--) {
			carry += d[i] * 16
			d[i] = carry % 10
			carry = int(carry / 10)
		}
	}
	result = ""
	for (i = 1; i <= 20; i++)
		result = result substr(DIGITS, d[i] + 1, 1)
	sub(/^0+/, "", result)
	return result == "" ? "0" : result
}

function to_hex(value) {
	sub(/^0+/, "", value)
	return "0x" (value == "" ? "0" : value)
}

# Two's complement.
function negate(value,   i, carry, result) {
	carry = 1
	result = ""
	for (i = 16; i >= 1; i--) {
		carry += 16 - index(HEX, substr(value, i, 1))
		result = substr(HEX, carry % 16 + 1, 1) result
		carry = int(carry / 16)
	}
	return result
}

# Bitwise or if BOTH is 0, bitwise and if it is 1.
function bits(one, other, both,   i, k, a, b, digit, result) {
	result = ""
	for (i = 1; i <= 16; i++) {
		a = index(HEX, substr(one, i, 1)) - 1
		b = index(HEX, substr(other, i, 1)) - 1
		digit = 0
		for (k = 8; k >= 1; k /= 2) {
			if ((a >= k) + (b >= k) > both)
				digit += k
			a %= k
			b %= k
		}
		result = result substr(HEX, digit + 1, 1)
	}
	return result
}

function larger(one, other) {
	return ("x" one) > ("x" other)
}

# ---- names ----

function begin_names(   i, n, word, words) {
	n = split("alignas alignof and and_eq asm auto bitand bitor bool break case " \
		"catch char char16_t char32_t char8_t class co_await co_return " \
		"co_yield compl concept const const_cast consteval constexpr " \
		"constinit continue contract_assert decltype default delete do double " \
		"dynamic_cast else enum explicit export extern false float for friend " \
		"goto if inline int long mutable namespace new noexcept not not_eq " \
		"nullptr operator or or_eq private protected public register " \
		"reinterpret_cast requires restrict return short signed sizeof static " \
		"static_assert static_cast struct switch template this thread_local " \
		"throw true try typedef typeid typename typeof typeof_unqual union " \
		"unsigned using virtual void volatile wchar_t while xor xor_eq " \
		"_Alignas _Alignof _Atomic _BitInt _Bool _Complex _Decimal128 " \
		"_Decimal32 _Decimal64 _Generic _Imaginary _Noreturn _Static_assert " \
		"_Thread_local", words, " ")
	for (i = 1; i <= n; i++)
		C_KEYWORD[words[i]] = 1

	# Possible macros of compilers and of headers of C libraries.
	n = split("errno stdin stdout stderr unix linux i386 arm mips sparc sun vax hpux " \
		"NULL EOF I FILE BUFSIZ NAN INFINITY NDEBUG assert complex imaginary " \
		"noreturn offsetof major minor makedev setjmp va_start va_arg va_end " \
		"h_errno h_addr s6_addr s6_addr16 s6_addr32 st_atime st_mtime st_ctime " \
		"sa_handler sa_sigaction sched_priority math_errhandling " \
		"sigev_notify_function sigev_notify_attributes si_addr si_addr_lsb " \
		"si_arch si_band si_call_addr si_fd si_int si_lower si_overrun si_pid " \
		"si_pkey si_ptr si_status si_stime si_syscall si_timerid si_uid " \
		"si_upper si_utime si_value", words, " ")
	for (i = 1; i <= n; i++)
		C_MACRO[words[i]] = 1

	# Names of the API's headers that a generated name could equal.
	n = split("callback_lost callback_register callback_rule_add " \
		"callback_rule_delete callback_unregister copy_chars delivery_copy " \
		"describe emitted info list name marker marker_fire marker_function marker_local " \
		"marker_nothing marker_override marker_probe_register marker_probe_unregister " \
		"marker_unit marker_value " \
		"markers_status module_markers part_bytes part_length part_place part_string " \
		"provider_emit " \
		"provider_emit_parts provider_register provider_unregister " \
		"ABI_VERSION ATTACH_CYCLES ASSERT ASSERT_AT ASSERT_SIZE CALLBACK_DEPTH CALLBACK_NMI " \
		"COMMAND_MAX CONTEXT_HARDIRQ CONTEXT_NMI CONTEXT_SOFTIRQ CONTEXT_TASK " \
		"CPU_UNKNOWN DEFAULT_PROVIDER FIELD_NAME_MAX DESCRIBED_ENABLED " \
		"DESCRIBED_LIVE DESCRIBED_PERSIST DESCRIBED_INCOMPATIBLE " \
		"DESCRIBED_KERNEL DESCRIBED_PRINT DESCRIBED_PROBE DEVICE " \
		"FEATURE_TRACE FIELDS_MAX GLOB_MAX " \
		"FILTER_GET_INCOMPATIBLE FILTER_POOL_MAX FILTER_TEXT_MAX PROGRAM_PREFIX " \
		"POLICIES_MAX IOC IOC_ATTACH IOC_DELETE IOC_DETACH " \
		"IOC_DESCRIBE IOC_FLUSH IOC_LIST LIST_ALIGN LIST_DEFINITIONS LIST_INSTANCES " \
		"FEATURE_INSTANCES INSTANCES_MAX INSTANCE_NAME_MAX INSTANCE_TRACE " \
		"IOC_INSTANCE_CREATE IOC_INSTANCE_DELETE IOC_INSTANCE_OPEN " \
		"IOC_FILTER_GET IOC_MARKER_HANDLERS IOC_MARKER_SET " \
		"LIST_MARKERS LIST_NAMES LIST_POLICIES LIST_REGISTRATIONS LOCKED_TERMS_MAX " \
		"IOC_PAUSE IOC_REGISTER IOC_RULE_ADD IOC_RULE_DEL " \
		"IOC_INFO IOC_STAT IOC_SUBSCRIBE IOC_TYPE IOC_UNREGISTER " \
		"ATTRIBUTE_END ATTRIBUTE_START LEVEL_CRITICAL LEVEL_DEBUG LEVEL_ERROR LEVEL_INFO LEVEL_NOTICE " \
		"LEVEL_VERBOSE LEVEL_WARNING LOST_ABORTED LOST_CAUSES LOST_DEPTH " \
		"LOST_GUARD LOST_NESTED LOST_NO_MEMORY LOST_NO_ROOM LOST_PAUSED " \
		"LOST_TOO_LARGE MAPPED_ASK_ENDED MAPPED_ASK_KICK MAPPED_ASK_LEAVE " \
		"MAPPED_BYTES_MAX MAPPED_BYTES_MIN MAPPED_MAGIC MAPPED_RINGS_MAX MARKER_OP_ADD MARKER_PRINT " \
		"MARKER_PROBE MARKER_OP_REMOVE " \
		"MARKER_OP_REPLACE MARKER_SET_ID MARKER_SET_PROGRAMS MARKER_TRACE " \
		"NAMES_MAX NAME_MAX PAYLOAD_MAX " \
		"QUOTAS QUOTAS_MAX QUOTA_DEFINITIONS QUOTA_EVENTS QUOTA_REGISTRATIONS " \
		"QUOTA_RETAINED_BYTES QUOTA_RINGS QUOTA_RING_BYTES QUOTA_TRACE_BYTES " \
		"RECORD_FLAG_ADJUSTED RECORD_ALIGN RECORD_CONTEXT_MASK " \
		"RECORD_FLAG_MAPPED RECORD_CONTEXT_SHIFT RECORD_EVENT RECORD_LOST " \
		"RECORD_PADDING RECORD_SIZE_MASK RECORD_TYPE_MASK " \
		"RECORD_TYPE_SHIFT REGISTER_PERSIST REGISTER_SESSION RINGS_ALL " \
		"RING_BYTES_MAX RING_MAGIC RING_OVERWRITE RING_SPLIT RULE_PID " \
		"RULE_SESSION STATUS_ENABLED STATUS_FILTER STATUS_PRINT STATUS_PROBE " \
		"STATUS_SYNC SUBSCRIBE_MAPPED SUBSCRIBE_OVERWRITE " \
		"SYNC_CALLBACK SYNC_FILTER SYNC_RINGS SYNC_TRACER SUB_BUFFER_UNCOUNTED " \
		"SUB_BUFFERS_MAX TERMS_MAX FILTER_ACCEPT TERM_SIZE_MIN TERM_OP_BEGINS " \
		"TERM_OP_BEGINS_NOT TERM_OP_BITS TERM_BOOL TERM_COMMON TERM_OP_EQUAL " \
		"TERM_OP_GREATER TERM_OP_GREATER_EQUAL TERM_OP_LESS TERM_OP_LESS_EQUAL " \
		"TERM_NEGATIVE TERM_OP_NOT_EQUAL TERM_NUMBER FILTER_REJECT TERM_OP_SET " \
		"TERM_STRING TERM_STRING_MAX TERM_IPV4 TERM_IPV6 WRITE_BATCH WRITE_KICK " \
		"REGISTER_SCHEMA SCHEMA_MAX FEATURE_LEAVE IOC_LEAVE IOC_MISSED LEAVE_LINGER LEAVE_PRODUCERS " \
		"LEAVE_SUBSCRIBERS LOST_AWAY STATUS_LEAVE FEATURE_CGROUP RULE_CGROUP FEATURE_SESSIONS " \
		"STATUS_SESSION LOST_QUOTA LOST_LATE LOST_UNMAPPED WRITE_SESSION SESSION_LISTENED " \
		"MAPPED_LATE MAPPED_LATE_MAX", words, " ")
	for (i = 1; i <= n; i++) {
		word = (index(UPPER, substr(words[i], 1, 1)) ? "EVENTLOG_" : "eventlog_") words[i]
		USED[word] = "<linux/eventlog.h> does"
	}
	# Tags of structs and enums have a name space of their own.
	n = split("attach attribute callback callback_rule context definition delete delivery " \
		"describe detach element event field filter filter_get flush info " \
		"instance_create instance_delete instance_info instance_open leave level list list_kind lost " \
		"lost_counts marker marker_handlers marker_info marker_operation marker_probe marker_set " \
		"policy_info registration_info write_session marker_type mapped_header mapped_late " \
		"mapped_record " \
		"markers missed part pause predicate provider quota " \
		"provider_event provider_info record record_type register ring_consumer " \
		"ring_header rule rule_delete set stat sub_buffer subscribe subscriber term term_operation " \
		"unregister user_quota value", words, " ")
	for (i = 1; i <= n; i++)
		USED["tag eventlog_" words[i]] = "<linux/eventlog.h> does"
}

# Checks a name that C code uses.
function check_c_name(line, name, what) {
	if (name in C_KEYWORD)
		expected(line, "'" name "', a keyword of C or C++", "another name for " what)
	else if (substr(name, 1, 2) == "__")
		expected(line, "'" name "', which C keeps for itself", "another name for " what)
}

# Reserves a name in the headers. Returns 1 if it was free.
function make_name(line, name, what,   plain) {
	if (!(name in USED)) {
		USED[name] = what " does (line " line ")"
		return 1
	}
	plain = name
	sub(/^tag /, "", plain)
	expected(line, what ", which gives '" plain "' as " USED[name], "another name")
	return 0
}

# The same for PREFIX, and for PREFIX followed by each word of ENDS.
function make_names(line, prefix, ends, what,   i, n, end) {
	if (!make_name(line, prefix, what))
		return 0
	n = split(ends, end, " ")
	for (i = 1; i <= n; i++)
		if (!make_name(line, prefix end[i], what))
			return 0
	return 1
}

# ---- words of a line: COUNT, WORD[], QUOTED[] ----

function split_line(line, n,   i, c, end, word) {
	COUNT = 0
	for (;;) {
		sub(/^[ \t]+/, "", line)
		if (line == "" || substr(line, 1, 1) == "#")
			return 1
		WORD[++COUNT] = ""
		QUOTED[COUNT] = substr(line, 1, 1) == "\""
		if (QUOTED[COUNT]) {
			end = split_string(line, n)
			if (!end)
				return 0
			line = substr(line, end + 1)
			continue
		}
		end = match(line, /[ \t#"]/) ? RSTART : length(line) + 1
		word = substr(line, 1, end - 1)
		for (i = 1; i < end; i++) {
			if (index(PRINTABLE, substr(word, i, 1)))
				continue
			expected(n, "a character that is not printable ASCII",
				"names, numbers, and strings in double quotes")
			return 0
		}
		WORD[COUNT] = word
		line = substr(line, end)
	}
}

# The position of the closing quote, or 0.
function split_string(line, n,   i, c, text) {
	text = ""
	for (i = 2; i <= length(line); i++) {
		c = substr(line, i, 1)
		if (c == "\"") {
			WORD[COUNT] = text
			return i
		}
		if (c == "\\") {
			c = substr(line, ++i, 1)
			if (c != "\"" && c != "\\") {
				expected(n, "a backslash", "\\\" or \\\\ in a string")
				return 0
			}
		}
		if (index(CONTROL, c)) {
			expected(n, "a control character", "a string of text")
			return 0
		}
		text = text c
	}
	expected(n, "the end of the line", "a double quote at the end of the string")
	return 0
}

function found_word(i) {
	if (i > COUNT)
		return "the end of the line"
	return QUOTED[i] ? "the string " schema_string(WORD[i]) : "'" WORD[i] "'"
}

# Word I as a name, or "".
function take_name(n, i, what, pattern) {
	if (i > COUNT || QUOTED[i] || WORD[i] !~ pattern) {
		expected(n, found_word(i), "the name of " what)
		return ""
	}
	if (length(WORD[i]) > 63) {
		expected(n, "a name of " length(WORD[i]) " characters", "at most 63")
		return ""
	}
	return WORD[i]
}

# Word I as a number, or "".
function take_number(n, i, what,   value) {
	value = ""
	if (i <= COUNT && !QUOTED[i])
		value = number(WORD[i])
	else
		NUMBER_WRONG = "a number"
	if (value == "")
		expected(n, found_word(i), what ", " NUMBER_WRONG)
	return value
}

# Word I as a description, which must be the last word.
function take_description(n, i,   text) {
	text = ""
	if (i <= COUNT && QUOTED[i])
		text = WORD[i++]
	if (i <= COUNT)
		expected(n, found_word(i), QUOTED[i - 1] && i > 1 ? "the end of the line" : \
			"a description in double quotes, or the end of the line")
	return text
}

# ---- statements ----

function begin_types(   i, n, word, part) {
	# name, bytes, parameter, member in the kernel, member in user space
	n = split("u8/1/u8/u8/__u8 u16/2/u16/u16/__u16 u32/4/u32/u32/__u32 " \
		"u64/8/u64/u64/__u64 s8/1/s8/s8/__s8 s16/2/s16/s16/__s16 " \
		"s32/4/s32/s32/__s32 s64/8/s64/s64/__s64 bool/1/bool/u8/__u8 " \
		"string/4/const_char_*/u32/__u32 bytes/4/const_void_*/u32/__u32 " \
		"ipv4/4/__be32/__be32/__be32 " \
		"ipv6/16/const_struct_in6_addr_*/struct_in6_addr/__u8 " \
		"port/2/u16/__be16/__be16 mac/6/const_u8_*/u8/__u8 " \
		"time/8/u64/u64/__u64 duration/8/u64/u64/__u64 " \
		"ptr/8/const_void_*/u64/__u64 char[]/0/const_char_*/char/char " \
		"u8[]/0/const_u8_*/u8/__u8 struct/0/const_void_*/u8/__u8", word, " ")
	for (i = 1; i <= n; i++) {
		split(word[i], part, "/")
		SIZE[part[1]] = part[2] + 0
		PARAMETER[part[1]] = spaced(part[3])
		MEMBER[part[1]] = spaced(part[4])
		CONSUMER[part[1]] = spaced(part[5])
	}
	n = split("8 16 32 64", word, " ")
	split("00000000000000ff 000000000000ffff 00000000ffffffff ffffffffffffffff", part, " ")
	for (i = 1; i <= n; i++) {
		LARGEST["u" word[i]] = part[i]
		LOWEST["u" word[i]] = "0000000000000000"
	}
	split("000000000000007f 0000000000007fff 000000007fffffff 7fffffffffffffff", part, " ")
	for (i = 1; i <= n; i++)
		LARGEST["s" word[i]] = part[i]
	split("0000000000000080 0000000000008000 0000000080000000 8000000000000000", part, " ")
	for (i = 1; i <= n; i++)
		LOWEST["s" word[i]] = part[i]
	SESSION_TYPE = "u64 "
	n = split("critical error warning notice info debug verbose", word, " ")
	for (i = 1; i <= n; i++)
		LEVEL[word[i]] = i
}

function spaced(text,   prefix) {
	prefix = ""
	if (substr(text, 1, 2) == "__") {
		prefix = "__"
		text = substr(text, 3)
	}
	if (text ~ /in6_addr/) {
		sub(/struct_in6_addr/, "struct in6_addr", text)
		sub(/const_/, "const ", text)
		sub(/_\*/, " *", text)
	} else {
		gsub(/_/, " ", text)
	}
	return prefix text
}

function add_item(kind, i) {
	ITEM[SIDE, ++ITEMS[SIDE]] = kind
	ITEM_AT[SIDE, ITEMS[SIDE]] = i
}

function parse_version(n) {
	STARTED = 1
	if (QUOTED[1] || WORD[1] != "eventlog") {
		expected(n, found_word(1), "'eventlog 1', which a schema begins with")
		# Continue with the next line.
		return 0
	}
	if (COUNT < 2 || QUOTED[2] || number(WORD[2]) != "0000000000000001") {
		expected(n, found_word(2), "1, the version of the language")
		if (COUNT >= 2 && !QUOTED[2] && number(WORD[2]) != "")
			exit 1
	} else if (COUNT > 2) {
		expected(n, found_word(3), "the end of the line")
	}
	return 1
}

function parse_provider(n,   name) {
	PROVIDERS[SIDE]++
	if (PROVIDERS[SIDE] > 1)
		expected(n, "a second provider", "one in a file")
	name = take_name(n, 2, "a provider", PROVIDER_PATTERN)
	if (PROVIDERS[SIDE] == 1) {
		PROVIDER[SIDE] = name
		PROVIDER_LINE[SIDE] = n
		PROVIDER_TEXT[SIDE] = take_description(n, 3)
		C = translate(name, ".-", "__")
		if (name != "") {
			make_names(n, "eventlog_" C, "_keyword_table _set_table _event_table",
				"provider " name)
			make_names(n, "EVENTLOG_" upper(C) "_H", "", "provider " name)
			make_names(n, "EVENTLOG_" upper(C) "_DEFINE", "D", "provider " name)
			make_names(n, "EVENTLOG_" upper(C) "_CONSUMER_H", "", "provider " name)
			make_names(n, "EVENTLOG_" upper(C) "_PROVIDER", "", "provider " name)
			make_names(n, "EVENTLOG_" upper(C) "_TEXT_H", "", "provider " name)
			if (MODE == "-u")
				make_names(n, "eventlog_" C "_", "register unregister disabled_byte",
					"provider " name)
		}
		C = "eventlog_" C "_"
	}
}

function parse_keyword(n,   i, k, name, mask) {
	i = ++KEYWORDS[SIDE]
	add_item("keyword", i)
	name = take_name(n, 2, "a keyword", NAME_PATTERN)
	mask = ""
	if (name != "")
		mask = take_number(n, 3, "the keyword's mask")
	if (mask == "0000000000000000") {
		expected(n, "a mask of no bit", "a mask of one bit or several")
		mask = ""
	}
	KEYWORD_TEXT[SIDE, i] = ""
	if (mask != "")
		KEYWORD_TEXT[SIDE, i] = take_description(n, 4)
	KEYWORD[SIDE, i] = name
	KEYWORD_MASK[SIDE, i] = mask
	KEYWORD_LINE[SIDE, i] = n
	if (name == "")
		return
	if ((SIDE, name) in KEYWORD_AT) {
		expected(n, "keyword " name " again, as in line " \
			KEYWORD_LINE[SIDE, KEYWORD_AT[SIDE, name]], "another name")
		return
	}
	KEYWORD_AT[SIDE, name] = i
	make_name(n, upper(C "keyword_" name), "keyword " name)
	if (mask == "")
		return
	if (bits(KEYWORD_BITS[SIDE], mask, 1) != "0000000000000000") {
		for (k = 1; k < i; k++)
			if (KEYWORD_MASK[SIDE, k] != "" && \
			    bits(KEYWORD_MASK[SIDE, k], mask, 1) != "0000000000000000")
				break
		expected(n, "mask " to_hex(mask) " of keyword " name, "bits that keyword " \
			KEYWORD[SIDE, k] " has not (line " KEYWORD_LINE[SIDE, k] ")")
		return
	}
	KEYWORD_BITS[SIDE] = bits(KEYWORD_BITS[SIDE], mask, 0)
}

function parse_set(n, flags,   i, name, what) {
	i = ++SETS[SIDE]
	add_item("set", i)
	IN_SET = i
	what = flags ? "a flags type" : "an enum"
	name = take_name(n, 2, what, NAME_PATTERN)
	SET_TEXT[SIDE, i] = name == "" ? "" : take_description(n, 3)
	SET[SIDE, i] = name
	SET_FLAGS[SIDE, i] = flags
	SET_LINE[SIDE, i] = n
	MEMBERS[SIDE, i] = 0
	SET_LARGEST[SIDE, i] = SET_LOWEST[SIDE, i] = "0000000000000000"
	if (name == "")
		return
	check_c_name(n, name, what)
	if ((SIDE, name) in SET_AT) {
		expected(n, "'" name "' again, as in line " SET_LINE[SIDE, SET_AT[SIDE, name]],
			"another name for " what)
		return
	}
	SET_AT[SIDE, name] = i
	make_name(n, "tag " C name, what " " name)
	make_name(n, C name "_value_table", what " " name)
}

function parse_member(n,   s, i, flags, value, bits64, name, text) {
	s = IN_SET
	flags = SET_FLAGS[SIDE, s]
	value = bits64 = ""
	NEGATIVE = 0
	if (flags) {
		value = bits64 = take_number(n, 1, "a flag's mask")
	} else {
		NUMBER_WRONG = "a number"
		if (!QUOTED[1])
			value = signed_number(WORD[1])
		if (value == "")
			expected(n, found_word(1), "a value, " NUMBER_WRONG)
		else
			bits64 = NEGATIVE ? negate(value) : value
	}
	if (value == "")
		return
	name = take_name(n, 2, "a value", NAME_PATTERN)
	if (name == "")
		return
	text = take_description(n, 3)
	check_c_name(n, name, "a value")
	if ((SIDE, s, name) in MEMBER_AT) {
		expected(n, "'" name "' again, as in line " \
			MEMBER_LINE[SIDE, s, MEMBER_AT[SIDE, s, name]], "another name for a value")
		return
	}
	if ((SIDE, s, bits64) in MEMBER_OF) {
		i = MEMBER_OF[SIDE, s, bits64]
		expected(n, WORD[1] " again, which is " MEMBER_NAME[SIDE, s, i] " (line " \
			MEMBER_LINE[SIDE, s, i] ")", "another value")
		return
	}
	i = ++MEMBERS[SIDE, s]
	MEMBER_AT[SIDE, s, name] = i
	MEMBER_OF[SIDE, s, bits64] = i
	MEMBER_NAME[SIDE, s, i] = name
	MEMBER_LINE[SIDE, s, i] = n
	MEMBER_TEXT[SIDE, s, i] = text
	if (flags)
		MEMBER_VALUE[SIDE, s, i] = to_hex(value)
	else
		MEMBER_VALUE[SIDE, s, i] = (NEGATIVE ? "-" : "") to_decimal(value)
	if (NEGATIVE && larger(value, SET_LOWEST[SIDE, s])) {
		SET_LOWEST[SIDE, s] = value
		SET_LOWEST_NAME[SIDE, s] = name
	}
	if (!NEGATIVE && larger(value, SET_LARGEST[SIDE, s])) {
		SET_LARGEST[SIDE, s] = value
		SET_LARGEST_NAME[SIDE, s] = name
	}
	if (SET[SIDE, s] != "")
		make_name(n, upper(C SET[SIDE, s] "_" name), "value " name)
}

# An event's keywords: sets EVENT_MASK, and EVENT_KEYWORDS in canonical form.
function parse_keywords(n, i,   k, list, count, mask, text, value) {
	text = ""
	mask = "0000000000000000"
	if (COUNT < 5 || QUOTED[5]) {
		expected(n, found_word(5), "the event's keywords, or - for none")
	} else if (WORD[5] == "-") {
		text = "-"
	} else {
		count = split(WORD[5], list, ",")
		for (k = 1; k <= count; k++) {
			value = length(list[k]) > 63 ? "" : number(list[k])
			if (value != "") {
				list[k] = to_hex(value)
			} else if ((SIDE, list[k]) in KEYWORD_AT) {
				value = KEYWORD_MASK[SIDE, KEYWORD_AT[SIDE, list[k]]]
			} else {
				expected(n, "'" list[k] "'", "a keyword defined above, " \
					(count == 1 ? "a mask, or - for none" : "or a mask"))
				list[k] = "-"
			}
			if (value != "")
				mask = bits(mask, value, 0)
			text = text (k > 1 ? "," : "") list[k]
		}
	}
	EVENT_KEYWORDS[SIDE, i] = text
	EVENT_MASK[SIDE, i] = mask
	return text != ""
}

function parse_event(n,   i, id, name, text, level, number_text) {
	i = ++EVENTS[SIDE]
	add_item("event", i)
	IN_EVENT = i
	EVENT[SIDE, i] = EVENT_TEXT[SIDE, i] = EVENT_ID[SIDE, i] = EVENT_ATTRIBUTE[SIDE, i] = ""
	EVENT_LINE[SIDE, i] = n
	FIELDS[SIDE, i] = EVENT_SIZE[SIDE, i] = DYNAMIC[SIDE, i] = 0
	TOO_MANY = TOO_LARGE = 0
	id = take_number(n, 2, "the event's id")
	if (id == "0000000000000000" || larger(id, "00000000ffffffff"))
		expected(n, found_word(2), "an id from 1 to 4294967295")
	else if (id != "")
		EVENT_ID[SIDE, i] = to_decimal(id)
	if (id == "")
		return
	name = take_name(n, 3, "an event", NAME_PATTERN)
	EVENT[SIDE, i] = name
	if (name == "")
		return
	check_c_name(n, name, "an event")
	if ((SIDE, name) in EVENT_AT) {
		expected(n, "event " name " again, as in line " \
			EVENT_LINE[SIDE, EVENT_AT[SIDE, name]], "another name")
	} else {
		EVENT_AT[SIDE, name] = i
		if (make_names(n, C name, "_enabled _event _field_table", "event " name) && \
		    make_name(n, "tag " C name "_fields", "event " name))
			make_names(n, upper(C "event_" name), "_NAME _LEVEL _KEYWORDS",
				"event " name)
		if (MODE == "-u")
			make_names(n, C name "_", "emit schema", "event " name)
		if (MODE == "-d")
			make_names(n, C name "_text", "", "event " name)
	}
	number_text = EVENT_ID[SIDE, i]
	if (number_text != "" && (SIDE, number_text) in EVENT_OF)
		expected(n, "id " number_text " again, as in line " \
			EVENT_LINE[SIDE, EVENT_OF[SIDE, number_text]], "another id")
	else if (number_text != "")
		EVENT_OF[SIDE, number_text] = i
	if (COUNT < 4 || QUOTED[4] || !(WORD[4] in LEVEL)) {
		expected(n, found_word(4), "a level: critical, error, warning, notice, info, debug or verbose")
		return
	}
	EVENT_LEVEL[SIDE, i] = WORD[4]
	if (!parse_keywords(n, i))
		return
	if (COUNT >= 6 && !QUOTED[6]) {
		if (WORD[6] != "start" && WORD[6] != "end") {
			expected(n, found_word(6), "start, end, a description or the end of the line")
			return
		}
		EVENT_ATTRIBUTE[SIDE, i] = WORD[6]
	}
	EVENT_TEXT[SIDE, i] = take_description(n, EVENT_ATTRIBUTE[SIDE, i] == "" ? 6 : 7)
}

# The size in brackets, or after the last colon, of a type; or 0.
function take_size(n, text,   value) {
	value = number(text)
	if (value == "" || value == "0000000000000000" || larger(value, "0000000000010000")) {
		expected(n, "'" text "'", "a size from 1 to 65536")
		return 0
	}
	return to_decimal(value) + 0
}

# enum:NAME:INT and flags:NAME:INT
function parse_set_type(n, text, flags,   colon, name, integer, at, what) {
	what = flags ? "flags" : "enum"
	name = substr(text, length(what) + 2)
	colon = index(name, ":")
	if (!colon) {
		expected(n, "'" text "'", "an integer type at its end, as in " what ":NAME:u32")
		return 0
	}
	integer = substr(name, colon + 1)
	name = substr(name, 1, colon - 1)
	if (!(integer in LARGEST) || (flags && substr(integer, 1, 1) == "s")) {
		expected(n, "'" integer "'", flags ? "u8, u16, u32 or u64" : \
			"u8, u16, u32, u64, s8, s16, s32 or s64")
		return 0
	}
	if (!((SIDE, name) in SET_AT) || SET_FLAGS[SIDE, SET_AT[SIDE, name]] != flags) {
		expected(n, "'" name "'", flags ? "a flags type defined above" : "an enum defined above")
		return 0
	}
	at = SET_AT[SIDE, name]
	if (larger(SET_LARGEST[SIDE, at], LARGEST[integer])) {
		expected(n, SET_LARGEST_NAME[SIDE, at] " of " what " " name ", which does not fit " \
			integer, "a larger type")
		return 0
	}
	if (larger(SET_LOWEST[SIDE, at], LOWEST[integer])) {
		expected(n, SET_LOWEST_NAME[SIDE, at] " of " what " " name ", which does not fit " \
			integer, substr(integer, 1, 1) == "u" ? "a signed type" : "a larger type")
		return 0
	}
	KIND = integer
	BYTES = SIZE[integer]
	return 1
}

# Sets KIND, an index of PARAMETER[], BYTES, and TYPE in canonical form.
function parse_type(n,   text, cut, name) {
	text = TYPE = WORD[1]
	if (QUOTED[1]) {
		expected(n, found_word(1), "a type")
		return 0
	}
	if (text == "string:rel" || text == "bytes:rel") {
		expected(n, "'" text "', which is for processes' events only",
			"'" substr(text, 1, length(text) - 4) "'")
		return 0
	}
	if ((text in SIZE) && SIZE[text]) {
		KIND = text
		BYTES = SIZE[text]
		return 1
	}
	if (substr(text, 1, 5) == "enum:")
		return parse_set_type(n, text, 0)
	if (substr(text, 1, 6) == "flags:")
		return parse_set_type(n, text, 1)
	if (substr(text, 1, 7) == "struct:") {
		name = substr(text, 8)
		cut = index(name, ":")
		if (!cut) {
			expected(n, "'" text "'", "a size at its end, as in struct:NAME:16")
			return 0
		}
		BYTES = substr(name, cut + 1)
		name = substr(name, 1, cut - 1)
		if (name !~ NAME_PATTERN || length(name) > 63) {
			expected(n, "'" name "'", "the name of a struct")
			return 0
		}
		KIND = "struct"
		BYTES = take_size(n, BYTES)
		TYPE = "struct:" name ":" BYTES
		return BYTES > 0
	}
	cut = index(text, "[")
	if (cut && substr(text, length(text)) == "]") {
		name = substr(text, 1, cut - 1)
		if (name != "char" && name != "u8") {
			expected(n, "an array of '" name "'", "char or u8")
			return 0
		}
		KIND = name "[]"
		BYTES = take_size(n, substr(text, cut + 1, length(text) - cut - 1))
		TYPE = name "[" BYTES "]"
		return BYTES > 0
	}
	expected(n, found_word(1), "a type, see elog_schema(5)")
	return 0
}

function parse_field(n,   e, i, name, next_word, display, text) {
	e = IN_EVENT
	if (FIELDS[SIDE, e] == 256) {
		if (!TOO_MANY)
			expected(n, "a field more of event " EVENT[SIDE, e], "at most 256")
		TOO_MANY = 1
		return
	}
	if (!parse_type(n))
		return
	name = take_name(n, 2, "a field", NAME_PATTERN)
	if (name == "")
		return
	next_word = 3
	display = ""
	if (COUNT >= 3 && !QUOTED[3]) {
		if (WORD[3] != "as") {
			expected(n, found_word(3), "as, or a description in double quotes")
			return
		}
		if (COUNT < 4 || QUOTED[4] || (WORD[4] != "dec" && WORD[4] != "hex")) {
			expected(n, found_word(4), "dec or hex")
			return
		}
		display = WORD[4]
		next_word = 5
	}
	text = take_description(n, next_word)
	check_c_name(n, name, "a field")
	if (name in C_MACRO)
		expected(n, "'" name "', which may be a macro in user space",
			"another name for a field")
	if ((SIDE, e, name) in FIELD_AT) {
		expected(n, "field " name " again, as in line " \
			FIELD_LINE[SIDE, e, FIELD_AT[SIDE, e, name]], "another name")
		return
	}
	# The parameters of bytes FIELD are FIELD_ and FIELD_size_.
	if (KIND == "bytes" && (SIDE, e, name "_size") in FIELD_AT)
		expected(n, "field " name ", whose size collides with field " name "_size",
			"another name")
	i = name
	if (sub(/_size$/, "", i) && (SIDE, e, i) in FIELD_AT && \
	    FIELD_KIND[SIDE, e, FIELD_AT[SIDE, e, i]] == "bytes")
		expected(n, "field " name ", which collides with the size of field " i,
			"another name")
	i = ++FIELDS[SIDE, e]
	FIELD_AT[SIDE, e, name] = i
	FIELD[SIDE, e, i] = name
	FIELD_LINE[SIDE, e, i] = n
	FIELD_TYPE[SIDE, e, i] = TYPE
	FIELD_KIND[SIDE, e, i] = KIND
	FIELD_BYTES[SIDE, e, i] = BYTES
	FIELD_DISPLAY[SIDE, e, i] = display
	FIELD_TEXT[SIDE, e, i] = text
	if (KIND == "string" || KIND == "bytes")
		DYNAMIC[SIDE, e]++
	EVENT_SIZE[SIDE, e] += BYTES
	if (EVENT_SIZE[SIDE, e] > 65536) {
		if (!TOO_LARGE)
			expected(n, "a fixed part of " EVENT_SIZE[SIDE, e] " bytes", "at most 65536")
		TOO_LARGE = 1
	}
}

function parse_statement(n, indented,   word) {
	if (!STARTED && parse_version(n))
		return
	word = WORD[1]
	if (indented) {
		if (IN_SET)
			parse_member(n)
		else if (IN_EVENT)
			parse_field(n)
		else
			expected(n, "an indented line", "an enum, flags or event above it")
		return
	}
	IN_SET = IN_EVENT = 0
	if (QUOTED[1] || (word != "provider" && word != "keyword" && word != "enum" && \
	    word != "flags" && word != "event")) {
		if (n != FIRST)
			expected(n, found_word(1), "provider, keyword, enum, flags or event")
		return
	}
	if (word == "provider") {
		parse_provider(n)
		return
	}
	if (!PROVIDERS[SIDE]) {
		expected(n, found_word(1), "a provider above it")
		PROVIDERS[SIDE] = 1
		PROVIDER[SIDE] = ""
		C = "eventlog__"
	}
	if (word == "keyword")
		parse_keyword(n)
	else if (word == "event")
		parse_event(n)
	else
		parse_set(n, word == "flags")
}

# ---- files ----

# Reports lines that are not UTF-8, or have a NUL or a C1 control character.
function check_encoding(file,   command, line, n, b, i, count, left, low, high, bad, name) {
	name = file
	gsub(/'/, "'\\''", name)
	command = "LC_ALL=C od -An -v -tu1 < '" name "'"
	n = 1
	left = bad = 0
	low = 128
	high = 191
	while ((command | getline line) > 0) {
		count = split(line, b, " ")
		for (i = 1; i <= count; i++) {
			b[i] += 0
			if (left && b[i] >= low && b[i] <= high) {
				left--
				low = 128
				high = 191
				continue
			}
			if (left)
				bad = 1
			left = 0
			low = 128
			high = 191
			if (b[i] == 0 || (b[i] >= 128 && b[i] < 194) || b[i] > 244) {
				bad = 1
			} else if (b[i] >= 194) {
				left = b[i] < 224 ? 1 : b[i] < 240 ? 2 : 3
				if (b[i] == 194 || b[i] == 224)
					low = 160
				else if (b[i] == 237)
					high = 159
				else if (b[i] == 240)
					low = 144
				else if (b[i] == 244)
					high = 143
			} else if (b[i] == 10) {
				if (bad)
					expected(n, "bytes that are no text", "UTF-8")
				bad = 0
				n++
			}
		}
	}
	close(command)
	if (bad || left)
		expected(n, "bytes that are no text", "UTF-8")
	return !ERRORS
}

function parse_file(file, side,   line, n, status, whole) {
	FILE = file
	SIDE = side
	STARTED = FIRST = IN_SET = IN_EVENT = 0
	PROVIDERS[side] = KEYWORDS[side] = SETS[side] = EVENTS[side] = ITEMS[side] = 0
	KEYWORD_BITS[side] = "0000000000000000"
	status = (getline line < file)
	if (status < 0) {
		print "eventlog-gen: cannot read " file > "/dev/stderr"
		exit 2
	}
	if (!check_encoding(file))
		exit 1
	n = 0
	for (; status > 0; status = (getline line < file)) {
		n++
		sub(/\r$/, "", line)
		whole = split_line(line, n)
		if (!STARTED && (COUNT || !whole))
			FIRST = n
		if (!whole)
			STARTED = 1
		if (!whole || !COUNT)
			continue
		parse_statement(n, index(" \t", substr(line, 1, 1)))
	}
	close(file)
	if (ERRORS)
		exit 1
	if (!STARTED)
		expected(n + 1, "the end of the file", "'eventlog 1', which a schema begins with")
	else if (!PROVIDERS[side])
		expected(n + 1, "the end of the file", "a provider")
	else if (!EVENTS[side])
		expected(n + 1, "the end of the file", "an event of provider " PROVIDER[side])
	if (ERRORS)
		exit 1
}

# ---- canonical text ----

function described(text) {
	return text == "" ? "" : " " schema_string(text)
}

# Prints a line of the canonical text, as a C string if QUOTE is set.
function print_line(line, quote) {
	if (quote) {
		line = c_string(line)
		line = "\t" substr(line, 1, length(line) - 1) "\\n\""
	}
	print line
}

# Prints the canonical text, or what describes event ONLY if that is not 0.
function print_text(only,   i, k, kind, at) {
	print_line("eventlog 1", only)
	print_line("provider " PROVIDER[SIDE] described(PROVIDER_TEXT[SIDE]), only)
	for (i = 1; i <= ITEMS[SIDE]; i++) {
		kind = ITEM[SIDE, i]
		at = ITEM_AT[SIDE, i]
		if (kind == "keyword")
			print_line("keyword " KEYWORD[SIDE, at] " " to_hex(KEYWORD_MASK[SIDE, at]) \
				described(KEYWORD_TEXT[SIDE, at]), only)
		else if (kind == "set" && (!only || uses_set(only, at)))
			print_set_text(at, only)
		else if (kind == "event" && !only)
			print_event_text(at, only)
	}
	if (only)
		print_event_text(only, only)
}

function print_set_text(at, quote,   k) {
	print_line(set_name(SIDE, at) described(SET_TEXT[SIDE, at]), quote)
	for (k = 1; k <= MEMBERS[SIDE, at]; k++)
		print_line("\t" MEMBER_VALUE[SIDE, at, k] " " MEMBER_NAME[SIDE, at, k] \
			described(MEMBER_TEXT[SIDE, at, k]), quote)
}

function print_event_text(at, quote,   k) {
	print_line("event " EVENT_ID[SIDE, at] " " EVENT[SIDE, at] " " EVENT_LEVEL[SIDE, at] " " \
		EVENT_KEYWORDS[SIDE, at] \
		(EVENT_ATTRIBUTE[SIDE, at] == "" ? "" : " " EVENT_ATTRIBUTE[SIDE, at]) \
		described(EVENT_TEXT[SIDE, at]), quote)
	for (k = 1; k <= FIELDS[SIDE, at]; k++)
		print_line("\t" FIELD_TYPE[SIDE, at, k] " " FIELD[SIDE, at, k] \
			(FIELD_DISPLAY[SIDE, at, k] == "" ? "" : " as " FIELD_DISPLAY[SIDE, at, k]) \
			described(FIELD_TEXT[SIDE, at, k]), quote)
}

# The index of the enum or flags type of a field, or 0.
function set_of(e, k,   part) {
	if (split(FIELD_TYPE[SIDE, e, k], part, ":") < 3 || (part[1] != "enum" && part[1] != "flags"))
		return 0
	return SET_AT[SIDE, part[2]]
}

function uses_set(e, at,   k) {
	for (k = 1; k <= FIELDS[SIDE, e]; k++)
		if (set_of(e, k) == at)
			return 1
	return 0
}

# ---- both headers ----

function print_head(guard,   name) {
	name = FILE
	sub(/^.*\//, "", name)
	print "/* Generated by eventlog_gen.awk from " c_comment(name) "; do not edit. */"
	print "#ifndef " guard
	print "#define " guard
	print ""
}

function remark(text) {
	return text == "" ? "" : " /* " c_comment(text) " */"
}

# Values that fit an int together with their negative: every C compiler accepts them in
# an enum.
function fits_int(i) {
	return !larger(SET_LARGEST[SIDE, i], "000000007fffffff") && \
		!larger(SET_LOWEST[SIDE, i], "000000007fffffff")
}

# A value as a constant; of a signed type if another value of its set is negative.
function constant(value, is_signed) {
	if (substr(value, 1, 2) == "0x")
		return value (length(value) > 10 ? "ULL" : "U")
	if (value == "-9223372036854775808")
		return "(-9223372036854775807LL - 1)"
	if (substr(value, 1, 1) == "-")
		return "(" value "LL)"
	return value (is_signed ? "LL" : "ULL")
}

function print_constants(   i, k, prefix, is_signed) {
	for (i = 1; i <= KEYWORDS[SIDE]; i++)
		print "#define " upper(C "keyword_" KEYWORD[SIDE, i]) " " \
			to_hex(KEYWORD_MASK[SIDE, i]) "ULL" remark(KEYWORD_TEXT[SIDE, i])
	if (KEYWORDS[SIDE])
		print ""
	for (i = 1; i <= SETS[SIDE]; i++) {
		if (!MEMBERS[SIDE, i])
			continue
		prefix = upper(C SET[SIDE, i] "_")
		is_signed = larger(SET_LOWEST[SIDE, i], LOWEST["u64"]) && \
			!larger(SET_LARGEST[SIDE, i], LARGEST["s64"])
		if (SET_TEXT[SIDE, i] != "")
			print "/* " c_comment(SET_TEXT[SIDE, i]) " */"
		if (SET_FLAGS[SIDE, i] || !fits_int(i)) {
			for (k = 1; k <= MEMBERS[SIDE, i]; k++)
				print "#define " prefix upper(MEMBER_NAME[SIDE, i, k]) " " \
					constant(MEMBER_VALUE[SIDE, i, k], is_signed) \
					remark(MEMBER_TEXT[SIDE, i, k])
		} else {
			print "enum " C SET[SIDE, i] " {"
			for (k = 1; k <= MEMBERS[SIDE, i]; k++)
				print "\t" prefix upper(MEMBER_NAME[SIDE, i, k]) " = " \
					MEMBER_VALUE[SIDE, i, k] \
					(k < MEMBERS[SIDE, i] ? "," : "") \
					remark(MEMBER_TEXT[SIDE, i, k])
			print "};"
		}
		print ""
	}
}

# The array part of a member's declaration.
function dimension(kind, bytes) {
	return kind == "char[]" || kind == "u8[]" || kind == "struct" || kind == "mac" ? \
		"[" bytes "]" : ""
}

# ---- consumer header ----

function print_consumer(   i, k, kind, macro) {
	macro = upper(C)
	print_head(macro "CONSUMER_H")
	print "#include <linux/types.h>"
	print ""
	print "#define " macro "PROVIDER " c_string(PROVIDER[SIDE]) remark(PROVIDER_TEXT[SIDE])
	print ""
	print_constants()
	for (i = 1; i <= EVENTS[SIDE]; i++) {
		macro = upper(C "event_" EVENT[SIDE, i])
		if (EVENT_TEXT[SIDE, i] != "")
			print "/* " c_comment(EVENT_TEXT[SIDE, i]) " */"
		print "#define " macro " " EVENT_ID[SIDE, i] "U"
		print "#define " macro "_NAME " c_string(EVENT[SIDE, i])
		print "#define " macro "_LEVEL " LEVEL[EVENT_LEVEL[SIDE, i]] "U"
		print "#define " macro "_KEYWORDS " to_hex(EVENT_MASK[SIDE, i]) "ULL"
		print ""
		if (!FIELDS[SIDE, i])
			continue
		print "struct " C EVENT[SIDE, i] "_fields {"
		for (k = 1; k <= FIELDS[SIDE, i]; k++) {
			kind = FIELD_KIND[SIDE, i, k]
			print "\t" CONSUMER[kind] " " FIELD[SIDE, i, k] \
				(kind == "ipv6" ? "[16]" : dimension(kind, FIELD_BYTES[SIDE, i, k])) \
				";" remark(FIELD_TYPE[SIDE, i, k] \
				(FIELD_TEXT[SIDE, i, k] == "" ? "" : ": ") FIELD_TEXT[SIDE, i, k])
		}
		print "} __attribute__((packed));"
		print ""
	}
	print "#endif"
}

# ---- producer header ----

# Prints HEAD, the COUNT words of LIST with commas between, and TAIL, wrapped,
# and INDENT before lines but the first.
function print_list(head, list, count, tail, indent,   i, line, piece, tabs) {
	line = head
	tabs = head ~ /^\t\t/ ? 2 : head ~ /^\t/ ? 1 : 0
	for (i = 1; i <= count; i++) {
		piece = list[i] (i < count ? "," : tail)
		if (i > 1 && length(line) + 7 * tabs + 1 + length(piece) > 100) {
			print line
			line = indent piece
			tabs = length(indent)
		} else {
			line = line (i > 1 ? " " : "") piece
		}
	}
	print line
}

function parameter(kind,   type) {
	type = PARAMETER[kind]
	return type (type ~ /\*$/ ? "" : " ")
}

# The parameters of event I, with or without types. Returns their number.
function parameters(i, list, typed,   k, n, kind, name) {
	n = 1
	list[1] = (typed ? SESSION_TYPE : "") "session"
	for (k = 1; k <= FIELDS[SIDE, i]; k++) {
		kind = FIELD_KIND[SIDE, i, k]
		name = FIELD[SIDE, i, k] "_"
		list[++n] = (typed ? parameter(kind) : "") name
		if (kind == "bytes")
			list[++n] = (typed ? "size_t " : "") FIELD[SIDE, i, k] "_size_"
	}
	return n
}

# Limits the stack that an emission uses for parameters, fixed part and parts.
function check_stack(   i, bytes, list) {
	for (i = 1; i <= EVENTS[SIDE]; i++) {
		bytes = EVENT_SIZE[SIDE, i] + 16 * (DYNAMIC[SIDE, i] > 0) + \
			16 * DYNAMIC[SIDE, i] + 8 * parameters(i, list, 0)
		if (bytes > 1024)
			expected(EVENT_LINE[SIDE, i], "event " EVENT[SIDE, i] ", which needs " \
				bytes " bytes of the kernel's stack", "at most 1024")
	}
	if (ERRORS)
		exit 1
}

function hint(kind) {
	if (kind == "mac" || kind == "u8[]" || kind == "struct" || kind == "ipv6")
		return "not NULL"
	if (kind == "port")
		return "host byte order"
	if (kind == "ipv4")
		return "network byte order"
	if (kind == "time" || kind == "duration")
		return "ns"
	return ""
}

# The comment above the function that emits an event, up to its last paragraph. who chooses
# the session; size says what the size of a bytes field is.
function print_emit_comment(i, name, who, size,   k, kind, comment) {
	print "/**"
	print " * " name "() - " (EVENT_TEXT[SIDE, i] == "" ? "emit " EVENT[SIDE, i] : \
		c_comment(EVENT_TEXT[SIDE, i]))
	print " * @session: chosen by the " who ", 0: none"
	for (k = 1; k <= FIELDS[SIDE, i]; k++) {
		kind = FIELD_KIND[SIDE, i, k]
		comment = FIELD_TYPE[SIDE, i, k]
		if (hint(kind) != "")
			comment = comment ", " hint(kind)
		if (FIELD_TEXT[SIDE, i, k] != "")
			comment = c_comment(FIELD_TEXT[SIDE, i, k]) " (" comment ")"
		print " * @" FIELD[SIDE, i, k] "_: " comment
		if (kind == "bytes")
			print " * @" FIELD[SIDE, i, k] "_size_: " size
	}
	print " *"
}

function print_emit(i,   name, list, count) {
	name = C EVENT[SIDE, i]
	print "extern struct eventlog_provider_event " name "_event;"
	count = parameters(i, list, 1)
	print_list("void __" name "(", list, count, ");", "\t\t")
	print ""
	print "/**"
	print " * " name "_enabled() - is " EVENT[SIDE, i] " enabled?"
	print " *"
	print " * Any context."
	print " */"
	print "static __always_inline bool " name "_enabled(void)"
	print "{"
	print "\treturn static_branch_unlikely(&" name "_event.enabled);"
	print "}"
	print ""
	print_emit_comment(i, name, "provider", "how many they are")
	print " * Any context."
	print " */"
	print_list("static __always_inline void " name "(", list, count, ")", "\t\t")
	count = parameters(i, list, 0)
	print "{"
	print "\tif (static_branch_unlikely(&" name "_event.enabled))"
	print_list("\t\t__" name "(", list, count, ");", "\t\t\t")
	print "}"
	print ""
}

function print_assignment(kind, name, part) {
	if (kind == "char[]")
		print "\teventlog_copy_chars(fields." name "_, " name "_, sizeof(fields." name "_));"
	else if (kind == "u8[]" || kind == "mac" || kind == "struct" || kind == "ipv6")
		print "\tmemcpy(&fields." name "_, " name "_, sizeof(fields." name "_));"
	else if (kind == "string")
		print "\tfields." name "_ = eventlog_part_string(&parts[" part "], " name "_, &end);"
	else if (kind == "bytes")
		print_part_bytes(name, part)
	else if (kind == "port")
		print "\tfields." name "_ = cpu_to_be16(" name "_);"
	else if (kind == "ptr")
		print "\tfields." name "_ = (unsigned long)" name "_;"
	else
		print "\tfields." name "_ = " name "_;"
}

function print_part_bytes(name, part,   list) {
	list[1] = "&parts[" part "]"
	list[2] = name "_"
	list[3] = name "_size_"
	list[4] = "&end"
	print_list("\tfields." name "_ = eventlog_part_bytes(", list, 4, ");", "\t\t")
}

# A member of an initializer, left out when it is empty.
function print_member(indent, name, text) {
	if (text != "")
		print indent "." name " = " c_string(text) ","
}

function print_define(i,   name, list, count, k, kind, part, fields) {
	name = C EVENT[SIDE, i]
	fields = FIELDS[SIDE, i]
	if (fields) {
		print "struct " name "_fields {"
		for (k = 1; k <= fields; k++) {
			kind = FIELD_KIND[SIDE, i, k]
			print "\t" MEMBER[kind] " " FIELD[SIDE, i, k] "_" \
				dimension(kind, FIELD_BYTES[SIDE, i, k]) ";"
		}
		print "} __packed;"
		print ""
	}
	count = parameters(i, list, 1)
	print_list("noinline notrace void __" name "(", list, count, ")", "\t\t")
	print "{"
	if (DYNAMIC[SIDE, i])
		print "\tstruct eventlog_part parts[" (DYNAMIC[SIDE, i] + 1) "];"
	if (fields)
		print "\tstruct " name "_fields fields;"
	if (DYNAMIC[SIDE, i])
		print "\tu32 end = sizeof(fields);"
	if (fields)
		print ""
	part = 0
	for (k = 1; k <= fields; k++) {
		kind = FIELD_KIND[SIDE, i, k]
		if (kind == "string" || kind == "bytes")
			part++
		print_assignment(kind, FIELD[SIDE, i, k], part)
	}
	if (part) {
		print "\tparts[0].data = &fields;"
		print "\tparts[0].bytes = sizeof(fields);"
		print "\tparts[0].string = false;"
	}
	count = 0
	list[++count] = "&" name "_event"
	list[++count] = "session"
	list[++count] = part ? "parts" : fields ? "&fields" : "NULL"
	list[++count] = part ? part + 1 : fields ? "sizeof(fields)" : "0"
	print_list("\teventlog_provider_emit" (part ? "_parts" : "") "(", list, count, ");", "\t\t")
	print "}"
	print ""
	if (fields) {
		print "static const struct eventlog_field " name "_field_table[] = {"
		for (k = 1; k <= fields; k++) {
			print "\t{"
			print_member("\t\t", "type", FIELD_TYPE[SIDE, i, k])
			print_member("\t\t", "name", FIELD[SIDE, i, k])
			print_member("\t\t", "display", FIELD_DISPLAY[SIDE, i, k])
			print_member("\t\t", "description", FIELD_TEXT[SIDE, i, k])
			print "\t},"
		}
		print "};"
		print ""
	}
	print "struct eventlog_provider_event " name "_event = {"
	print "\t.enabled = STATIC_KEY_FALSE_INIT,"
	print "\t.id = " EVENT_ID[SIDE, i] "U,"
	print "\t.level = EVENTLOG_LEVEL_" upper(EVENT_LEVEL[SIDE, i]) ","
	if (EVENT_ATTRIBUTE[SIDE, i] != "")
		print "\t.attribute = EVENTLOG_ATTRIBUTE_" upper(EVENT_ATTRIBUTE[SIDE, i]) ","
	print "\t.keywords = " to_hex(EVENT_MASK[SIDE, i]) "ULL,"
	print_member("\t", "name", EVENT[SIDE, i])
	print_member("\t", "description", EVENT_TEXT[SIDE, i])
	if (fields) {
		print "\t.fields = " name "_field_table,"
		print "\t.field_count = " fields ","
		print "\t.fixed_bytes = sizeof(struct " name "_fields),"
	}
	print "};"
	print ""
}

function print_value(value, name, text) {
	print "\t{"
	print "\t\t.value = " value ","
	print_member("\t\t", "name", name)
	print_member("\t\t", "description", text)
	print "\t},"
}

# A value as a u64's initializer.
function u64_constant(value) {
	if (substr(value, 1, 1) == "-")
		return to_hex(negate(from_decimal(substr(value, 2)))) "ULL"
	return value "ULL"
}

function print_tables(   i, k) {
	if (KEYWORDS[SIDE]) {
		print "static const struct eventlog_value " C "keyword_table[] = {"
		for (i = 1; i <= KEYWORDS[SIDE]; i++)
			print_value(to_hex(KEYWORD_MASK[SIDE, i]) "ULL", KEYWORD[SIDE, i],
				KEYWORD_TEXT[SIDE, i])
		print "};"
		print ""
	}
	for (i = 1; i <= SETS[SIDE]; i++) {
		if (!MEMBERS[SIDE, i])
			continue
		print "static const struct eventlog_value " C SET[SIDE, i] "_value_table[] = {"
		for (k = 1; k <= MEMBERS[SIDE, i]; k++)
			print_value(u64_constant(MEMBER_VALUE[SIDE, i, k]),
				MEMBER_NAME[SIDE, i, k], MEMBER_TEXT[SIDE, i, k])
		print "};"
		print ""
	}
	if (SETS[SIDE]) {
		print "static const struct eventlog_set " C "set_table[] = {"
		for (i = 1; i <= SETS[SIDE]; i++) {
			print "\t{"
			print_member("\t\t", "name", SET[SIDE, i])
			print_member("\t\t", "description", SET_TEXT[SIDE, i])
			if (SET_FLAGS[SIDE, i])
				print "\t\t.flags = true,"
			if (MEMBERS[SIDE, i]) {
				print "\t\t.values = " C SET[SIDE, i] "_value_table,"
				print "\t\t.value_count = " MEMBERS[SIDE, i] ","
			}
			print "\t},"
		}
		print "};"
		print ""
	}
}

function print_producer(   i, k, name, macro, ipv6, port) {
	check_stack()
	name = C
	sub(/_$/, "", name)
	macro = upper(C)
	ipv6 = port = 0
	for (i = 1; i <= EVENTS[SIDE]; i++) {
		for (k = 1; k <= FIELDS[SIDE, i]; k++) {
			ipv6 = ipv6 || FIELD_KIND[SIDE, i, k] == "ipv6"
			port = port || FIELD_KIND[SIDE, i, k] == "port"
		}
	}
	print_head(macro "H")
	print "#include <linux/eventlog.h>"
	if (ipv6)
		print "#include <linux/in6.h>"
	if (port)
		print "#include <asm/byteorder.h>"
	print ""
	print_constants()
	if (PROVIDER_TEXT[SIDE] != "")
		print "/* " c_comment(PROVIDER_TEXT[SIDE]) " */"
	print "extern struct eventlog_provider " name ";"
	print ""
	for (i = 1; i <= EVENTS[SIDE]; i++)
		print_emit(i)
	print "#endif"
	print ""
	print "/* One source file of the provider defines this before it includes the header. */"
	print "#if defined(" macro "DEFINE) && !defined(" macro "DEFINED)"
	print "#define " macro "DEFINED"
	print ""
	for (i = 1; i <= EVENTS[SIDE]; i++)
		print_define(i)
	print_tables()
	print "static struct eventlog_provider_event *const " C "event_table[] = {"
	for (i = 1; i <= EVENTS[SIDE]; i++)
		print "\t&" C EVENT[SIDE, i] "_event,"
	print "};"
	print ""
	print "struct eventlog_provider " name " = {"
	print_member("\t", "name", PROVIDER[SIDE])
	print_member("\t", "description", PROVIDER_TEXT[SIDE])
	print "\t.owner = THIS_MODULE,"
	if (KEYWORDS[SIDE]) {
		print "\t.keywords = " C "keyword_table,"
		print "\t.keyword_count = " KEYWORDS[SIDE] ","
	}
	if (SETS[SIDE]) {
		print "\t.sets = " C "set_table,"
		print "\t.set_count = " SETS[SIDE] ","
	}
	print "\t.events = " C "event_table,"
	print "\t.event_count = " EVENTS[SIDE] ","
	print "};"
	print ""
	print "#endif"
}

# ---- header of a program ----

function begin_program_types(   i, n, word, part) {
	# name, parameter, member
	n = split("u8/uint8_t/uint8_t u16/uint16_t/uint16_t u32/uint32_t/uint32_t " \
		"u64/uint64_t/uint64_t s8/int8_t/int8_t s16/int16_t/int16_t " \
		"s32/int32_t/int32_t s64/int64_t/int64_t bool/bool/uint8_t " \
		"string/const_char_*/uint32_t bytes/const_void_*/uint32_t " \
		"ipv4/uint32_t/uint32_t ipv6/const_struct_in6_addr_*/uint8_t " \
		"port/uint16_t/uint16_t mac/const_uint8_t_*/uint8_t time/uint64_t/uint64_t " \
		"duration/uint64_t/uint64_t ptr/const_void_*/uint64_t char[]/const_char_*/char " \
		"u8[]/const_uint8_t_*/uint8_t struct/const_void_*/uint8_t", word, " ")
	for (i = 1; i <= n; i++) {
		split(word[i], part, "/")
		sub(/const_/, "const ", part[2])
		sub(/struct_/, "struct ", part[2])
		sub(/_\*/, " *", part[2])
		PARAMETER[part[1]] = part[2]
		MEMBER[part[1]] = part[3]
	}
	SESSION_TYPE = "uint64_t "
}

function print_program_emit(i,   name, list, count) {
	name = C EVENT[SIDE, i]
	print "extern struct elog_typed_event " name "_event;"
	count = parameters(i, list, 1)
	print_list("int " name "_emit(", list, count, ");", "\t\t")
	print ""
	print "/**"
	print " * " name "_enabled() - test whether " EVENT[SIDE, i] " has a subscriber"
	print " */"
	print "static inline bool " name "_enabled(void)"
	print "{"
	print "\treturn elog_typed_event_enabled(&" name "_event) &&"
	print "\t       elog_typed_event_ready(&" name "_event);"
	print "}"
	print ""
	print_emit_comment(i, name, "program", "bytes of it")
	print " * Return: 0, also if the event is disabled; or as elog_event_write()."
	print " */"
	print_list("static inline int " name "(", list, count, ")", "\t\t")
	count = parameters(i, list, 0)
	print "{"
	print "\tif (!elog_typed_event_" (EVENT_ATTRIBUTE[SIDE, i] == "" ? "enabled" : "noticed") \
		"(&" name "_event))"
	print "\t\treturn 0;"
	print_list("\treturn " name "_emit(", list, count, ");", "\t\t\t")
	print "}"
	print ""
}

function print_program_assignment(kind, name, part,   list) {
	if (kind == "char[]")
		print "\telog_part_chars(fields." name "_, " name "_, sizeof(fields." name "_));"
	else if (kind == "u8[]" || kind == "mac" || kind == "struct" || kind == "ipv6")
		print "\tmemcpy(fields." name "_, " name "_, sizeof(fields." name "_));"
	else if (kind == "string")
		print "\tfields." name "_ = elog_part_string(&parts[" part "], " name "_, &end);"
	else if (kind == "bytes") {
		list[1] = "&parts[" part "]"
		list[2] = name "_"
		list[3] = name "_size_"
		list[4] = "&end"
		print_list("\tfields." name "_ = elog_part_bytes(", list, 4, ");", "\t\t")
	} else if (kind == "port")
		print "\tfields." name "_ = htons(" name "_);"
	else if (kind == "ptr")
		print "\tfields." name "_ = (uintptr_t)" name "_;"
	else
		print "\tfields." name "_ = " name "_;"
}

function print_program_define(i,   name, list, count, k, kind, part, fields, attribute) {
	name = C EVENT[SIDE, i]
	attribute = EVENT_ATTRIBUTE[SIDE, i]
	fields = FIELDS[SIDE, i]
	print "static const char " name "_schema[] ="
	print_text(i)
	print "\t\"\";"
	print ""
	print "struct elog_typed_event " name "_event = {"
	print "\t&" C "disabled_byte, NULL, " name "_schema,"
	print "};"
	print ""
	count = parameters(i, list, 1)
	print_list("int " name "_emit(", list, count, ")", "\t\t")
	print "{"
	if (fields) {
		print "\tstruct {"
		for (k = 1; k <= fields; k++) {
			kind = FIELD_KIND[SIDE, i, k]
			print "\t\t" MEMBER[kind] " " FIELD[SIDE, i, k] "_" \
				(kind == "ipv6" ? "[16]" : dimension(kind, FIELD_BYTES[SIDE, i, k])) ";"
		}
		print "\t} __attribute__((packed)) fields;"
	}
	print "\tstruct iovec parts[" (1 + (fields > 0) + DYNAMIC[SIDE, i]) "];"
	print "\tsize_t end = " (fields ? "sizeof(fields)" : "0") ";"
	if (attribute == "end")
		print "\tint ret;"
	print ""
	if (attribute == "start")
		print "\telog_typed_event_begin(&" name "_event, session);"
	print "\tif (!elog_typed_event_ready(&" name "_event))" (attribute == "end" ? " {" : "")
	if (attribute == "end")
		print "\t\telog_typed_event_end(&" name "_event, session);"
	print "\t\treturn 0;"
	if (attribute == "end")
		print "\t}"
	part = fields > 0
	for (k = 1; k <= fields; k++) {
		kind = FIELD_KIND[SIDE, i, k]
		if (kind == "string" || kind == "bytes")
			part++
		print_program_assignment(kind, FIELD[SIDE, i, k], part)
	}
	if (fields) {
		print "\tparts[1].iov_base = &fields;"
		print "\tparts[1].iov_len = sizeof(fields);"
	}
	print "\t" (attribute == "end" ? "ret =" : "return") " elog_typed_event_write(&" name \
		"_event, session, parts, " (part + 1) ", end);"
	if (attribute == "end") {
		print "\telog_typed_event_end(&" name "_event, session);"
		print "\treturn ret;"
	}
	print "}"
	print ""
}

function print_program(   i, k, name, macro, internet) {
	begin_program_types()
	name = C
	sub(/_$/, "", name)
	macro = upper(C)
	internet = 0
	for (i = 1; i <= EVENTS[SIDE]; i++)
		for (k = 1; k <= FIELDS[SIDE, i]; k++)
			internet = internet || FIELD_KIND[SIDE, i, k] == "ipv6" || \
				FIELD_KIND[SIDE, i, k] == "port"
	print_head(macro "H")
	if (internet)
		print "#include <netinet/in.h>"
	print "#include <elog/typed.h>"
	print ""
	print "/* A consumers' header, included before this one, has them too. */"
	print "#ifndef " macro "CONSUMER_H"
	print_constants()
	print "#endif"
	print ""
	print "#ifdef __cplusplus"
	print "extern \"C\" {"
	print "#endif"
	print ""
	print "/**"
	print " * " C "register() - register all events" \
		(PROVIDER_TEXT[SIDE] == "" ? "" : ": " c_comment(PROVIDER_TEXT[SIDE]))
	print " * @producer: as for elog_typed_events_register()"
	print " */"
	print "int " C "register(struct elog_producer *producer);"
	print ""
	print "/** " C "unregister() - unregister all events; no thread may be writing one */"
	print "void " C "unregister(void);"
	print ""
	for (i = 1; i <= EVENTS[SIDE]; i++)
		print_program_emit(i)
	print "#ifdef __cplusplus"
	print "}"
	print "#endif"
	print ""
	print "#endif"
	print ""
	print "/* One source file of the program defines this before it includes the header. */"
	print "#if defined(" macro "DEFINE) && !defined(" macro "DEFINED)"
	print "#define " macro "DEFINED"
	print ""
	print "static const unsigned char " C "disabled_byte = 0;"
	print ""
	for (i = 1; i <= EVENTS[SIDE]; i++)
		print_program_define(i)
	print "static struct elog_typed_event *const " C "event_table[] = {"
	for (i = 1; i <= EVENTS[SIDE]; i++)
		print "\t&" C EVENT[SIDE, i] "_event,"
	print "};"
	print ""
	print "int " C "register(struct elog_producer *producer)"
	print "{"
	print "\treturn elog_typed_events_register(producer, " C "event_table, " EVENTS[SIDE] ");"
	print "}"
	print ""
	print "void " C "unregister(void)"
	print "{"
	print "\telog_typed_events_unregister(" C "event_table, " EVENTS[SIDE] ");"
	print "}"
	print ""
	print "#endif"
}

# ---- functions that turn payloads into text ----

# The same text as that of libelog: format/values.c, format/decode.c and util/text.c.
function print_decoder_helpers() {
	print "/* What all headers of this kind share: a text that is cut at the end of its buffer. */"
	print "#ifndef EVENTLOG_DECODER_HELPERS"
	print "#define EVENTLOG_DECODER_HELPERS"
	print ""
	print "struct evtext {"
	print "\tchar *buffer;"
	print "\tsize_t room;"
	print "\tsize_t size;"
	print "\tconst unsigned char *payload;"
	print "\tsize_t bytes;"
	print "};"
	print ""
	print "static __inline__ void evtext_begin(struct evtext *text, char *buffer, size_t room,"
	print "\t\t\t\t    const void *payload, size_t bytes)"
	print "{"
	print "\ttext->buffer = buffer;"
	print "\ttext->room = room;"
	print "\ttext->size = 0;"
	print "\ttext->payload = (const unsigned char *)payload;"
	print "\ttext->bytes = bytes;"
	print "}"
	print ""
	print "static __inline__ size_t evtext_end(struct evtext *text)"
	print "{"
	print "\tif (text->room)"
	print "\t\ttext->buffer[text->size < text->room ? text->size : text->room - 1] = '\\0';"
	print "\treturn text->size;"
	print "}"
	print ""
	print "static __inline__ void evtext_character(struct evtext *text, char character)"
	print "{"
	print "\tif (text->size < text->room)"
	print "\t\ttext->buffer[text->size] = character;"
	print "\ttext->size++;"
	print "}"
	print ""
	print "static __inline__ void evtext_string(struct evtext *text, const char *string)"
	print "{"
	print "\twhile (*string)"
	print "\t\tevtext_character(text, *string++);"
	print "}"
	print ""
	print "/* At least @width digits. */"
	print "static __inline__ void evtext_number(struct evtext *text, uint64_t value,"
	print "\t\t\t\t     unsigned int base, unsigned int width)"
	print "{"
	print "\tchar digits[20];"
	print "\tunsigned int count = 0;"
	print ""
	print "\tdo {"
	print "\t\tdigits[count++] = \"0123456789abcdef\"[value % base];"
	print "\t\tvalue /= base;"
	print "\t} while (value || count < width);"
	print "\twhile (count)"
	print "\t\tevtext_character(text, digits[--count]);"
	print "}"
	print ""
	print "static __inline__ void evtext_decimal(struct evtext *text, uint64_t value)"
	print "{"
	print "\tevtext_number(text, value, 10, 1);"
	print "}"
	print ""
	print "static __inline__ void evtext_signed(struct evtext *text, uint64_t value)"
	print "{"
	print "\tif (value >> 63) {"
	print "\t\tevtext_character(text, '-');"
	print "\t\tvalue = 0 - value;"
	print "\t}"
	print "\tevtext_number(text, value, 10, 1);"
	print "}"
	print ""
	print "static __inline__ void evtext_hex(struct evtext *text, uint64_t value)"
	print "{"
	print "\tevtext_string(text, \"0x\");"
	print "\tevtext_number(text, value, 16, 1);"
	print "}"
	print ""
	print "static __inline__ void evtext_bool(struct evtext *text, uint64_t value)"
	print "{"
	print "\tif (value > 1)"
	print "\t\tevtext_decimal(text, value);"
	print "\telse"
	print "\t\tevtext_string(text, value ? \"true\" : \"false\");"
	print "}"
	print ""
	print "static __inline__ void evtext_time(struct evtext *text, uint64_t value)"
	print "{"
	print "\tevtext_number(text, value / 1000000000, 10, 1);"
	print "\tevtext_character(text, '.');"
	print "\tevtext_number(text, value % 1000000000, 10, 9);"
	print "}"
	print ""
	print "static __inline__ void evtext_duration(struct evtext *text, uint64_t value)"
	print "{"
	print "\tuint64_t unit = value >= 1000000000 ? 1000000000 : value >= 1000000 ? 1000000 : 1000;"
	print ""
	print "\tevtext_number(text, value < 1000 ? value : value / unit, 10, 1);"
	print "\tif (value < 1000) {"
	print "\t\tevtext_string(text, \"ns\");"
	print "\t\treturn;"
	print "\t}"
	print "\tevtext_character(text, '.');"
	print "\tevtext_number(text, value % unit / (unit / 1000), 10, 3);"
	print "\tevtext_string(text, unit == 1000 ? \"us\" : unit == 1000000 ? \"ms\" : \"s\");"
	print "}"
	print ""
	print "/* Names of flags; @any: there was one; @rest: bits without a name. */"
	print "static __inline__ void evtext_flag(struct evtext *text, const char *name, int *any)"
	print "{"
	print "\tif (*any)"
	print "\t\tevtext_character(text, '|');"
	print "\tevtext_string(text, name);"
	print "\t*any = 1;"
	print "}"
	print ""
	print "static __inline__ void evtext_rest(struct evtext *text, uint64_t rest, int any)"
	print "{"
	print "\tif (any && !rest)"
	print "\t\treturn;"
	print "\tif (any)"
	print "\t\tevtext_character(text, '|');"
	print "\tif (rest)"
	print "\t\tevtext_string(text, \"0x\");"
	print "\tevtext_number(text, rest, 16, 1);"
	print "}"
	print ""
	print "/* Is the field inside of the payload? */"
	print "static __inline__ int evtext_fits(struct evtext *text, size_t offset, size_t size)"
	print "{"
	print "\tif (offset <= text->bytes && size <= text->bytes - offset)"
	print "\t\treturn 1;"
	print "\tevtext_string(text, \"<truncated>\");"
	print "\treturn 0;"
	print "}"
	print ""
	print "/* An integer in host byte order, zero-extended. */"
	print "static __inline__ uint64_t evtext_load(const struct evtext *text, size_t offset,"
	print "\t\t\t\t       unsigned int size)"
	print "{"
	print "\tuint8_t byte;"
	print "\tuint16_t half;"
	print "\tuint32_t word;"
	print "\tuint64_t value;"
	print ""
	print "\tif (size == 1) {"
	print "\t\tmemcpy(&byte, text->payload + offset, 1);"
	print "\t\treturn byte;"
	print "\t}"
	print "\tif (size == 2) {"
	print "\t\tmemcpy(&half, text->payload + offset, 2);"
	print "\t\treturn half;"
	print "\t}"
	print "\tif (size == 4) {"
	print "\t\tmemcpy(&word, text->payload + offset, 4);"
	print "\t\treturn word;"
	print "\t}"
	print "\tmemcpy(&value, text->payload + offset, 8);"
	print "\treturn value;"
	print "}"
	print ""
	print "/* The same, sign-extended. */"
	print "static __inline__ uint64_t evtext_load_signed(const struct evtext *text, size_t offset,"
	print "\t\t\t\t\t      unsigned int size)"
	print "{"
	print "\tuint64_t sign = (uint64_t)1 << (size * 8 - 1);"
	print ""
	print "\treturn (evtext_load(text, offset, size) ^ sign) - sign;"
	print "}"
	print ""
	print "static __inline__ void evtext_octets(struct evtext *text, size_t offset, size_t size,"
	print "\t\t\t\t     char between)"
	print "{"
	print "\tsize_t i;"
	print ""
	print "\tfor (i = 0; i < size; i++) {"
	print "\t\tif (i && between)"
	print "\t\t\tevtext_character(text, between);"
	print "\t\tevtext_number(text, text->payload[offset + i], 16, 2);"
	print "\t}"
	print "}"
	print ""
	print "static __inline__ void evtext_ipv4(struct evtext *text, size_t offset)"
	print "{"
	print "\tunsigned int i;"
	print ""
	print "\tfor (i = 0; i < 4; i++) {"
	print "\t\tif (i)"
	print "\t\t\tevtext_character(text, '.');"
	print "\t\tevtext_decimal(text, text->payload[offset + i]);"
	print "\t}"
	print "}"
	print ""
	print "/* As inet_ntop(3): the longest group of zeros becomes \"::\". */"
	print "static __inline__ void evtext_ipv6(struct evtext *text, size_t offset)"
	print "{"
	print "\tconst unsigned char *from = text->payload + offset;"
	print "\tunsigned int words[8], i, k, start = 8, length = 1;"
	print ""
	print "\tfor (i = 0; i < 8; i++)"
	print "\t\twords[i] = (unsigned int)from[2 * i] << 8 | from[2 * i + 1];"
	print "\tfor (i = 0; i < 8; i++) {"
	print "\t\tfor (k = i; k < 8 && !words[k]; k++)"
	print "\t\t\t;"
	print "\t\tif (k - i > length) {"
	print "\t\t\tstart = i;"
	print "\t\t\tlength = k - i;"
	print "\t\t}"
	print "\t}"
	print "\tfor (i = 0; i < 8; i++) {"
	print "\t\tif (i == start) {"
	print "\t\t\tevtext_string(text, i + length == 8 ? \"::\" : \":\");"
	print "\t\t\ti += length - 1;"
	print "\t\t\tcontinue;"
	print "\t\t}"
	print "\t\tif (i)"
	print "\t\t\tevtext_character(text, ':');"
	print "\t\t/* IPv4 addresses as part of others. */"
	print "\t\tif (i == 6 && !start &&"
	print "\t\t    (length == 6 || (length == 5 && words[5] == 0xffff))) {"
	print "\t\t\tevtext_ipv4(text, offset + 12);"
	print "\t\t\treturn;"
	print "\t\t}"
	print "\t\tevtext_number(text, words[i], 16, 1);"
	print "\t}"
	print "}"
	print ""
	print "/* Does the character change the direction of the text behind it? */"
	print "static __inline__ int evtext_is_direction(uint32_t character)"
	print "{"
	print "\treturn character == 0x61c || character == 0x200e || character == 0x200f ||"
	print "\t       (character >= 0x202a && character <= 0x202e) ||"
	print "\t       (character >= 0x2066 && character <= 0x2069);"
	print "}"
	print ""
	print "/* The bytes of a UTF-8 character that is printed unchanged, or 0. */"
	print "static __inline__ size_t evtext_utf8(const unsigned char *from, size_t size)"
	print "{"
	print "\tsize_t bytes = *from < 0xc0 ? 0 : *from < 0xe0 ? 2 : *from < 0xf0 ? 3 :"
	print "\t\t       *from < 0xf8 ? 4 : 0;"
	print "\tuint32_t character;"
	print "\tsize_t i;"
	print ""
	print "\tif (!bytes || size < bytes)"
	print "\t\treturn 0;"
	print "\tcharacter = *from & (0x7fU >> bytes);"
	print "\tfor (i = 1; i < bytes; i++) {"
	print "\t\tif ((from[i] & 0xc0) != 0x80)"
	print "\t\t\treturn 0;"
	print "\t\tcharacter = character << 6 | (from[i] & 0x3f);"
	print "\t}"
	print "\tif (character < (bytes == 2 ? 0xa0U : bytes == 3 ? 0x800U : 0x10000U) ||"
	print "\t    character > 0x10ffff || (character >= 0xd800 && character < 0xe000) ||"
	print "\t    evtext_is_direction(character))"
	print "\t\treturn 0;"
	print "\treturn bytes;"
	print "}"
	print ""
	print "static __inline__ void evtext_quoted(struct evtext *text, const unsigned char *from,"
	print "\t\t\t\t     size_t size)"
	print "{"
	print "\tsize_t bytes, i;"
	print ""
	print "\tevtext_character(text, '\"');"
	print "\tfor (i = 0; i < size; i += bytes) {"
	print "\t\tbytes = from[i] < 0x80 ? from[i] >= ' ' && from[i] != 0x7f :"
	print "\t\t\t\t\t evtext_utf8(from + i, size - i);"
	print "\t\tif (bytes > 1 || (bytes && from[i] != '\"' && from[i] != '\\\\')) {"
	print "\t\t\tsize_t k;"
	print ""
	print "\t\t\tfor (k = 0; k < bytes; k++)"
	print "\t\t\t\tevtext_character(text, (char)from[i + k]);"
	print "\t\t\tcontinue;"
	print "\t\t}"
	print "\t\tbytes = 1;"
	print "\t\tevtext_character(text, '\\\\');"
	print "\t\tswitch (from[i]) {"
	print "\t\tcase '\"':"
	print "\t\tcase '\\\\':"
	print "\t\t\tevtext_character(text, (char)from[i]);"
	print "\t\t\tbreak;"
	print "\t\tcase '\\n':"
	print "\t\t\tevtext_character(text, 'n');"
	print "\t\t\tbreak;"
	print "\t\tcase '\\t':"
	print "\t\t\tevtext_character(text, 't');"
	print "\t\t\tbreak;"
	print "\t\tcase '\\r':"
	print "\t\t\tevtext_character(text, 'r');"
	print "\t\t\tbreak;"
	print "\t\tdefault:"
	print "\t\t\tevtext_character(text, 'x');"
	print "\t\t\tevtext_number(text, from[i], 16, 2);"
	print "\t\t\tbreak;"
	print "\t\t}"
	print "\t}"
	print "\tevtext_character(text, '\"');"
	print "}"
	print ""
	print "static __inline__ void evtext_chars(struct evtext *text, size_t offset, size_t size)"
	print "{"
	print "\tconst unsigned char *from = text->payload + offset;"
	print "\tsize_t length = 0;"
	print ""
	print "\twhile (length < size && from[length])"
	print "\t\tlength++;"
	print "\tevtext_quoted(text, from, length);"
	print "}"
	print ""
	print "/* A string, or bytes, that a word in the fixed part locates. */"
	print "static __inline__ void evtext_dynamic(struct evtext *text, size_t at, int string)"
	print "{"
	print "\tuint64_t word = evtext_load(text, at, 4);"
	print "\tsize_t size = (size_t)(word >> 16), offset = (size_t)(word & 0xffff), length = 0;"
	print "\tint inside = offset <= text->bytes && size <= text->bytes - offset;"
	print ""
	print "\tif (inside && !string) {"
	print "\t\tevtext_octets(text, offset, size, 0);"
	print "\t\treturn;"
	print "\t}"
	print "\twhile (inside && length < size && text->payload[offset + length])"
	print "\t\tlength++;"
	print "\tif (inside && length < size) {"
	print "\t\tevtext_quoted(text, text->payload + offset, length);"
	print "\t\treturn;"
	print "\t}"
	print "\tevtext_character(text, '<');"
	print "\tevtext_decimal(text, size);"
	print "\tevtext_string(text, \" bytes at \");"
	print "\tevtext_decimal(text, offset);"
	print "\tevtext_string(text, inside ? \" without end>\" : \": outside>\");"
	print "}"
	print ""
	print "#endif"
}

# The function that prints the name of a value of an enum, or a value of a flags type.
function set_function(at,   name) {
	name = C SET[SIDE, at]
	sub(/^eventlog_/, "evtext_", name)
	return name
}

function print_set_function(at,   k, name, value) {
	name = set_function(at)
	if (SET_FLAGS[SIDE, at]) {
		print "static __inline__ void " name "(struct evtext *text, uint64_t value)"
		print "{"
		print "\tuint64_t rest = value;"
		print "\tint any = 0;"
		print ""
		for (k = 1; k <= MEMBERS[SIDE, at]; k++) {
			value = MEMBER_VALUE[SIDE, at, k] "ULL"
			if (value == "0x0ULL")
				print "\tif (!value)"
			else
				print "\tif ((value & " value ") == " value ") {"
			print "\t\tevtext_flag(text, " c_string(MEMBER_NAME[SIDE, at, k]) ", &any);"
			if (value != "0x0ULL") {
				print "\t\trest &= ~" value ";"
				print "\t}"
			}
		}
		print "\tevtext_rest(text, rest, any);"
	} else {
		print "static __inline__ int " name "(struct evtext *text, uint64_t value)"
		print "{"
		print "\tswitch (value) {"
		for (k = 1; k <= MEMBERS[SIDE, at]; k++) {
			print "\tcase " u64_constant(MEMBER_VALUE[SIDE, at, k]) ":"
			print "\t\tevtext_string(text, " c_string(MEMBER_NAME[SIDE, at, k]) ");"
			print "\t\treturn 1;"
		}
		print "\tdefault:"
		print "\t\t(void)text;"
		print "\t\treturn 0;"
		print "\t}"
	}
	print "}"
	print ""
}

function print_decoder_field(i, k, offset,   kind, bytes, place, load, value, at, name, hex) {
	kind = FIELD_KIND[SIDE, i, k]
	bytes = FIELD_BYTES[SIDE, i, k]
	name = FIELD[SIDE, i, k] "="
	place = "&text, " offset
	print "\tevtext_string(&text, \"" (k > 1 ? " " : "") name "\");"
	print "\tif (evtext_fits(" place ", " bytes ")) {"
	load = substr(kind, 1, 1) == "s" && (kind in LARGEST) ? "evtext_load_signed" : "evtext_load"
	value = load "(" place ", " bytes ")"
	if (kind == "port")
		value = "(uint64_t)text.payload[" offset "] << 8 | text.payload[" offset " + 1]"
	hex = FIELD_DISPLAY[SIDE, i, k] == "hex"
	at = set_of(i, k)
	if (kind == "char[]")
		print "\t\tevtext_chars(" place ", " bytes ");"
	else if (kind == "u8[]" || kind == "struct")
		print "\t\tevtext_octets(" place ", " bytes ", 0);"
	else if (kind == "mac")
		print "\t\tevtext_octets(" place ", " bytes ", ':');"
	else if (kind == "string" || kind == "bytes")
		print "\t\tevtext_dynamic(" place ", " (kind == "string") ");"
	else if (kind == "ipv4" || kind == "ipv6")
		print "\t\tevtext_" kind "(" place ");"
	else if (hex)
		print "\t\tevtext_hex(&text, " (kind == "port" ? value : \
			"evtext_load(" place ", " bytes ")") ");"
	else if (FIELD_DISPLAY[SIDE, i, k] == "" && at && SET_FLAGS[SIDE, at])
		print "\t\t" set_function(at) "(&text, " value ");"
	else if (FIELD_DISPLAY[SIDE, i, k] == "" && \
		 (kind == "bool" || kind == "time" || kind == "duration"))
		print "\t\tevtext_" kind "(&text, " value ");"
	else if (FIELD_DISPLAY[SIDE, i, k] == "" && kind == "ptr")
		print "\t\tevtext_hex(&text, " value ");"
	else {
		if (FIELD_DISPLAY[SIDE, i, k] == "" && at) {
			print "\t\tif (!" set_function(at) "(&text, " value "))"
			printf "\t"
		}
		print "\t\tevtext_" (load == "evtext_load" ? "decimal" : "signed") "(&text, " value ");"
	}
	print "\t}"
}

function print_decoder(   i, k, name, macro, offset) {
	macro = upper(C) "TEXT_H"
	print_head(macro)
	print "#include <stddef.h>"
	print "#include <stdint.h>"
	print "#include <string.h>"
	print ""
	print_decoder_helpers()
	print ""
	for (i = 1; i <= SETS[SIDE]; i++)
		print_set_function(i)
	for (i = 1; i <= EVENTS[SIDE]; i++) {
		name = C EVENT[SIDE, i] "_text"
		print "/**"
		print " * " name "() - write the fields of " EVENT[SIDE, i] " as text"
		print " * @buffer: the text, always with a NUL, cut if it is too long"
		print " * @room: bytes of @buffer; 0: nothing is written"
		print " * @payload: the payload, which need not be valid"
		print " * @bytes: bytes of @payload"
		print " *"
		print " * Return: bytes of the whole text, without its NUL."
		print " */"
		print "static __inline__ size_t " name "(char *buffer, size_t room,"
		print "\t\tconst void *payload, size_t bytes)"
		print "{"
		print "\tstruct evtext text;"
		print ""
		print "\tevtext_begin(&text, buffer, room, payload, bytes);"
		offset = 0
		for (k = 1; k <= FIELDS[SIDE, i]; k++) {
			print_decoder_field(i, k, offset)
			offset += FIELD_BYTES[SIDE, i, k]
		}
		print "\treturn evtext_end(&text);"
		print "}"
		print ""
	}
	print "#endif"
}

# ---- compatibility ----

function changed(line, old_line, was, is) {
	report_error(line, "found " is ", expected " was " (" OLD_FILE ":" old_line ")")
}

function compare_keywords(   i, at) {
	for (i = 1; i <= KEYWORDS["old"]; i++) {
		if (!(("new", KEYWORD["old", i]) in KEYWORD_AT)) {
			changed(PROVIDER_LINE["new"], KEYWORD_LINE["old", i],
				"keyword " KEYWORD["old", i], "none")
			continue
		}
		at = KEYWORD_AT["new", KEYWORD["old", i]]
		if (KEYWORD_MASK["old", i] != KEYWORD_MASK["new", at])
			changed(KEYWORD_LINE["new", at], KEYWORD_LINE["old", i],
				to_hex(KEYWORD_MASK["old", i]), "mask " \
				to_hex(KEYWORD_MASK["new", at]) " of keyword " KEYWORD["old", i])
	}
}

function set_name(side, i) {
	return (SET_FLAGS[side, i] ? "flags " : "enum ") SET[side, i]
}

function compare_sets(   i, k, at, to) {
	for (i = 1; i <= SETS["old"]; i++) {
		if (!(("new", SET["old", i]) in SET_AT)) {
			changed(PROVIDER_LINE["new"], SET_LINE["old", i], set_name("old", i), "none")
			continue
		}
		at = SET_AT["new", SET["old", i]]
		if (SET_FLAGS["old", i] != SET_FLAGS["new", at]) {
			changed(SET_LINE["new", at], SET_LINE["old", i],
				set_name("old", i), set_name("new", at))
			continue
		}
		for (k = 1; k <= MEMBERS["old", i]; k++) {
			if (!(("new", at, MEMBER_NAME["old", i, k]) in MEMBER_AT)) {
				changed(SET_LINE["new", at], MEMBER_LINE["old", i, k],
					"value " MEMBER_NAME["old", i, k], "none in " set_name("new", at))
				continue
			}
			to = MEMBER_AT["new", at, MEMBER_NAME["old", i, k]]
			if (MEMBER_VALUE["old", i, k] != MEMBER_VALUE["new", at, to])
				changed(MEMBER_LINE["new", at, to], MEMBER_LINE["old", i, k],
					MEMBER_VALUE["old", i, k], MEMBER_VALUE["new", at, to] \
					" for " MEMBER_NAME["old", i, k])
		}
	}
}

function display_name(side, e, i) {
	return FIELD_DISPLAY[side, e, i] == "" ? "no display" : "as " FIELD_DISPLAY[side, e, i]
}

function compare_fields(i, at,   k, name) {
	for (k = 1; k <= FIELDS["old", i]; k++) {
		name = FIELD["old", i, k]
		if (k > FIELDS["new", at]) {
			changed(EVENT_LINE["new", at], FIELD_LINE["old", i, k], "field " name,
				"the end of event " EVENT["new", at])
			continue
		}
		if (FIELD["new", at, k] != name) {
			changed(FIELD_LINE["new", at, k], FIELD_LINE["old", i, k],
				"field " name, "field " FIELD["new", at, k])
			# All later fields have other offsets.
			return
		}
		if (FIELD_TYPE["old", i, k] != FIELD_TYPE["new", at, k])
			changed(FIELD_LINE["new", at, k], FIELD_LINE["old", i, k],
				FIELD_TYPE["old", i, k],
				"type " FIELD_TYPE["new", at, k] " of field " name)
		if (FIELD_DISPLAY["old", i, k] != FIELD_DISPLAY["new", at, k])
			changed(FIELD_LINE["new", at, k], FIELD_LINE["old", i, k],
				display_name("old", i, k), display_name("new", at, k) " of field " name)
	}
}

function compare_events(   i, at, name) {
	for (i = 1; i <= EVENTS["old"]; i++) {
		name = EVENT["old", i]
		if (!(("new", EVENT_ID["old", i]) in EVENT_OF)) {
			if (("new", name) in EVENT_AT) {
				at = EVENT_AT["new", name]
				changed(EVENT_LINE["new", at], EVENT_LINE["old", i],
					EVENT_ID["old", i], "id " EVENT_ID["new", at] " of event " name)
			} else {
				changed(PROVIDER_LINE["new"], EVENT_LINE["old", i], "event " name, "none")
			}
			continue
		}
		at = EVENT_OF["new", EVENT_ID["old", i]]
		if (EVENT["new", at] != name) {
			changed(EVENT_LINE["new", at], EVENT_LINE["old", i], name,
				EVENT["new", at] " as event " EVENT_ID["old", i])
			continue
		}
		if (EVENT_LEVEL["old", i] != EVENT_LEVEL["new", at])
			changed(EVENT_LINE["new", at], EVENT_LINE["old", i],
				EVENT_LEVEL["old", i],
				"level " EVENT_LEVEL["new", at] " of event " name)
		if (EVENT_MASK["old", i] != EVENT_MASK["new", at])
			changed(EVENT_LINE["new", at], EVENT_LINE["old", i],
				to_hex(EVENT_MASK["old", i]), "keywords " \
				to_hex(EVENT_MASK["new", at]) " of event " name)
		compare_fields(i, at)
	}
}

function compare_files() {
	if (PROVIDER["old"] != PROVIDER["new"])
		changed(PROVIDER_LINE["new"], PROVIDER_LINE["old"],
			PROVIDER["old"], "provider " PROVIDER["new"])
	compare_keywords()
	compare_sets()
	compare_events()
	if (ERRORS)
		exit 1
}

# ---- arguments ----

function main(   mode, at, name) {
	mode = ""
	ERRORS = 0
	at = 1
	if (ARGV[at] == "--" && ARGC > 1)
		at++
	for (; at < ARGC && ARGV[at] ~ /^-./; at++) {
		if (ARGV[at] == "--") {
			at++
			break
		}
		if (ARGV[at] == "-h" || ARGV[at] == "--help") {
			printf "%s", usage()
			exit 0
		}
		if (ARGV[at] !~ /^-[pucdtk]$/)
			stop_usage("there is no option " ARGV[at])
		if (mode != "")
			stop_usage("one of -p, -u, -c, -d, -t and -k is enough")
		mode = ARGV[at]
	}
	if (mode == "")
		stop_usage("one of -p, -u, -c, -d, -t and -k is needed")
	MODE = mode
	if (ARGC - at != (mode == "-k" ? 2 : 1))
		stop_usage(mode " takes " (mode == "-k" ? "two files" : "one file"))

	begin_characters()
	begin_names()
	begin_types()
	if (mode == "-k") {
		OLD_FILE = ARGV[at++]
		parse_file(OLD_FILE, "old")
		for (name in USED)
			delete USED[name]
		begin_names()
	}
	parse_file(ARGV[at], "new")
	if (mode == "-p")
		print_producer()
	else if (mode == "-u")
		print_program()
	else if (mode == "-c")
		print_consumer()
	else if (mode == "-d")
		print_decoder()
	else if (mode == "-t")
		print_text(0)
	else
		compare_files()
	exit 0
}

BEGIN {
	main()
}
