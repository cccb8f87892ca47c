# SPDX-License-Identifier: GPL-2.0-only
#
# grammar.awk -v output=FORM abi.grammar - makes of the grammar of the interface, for FORM
#
#	tables	C tables for kernel_fuzz.c
#	syz	descriptions for syzkaller
#	claims	C assertions: structs and constants are those of the headers
#	names	a list: "struct NAME", "member STRUCT MEMBER OFFSET SIZE", "constant NAME",
#		"other PATTERN", "result STRUCT"
#
# An error in the grammar ends it with status 1.

function fail(text)
{
	print FILENAME ":" FNR ": " text > "/dev/stderr"
	status = 1
	exit 1
}

BEGIN {
	resource_count = alphabet_count = struct_count = call_count = 0
	count = split("size flags value number bits string string? room pointer pointer? array " \
		      "pool place use make slot directory pid bit out zero", kinds, " ")
	for (i = 1; i <= count; i++)
		is_kind[kinds[i]] = 1
}

/^#/ || /^$/ { next }

/^alphabet / {
	section = "alphabet"
	name = $2
	alphabets[alphabet_count++] = name
	alphabet_index[name] = alphabet_count - 1
	next
}

/^struct / {
	section = "struct"
	name = $2
	structs[struct_count++] = name
	struct_bytes[name] = $3
	members[name] = 0
	next
}

/^call / {
	section = "call"
	name = $2
	calls[call_count++] = name
	call_kind[name] = $3
	if ($3 == "ioctl") {
		call_request[name] = $4
		call_struct[name] = $5
		if (!($5 in struct_bytes))
			fail("no struct " $5)
		if ($4 ~ /^EVENTLOG/)
			constants[$4] = 1
	} else if ($3 != "PROGRAM") {
		fail("a call is ioctl or PROGRAM")
	}
	members[name] = 0
	next
}

/^other / {
	for (i = 2; i <= NF; i++)
		others[other_count++] = $i
	next
}

/^result / {
	for (i = 2; i <= NF; i++)
		results[result_count++] = $i
	next
}

/^\t"/ && section == "alphabet" {
	sub(/^\t/, "")
	strings[name, string_count[name]++] = $0
	next
}

/^\t/ && (section == "struct" || section == "call") {
	i = members[name]++
	member[name, i] = $1
	first = 2
	if (section == "struct") {
		offset[name, i] = $2
		bytes[name, i] = $3
		first = 4
	}
	kind[name, i] = $first
	if (!($first in is_kind))
		fail("no kind " $first)
	for (k = first + 1; k <= NF; k++) {
		details[name, i, k - first] = $k
		if ($k ~ /^EVENTLOG_/)
			constants[$k] = 1
	}
	detail_count[name, i] = NF - first
	if (($first == "make" || $first == "use") && !(details[name, i, 1] in resource_index) &&
	    details[name, i, 1] != "slot") {
		resource_index[details[name, i, 1]] = resource_count
		resources[resource_count++] = details[name, i, 1]
	}
	next
}

{ fail("not understood: " $0) }

# ---- names, claims ----

function print_names(    i, j, s)
{
	for (i = 0; i < struct_count; i++) {
		s = structs[i]
		print "struct", s, struct_bytes[s]
		for (j = 0; j < members[s]; j++)
			print "member", s, member[s, j], offset[s, j], bytes[s, j]
	}
	for (s in constants)
		print "constant", s
	for (i = 0; i < other_count; i++)
		print "other", others[i]
	for (i = 0; i < result_count; i++)
		print "result", results[i]
}

function print_claims(    i, j, s)
{
	for (i = 0; i < struct_count; i++) {
		s = structs[i]
		printf "_Static_assert(sizeof(struct %s) == %d, \"%s\");\n", s, struct_bytes[s], s
		for (j = 0; j < members[s]; j++)
			printf "_Static_assert(offsetof(struct %s, %s) == %d && " \
			       "sizeof(((struct %s *)0)->%s) == %d, \"%s.%s\");\n",
			       s, member[s, j], offset[s, j], s, member[s, j], bytes[s, j], s,
			       member[s, j]
	}
}

# ---- tables ----

# Adds a field of the call to the table. Values and flags are expressions of C.
function add_field(path, what, block, at, size, extra, more, values)
{
	fields = fields sprintf("\t{ \"%s\", FUZZ_%s, %d, %d, %d, %s, %s, %s },\n", path, what,
				block, at, size, extra, more, values)
	field_count++
}

