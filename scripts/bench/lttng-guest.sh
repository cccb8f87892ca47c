# SPDX-License-Identifier: GPL-2.0-only
#
# lttng-guest.sh - loads LTTng's kernel tracer in a guest. Sourced. The caller sets
# lttng, the directory of its modules, and built, the directory of the probe.
# shellcheck shell=bash disable=SC2154

load_lttng()
{
	for module in lttng-wrapper lttng-clock lib/lttng-lib-ring-buffer \
		      lib/lttng-counter probes/lttng-kprobes probes/lttng-kretprobes \
		      probes/lttng-uprobes lttng-statedump lttng-tracer \
		      lttng-ring-buffer-client-discard \
		      lttng-ring-buffer-client-overwrite \
		      lttng-ring-buffer-metadata-client \
		      lttng-ring-buffer-client-mmap-discard \
		      lttng-ring-buffer-client-mmap-overwrite \
		      lttng-ring-buffer-metadata-mmap-client \
		      lttng-ring-buffer-event-notifier-client \
		      lttng-counter-client-percpu-32-modular \
		      lttng-counter-client-percpu-64-modular; do
		insmod "$lttng/src/$module.ko" || return 1
	done
	insmod "$built/module/bench/lttng/eventlog_bench_lttng.ko" &&
		lttng-sessiond --daemonize
}
