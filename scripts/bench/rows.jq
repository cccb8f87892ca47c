# SPDX-License-Identifier: GPL-2.0-only
#
# rows.jq - makes the JSON of a benchmark of the lines that rows.sh describes:
#
#	jq -R -n -f rows.jq NAME.rows > NAME.json

def number:
	if type == "string" and test("^-?[0-9]+([.][0-9]+)?(e[-+]?[0-9]+)?$")
	then tonumber else null end;

# Ends the row with this key: a later result replaces an earlier one.
def result($key; $members):
	if any(.rows[]; .row == $key) then
		.rows |= map(if .row == $key then
			del(.value, .median, .not_run, .failed) + $members else . end)
	else error("no row \($key) was declared") end;

def bar($relation; $limit; $value):
	if $relation == "below" then $value < $limit
	elif $relation == "at-most" then $value <= $limit
	elif $relation == "at-least" then $value >= $limit
	else error("no relation \($relation)") end;

reduce (inputs | split("\t")) as $line (
	{ schema: "eventlog-bench/1", bench: null, about: {}, rows: [], bars: [] };
	if $line[0] == "about" and $line[1] == "bench" then .bench = $line[2]
	elif $line[0] == "about" then .about[$line[1]] = $line[2]
	elif $line[0] == "row" then
		if any(.rows[]; .row == $line[1]) then error("two rows \($line[1])") else
			.rows += [{ row: $line[1], text: $line[4], unit: $line[2],
				better: $line[3] }]
		end
	elif $line[0] == "value" then
		($line[2] | number) as $value | ($line[3] | number) as $median |
		result($line[1]; if $value == null then
			{ failed: "not a number: \($line[2])" }
			else { value: $value } + if $median == null then {} else
				{ median: $median } end end)
	elif $line[0] == "not_run" or $line[0] == "failed" then
		result($line[1]; { ($line[0]): $line[2] })
	elif $line[0] == "bar" then
		($line[4] | number) as $value | ($line[3] | number) as $limit |
		.bars += [{ bar: $line[1], text: $line[5], relation: $line[2], limit: $limit } +
			if $value == null then { not_checked: "a row has no value" }
			else { value: $value, met: bar($line[2]; $limit; $value) } end]
	else error("unknown line: \($line[0])") end)