function value_list(s, i, from,    k, text)
{
	text = ""
	for (k = from; k <= detail_count[s, i]; k++)
		text = text "(__u64)(" details[s, i, k] "), "
	return "FUZZ_VALUES(" text ")"
}

# Adds the members of a struct, or the arguments of a call.  Returns nothing.
function add_members(s, prefix, block, base,    i, k, what, path, at, size, target, mask, j)
{
	for (i = 0; i < members[s]; i++) {
		what = kind[s, i]
		path = prefix member[s, i]
		at = base + offset[s, i]
		size = bytes[s, i] + 0
		if (what == "size") {
			add_field(path, "SIZE", block, at, size, struct_bytes[s], "0", "FUZZ_NONE")
		} else if (what == "flags") {
			mask = "0"
			for (k = 1; k <= detail_count[s, i]; k++)
				mask = mask " | " details[s, i, k]
			add_field(path, "FLAGS", block, at, size, mask, "0", "FUZZ_NONE")
		} else if (what == "value" || what == "number") {
			add_field(path, "NUMBER", block, at, size, "0", "0", value_list(s, i, 1))
		} else if (what == "bits") {
			add_field(path, "BITS", block, at, size, "0", "0", "FUZZ_NONE")
		} else if (what == "string" || what == "string?") {
			k = detail_count[s, i]
			add_field(path, what == "string" ? "STRING" : "STRING_OR_0", block, at,
				  size, alphabet_index[details[s, i, 1]],
				  k > 1 ? alphabet_index[details[s, i, 2]] : -1, "FUZZ_NONE")
		} else if (what == "room") {
			add_field(path, "ROOM", block, at, size, "0", "0", "FUZZ_NONE")
		} else if (what == "pool") {
			add_field(path, "POOL", block, at, size,
				  alphabet_index[details[s, i, 1]], "0", "FUZZ_NONE")
		} else if (what == "place") {
			add_field(path, "PLACE", block, at, size,
				  alphabet_index[details[s, i, 1]], "0", "FUZZ_NONE")
		} else if (what == "pointer" || what == "pointer?") {
			target = block_count++
			block_bytes[target] = struct_bytes[details[s, i, 1]]
			add_field(path, what == "pointer" ? "POINTER" : "POINTER_OR_0", block, at,
				  size, target, "0", "FUZZ_NONE")
			add_members(details[s, i, 1], path ".", target, 0)
		} else if (what == "array") {
			target = block_count++
			block_bytes[target] = elements * struct_bytes[details[s, i, 1]]
			add_field(path, "POINTER", block, at, size, target, "0", "FUZZ_NONE")
			for (j = 0; j < elements; j++)
				add_members(details[s, i, 1], path "[" j "].", target,
					    j * struct_bytes[details[s, i, 1]])
		} else if (what == "use") {
			add_field(path, "USE", block, at, size,
				  resource_index[details[s, i, 1]], "0", "FUZZ_NONE")
		} else if (what == "make" && details[s, i, 1] == "slot") {
			if (block < 0)
				add_field(path, "SLOT", block, at, size, "0", "0", "FUZZ_NONE")
			else
				add_field(path, "MAKE_SLOT", block, at, size, "0", "0", "FUZZ_NONE")
		} else if (what == "make") {
			add_field(path, details[s, i, 2] == "use" ? "MAKE_USE" : "MAKE", block, at,
				  size, resource_index[details[s, i, 1]], "0", "FUZZ_NONE")
		} else if (what != "out") {
			add_field(path, toupper(what), block, at, size, "0", "0", "FUZZ_NONE")
		}
	}
}

