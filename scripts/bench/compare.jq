# SPDX-License-Identifier: GPL-2.0-only
#
# compare.jq - compares two results of a benchmark ($old and $new, each in an array) for
# scripts/bench/compare. Prints lines of words between tabs: "text" and a line to print, or
# "row", a row's name, both values, the change, and better, worse, lost or new.

def line($words): $words | map(tostring) | join("\t");

def round3: (. * 1000 | round) / 1000;

# The value, or why there is none.
def shown:
	if . == null then "-"
	elif has("value") then .value | round3
	elif has("failed") then "failed"
	else "not run" end;

def change($one; $other):
	if $one == 0 then if $other == 0 then 0 else null end
	else ($other - $one) / ($one | fabs) * 100 end;

# Whether more or less is better; the sign is that of an improvement.
def verdict($percent; $better):
	if $percent == null then ""
	elif $percent * (if $better == "more" then 1 else -1 end) > $tolerance then "better"
	elif $percent * (if $better == "more" then 1 else -1 end) < -$tolerance then "worse"
	else "" end;

def reasons($side):
	if . == null then empty
	elif has("failed") then "  \($side): failed: \(.failed)"
	elif has("not_run") then "  \($side): not run: \(.not_run)"
	else empty end;

$old[0] as $old | $new[0] as $new |
($old.rows | map({ key: .row, value: . }) | from_entries) as $before |
($new.rows | map({ key: .row, value: . }) | from_entries) as $after |
line(["text", "benchmark \($old.bench): \($old.about.version) to \($new.about.version)"]),
($old.about + $new.about | keys_unsorted[] | select(. != "version") |
	select($old.about[.] != $new.about[.]) |
	line(["text", "different \(.): \($old.about[.]) and \($new.about[.])"])),
line(["row", "", "old", "new", "change", ""]),
([$old.rows[].row] + ([$new.rows[].row] - [$old.rows[].row]) | .[]) as $key |
$before[$key] as $one | $after[$key] as $other | ($other // $one) as $row |
"\($row.text), \($row.unit)" as $name |
if $one != null and $other != null and $one.unit != $other.unit then
	line(["row", $row.text, "\($one | shown) \($one.unit)",
		"\($other | shown) \($other.unit)", "-", ""])
elif ($one | type == "object" and has("value")) and
     ($other | type == "object" and has("value")) then
	change($one.value; $other.value) as $percent |
	line(["row", $name, ($one | shown), ($other | shown),
		if $percent == null then "-" else "\($percent * 10 | round / 10) %" end,
		verdict($percent; $row.better)])
else
	line(["row", $name, ($one | shown), ($other | shown), "-",
		if $one | type == "object" and has("value") then "lost"
		elif $other | type == "object" and has("value") then "new" else "" end]),
	(($one | reasons("old")), ($other | reasons("new")) | line(["text", .]))
end