function print_tables(    i, j, s, ops)
{
	elements = 3
	print "/* Made by grammar.awk of abi.grammar. */"
	print "#include <linux/eventlog.h>\n\n#include \"fuzz.h\"\n"
	print "#define FUZZ_NONE NULL, 0"
	print "#define FUZZ_VALUES(...) \\"
	print "\t(const __u64[]){ __VA_ARGS__ }, sizeof((__u64[]){ __VA_ARGS__ }) / 8\n"
	for (i = 0; i < alphabet_count; i++) {
		s = alphabets[i]
		printf "static const struct fuzz_string strings_%s[] = {\n", s
		for (j = 0; j < string_count[s]; j++)
			printf "\t{ %s, sizeof(%s) },\n", strings[s, j], strings[s, j]
		print "};\n"
	}
	print "const struct fuzz_alphabet fuzz_alphabets[] = {"
	for (i = 0; i < alphabet_count; i++)
		printf "\t{ strings_%s, %d },\n", alphabets[i], string_count[alphabets[i]]
	print "};\n"
	print "const char *const fuzz_resources[] = {"
	for (i = 0; i < resource_count; i++)
		printf "\t\"%s\",\n", resources[i]
	print "};\n"
	for (i = 0; i < call_count; i++) {
		s = calls[i]
		fields = ""
		field_count = 0
		block_count = 0
		if (call_kind[s] == "ioctl") {
			block_bytes[block_count++] = struct_bytes[call_struct[s]]
			add_field("file", "SLOT", -1, 0, 0, "0", "0", "FUZZ_NONE")
			add_members(call_struct[s], "", 0, 0)
		} else {
			add_members(s, "", -1, 0)
		}
		printf "static const struct fuzz_field fields_%s[] = {\n%s};\n\n", s, fields
		ops = ops sprintf("\t{ \"%s\", %s, %d, { ", s,
				  call_kind[s] == "ioctl" ? call_request[s] : "0", block_count)
		for (j = 0; j < block_count; j++)
			ops = ops block_bytes[j] ", "
		ops = ops sprintf("}, fields_%s, %d },\n", s, field_count)
	}
	print "const struct fuzz_op fuzz_ops[] = {\n" ops "};\n"
	printf "const unsigned int fuzz_op_count = %d;\n", call_count
}

# What kernel_fuzz.c refers to by name.
function print_numbers(    i, j, s)
{
	print "/* Made by grammar.awk of abi.grammar. */"
	print "#ifndef FUZZ_NUMBERS_H\n#define FUZZ_NUMBERS_H\n"
	printf "#define FUZZ_RESOURCES %d\n#define FUZZ_OPS %d\n\n", resource_count, call_count
	print "enum {"
	for (i = 0; i < resource_count; i++)
		printf "\tFUZZ_RESOURCE_%s,\n", toupper(resources[i])
	print "};\n\nenum {"
	for (i = 0; i < call_count; i++)
		printf "\tFUZZ_OP_%s,\n", toupper(calls[i])
	print "};"
	for (i = 0; i < call_count; i++) {
		s = calls[i]
		if (call_kind[s] == "ioctl")
			continue
		print "\nenum {"
		for (j = 0; j < members[s]; j++)
			printf "\tFUZZ_%s_%s,\n", toupper(s), toupper(member[s, j])
		print "};"
	}
	print "\n#endif /* FUZZ_NUMBERS_H */"
}

# ---- syzkaller ----

# A string of C as syzkaller takes any bytes: hexadecimal digits between backquotes.
function syz_string(text,    i, c, hex)
{
	if (!ord["a"])
		for (i = 1; i < 256; i++)
			ord[sprintf("%c", i)] = i
	hex = ""
	for (i = 2; i < length(text); i++) {
		c = substr(text, i, 1)
		if (c == "\\") {
			c = substr(text, ++i, 1)
			c = c == "n" ? "\n" : c == "t" ? "\t" : c
		}
		hex = hex sprintf("%02x", ord[c])
	}
	return hex == "" ? "\"\"" : "`" hex "`"
}

function syz_type(s, i,    what, size, k, text)
{
	what = kind[s, i]
	size = "int" bytes[s, i] * 8
	if (what == "size")
		return "bytesize[parent, " size "]"
	if (what == "flags")
		return "flags[" s "_" member[s, i] ", " size "]"
	if ((what == "value" || what == "number") && bytes[s, i] <= 8)
		return "flags[" s "_" member[s, i] ", " size "]"
	if (what == "number")
		return "array[int64, " bytes[s, i] / 8 "]"
	if (what == "bits" || what == "directory" || what == "out" && bytes[s, i] <= 8)
		return what == "directory" ? "fd" : what == "out" ? "const[0, " size "]" : size
	if (what == "out")
		return "array[const[0, int8], " bytes[s, i] "]"
	if (what == "string" || what == "string?") {
		text = "ptr64[in, string[eventlog_" details[s, i, 1] "_strings]" \
		       (what == "string?" ? ", opt" : "") "]"
		return text
	}
	if (what == "room")
		return "ptr64[out, array[int8]]"
	if (what == "pool")
		return "ptr64[in, array[int8]]"
	if (what == "place")
		return "int32[0:256]"
	if (what == "pointer" || what == "pointer?")
		return "ptr64[in, " details[s, i, 1] (what == "pointer?" ? ", opt]" : "]")
	if (what == "array")
		return "ptr64[in, array[" details[s, i, 1] "]]"
	if (what == "use")
		return "eventlog_id_" details[s, i, 1]
	if (what == "make" && details[s, i, 1] == "slot")
		return "fd_eventlog (out)"
	if (what == "make")
		return "eventlog_id_" details[s, i, 1] \
		       (details[s, i, 2] == "use" ? " (inout)" : " (out)")
	if (what == "pid")
		return "pid"
	if (what == "bit")
		return "vma64"
	return "const[0, " size "]"
}

function print_syz(    i, j, k, s, list)
{
	print "# SPDX-License-Identifier: GPL-2.0-only\n#"
	print "# /dev/eventlog for syzkaller.  Made by grammar.awk of abi.grammar."
	print "\ninclude <uapi/linux/eventlog.h>\ninclude <uapi/linux/fcntl.h>\n"
	print "resource fd_eventlog[fd]"
	for (i = 0; i < resource_count; i++) {
		s = resources[i]
		if (s != "map")
			printf "resource eventlog_id_%s[int%d]\n", s,
			       s ~ /^(offset|length|cursor)$/ ? 64 : 32
	}
	print "\nopenat$eventlog(fd const[AT_FDCWD], file ptr[in, string[\"/dev/eventlog\"]], " \
	      "flags flags[open_flags], mode const[0]) fd_eventlog"
	print "mmap$eventlog(addr vma, len eventlog_id_length, prot flags[mmap_prot], " \
	      "flags flags[mmap_flags], fd fd_eventlog, offset eventlog_id_offset)"
	print "write$eventlog(fd fd_eventlog, buf ptr[in, eventlog_message], count len[buf])"
	print "write$eventlog_batch(fd fd_eventlog, buf ptr[in, eventlog_batch], count len[buf])"
	print "write$eventlog_kick(fd fd_eventlog, buf ptr[in, eventlog_kick], count len[buf])"
	print "write$eventlog_session(fd fd_eventlog, buf ptr[in, eventlog_write_session], " \
	      "count len[buf])"
	print "read$eventlog(fd fd_eventlog, buf buffer[out], count len[buf])"
	for (i = 0; i < call_count; i++) {
		s = calls[i]
		if (call_kind[s] == "ioctl" && call_request[s] ~ /^EVENTLOG/)
			printf "ioctl$%s(fd fd_eventlog, cmd const[%s], arg ptr[inout, %s])\n",
			       call_request[s], call_request[s], call_struct[s]
	}
	print "\neventlog_message {\n\tindex\teventlog_id_index\n\tpayload\tarray[int8]\n} [packed]"
	print "\neventlog_batched {\n\tbytes\tbytesize[message, int32]"
	print "\tmessage\teventlog_message\n} [packed]"
	print "\neventlog_batch {\n\tmarker\tconst[EVENTLOG_WRITE_BATCH, int32]"
	print "\tmessages\tarray[eventlog_batched]\n} [packed]"
	print "\neventlog_kick {\n\tmarker\tconst[EVENTLOG_WRITE_KICK, int32]"
	print "\tring\teventlog_id_ring\n\tmessage\tarray[eventlog_message, 0:1]\n} [packed]"
	for (i = 0; i < struct_count; i++) {
		s = structs[i]
		if (s !~ /^eventlog/)
			continue
		printf "\n%s {\n", s
		for (j = 0; j < members[s]; j++)
			printf "\t%s\t%s\n", member[s, j], syz_type(s, j)
		printf "} [packed, size[%d]]\n", struct_bytes[s]
	}
	print ""
	for (i = 0; i < struct_count; i++) {
		s = structs[i]
		for (j = 0; s ~ /^eventlog/ && j < members[s]; j++) {
			if (kind[s, j] !~ /^(flags|value|number)$/ || bytes[s, j] > 8)
				continue
			list = ""
			for (k = 1; k <= detail_count[s, j]; k++)
				list = list (k > 1 ? ", " : "") \
				       (details[s, j, k] == -1 ? "0xffffffff" : details[s, j, k])
			printf "%s_%s = %s\n", s, member[s, j], list
		}
	}
	for (i = 0; i < alphabet_count; i++) {
		s = alphabets[i]
		if (s ~ /^(command|provider|event|instance|text)$/) {
			list = ""
			for (j = 0; j < string_count[s]; j++)
				list = list (j ? ", " : "") syz_string(strings[s, j])
			if (s == "command")
				for (j = 0; j < string_count["schema"]; j++)
					list = list ", " syz_string(strings["schema", j])
			printf "eventlog_%s_strings = %s\n", s, list
		}
	}
}

END {
	if (status)
		exit status
	if (output == "names")
		print_names()
	else if (output == "claims")
		print_claims()
	else if (output == "tables")
		print_tables()
	else if (output == "numbers")
		print_numbers()
	else if (output == "syz")
		print_syz()
	else
		exit 2
}
