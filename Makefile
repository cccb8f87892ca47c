# SPDX-License-Identifier: GPL-2.0-only
#
# All output is below build/. The modules are built for each kernel in a tree of links
# to the sources: build/<release>/eventlog.ko, build/<release>/eventlog_user_events.ko.

help_text := \
	'  all          module and tools (default)' \
	'  module       eventlog.ko and the modules that need it, for the kernel of KDIR' \
	'  tools        elog, libelog, the examples' \
	'  engine       the module in a process, for machines that cannot load it' \
	'  selftests, tools-tests  the test programs: of the module, of elog and libelog' \
	'  programs-i386, programs-armhf, programs-arm64  these and the tools as static programs' \
	'               of these architectures' \
	'  setup        install packages for building and testing; the targets that need more or' \
	'               less do that themselves: see scripts/setup -h' \
	'  demo         build, boot a guest and demonstrate the tools' \
	'  demo-fleet   demonstrate elog ship: two guests, and three servers, of which one is killed' \
	'  demo-why     the same for elog why: requests that wait for known causes' \
	'  check        build everything and run the tests that prove a change' \
	'  check-everything  run all tests on all kernels and all benchmarks: ten hours;' \
	'               FOR=MINUTES runs what was not run for longest, FROM=ROW continues an' \
	'               interrupted run; tools/doc/proofs.md has the results' \
	'  check-static check warnings (W=1, sparse), includes, tests, words, and whether the' \
	'               layout of linux/eventlog.h or the functions of libelog have changed' \
	'  check-fleet  test elog ship with a cluster of NATS servers that are killed, cut off,' \
	'               or have no space' \
	'  check-user-events  run the tests of user_events of the kernel on 6.1, on 6.12, and on' \
	'               6.12 with user_events of its own' \
	'  check-matrix run the tests of C programs, of kernel modules and of elog on each' \
	'               kernel of KERNELS (all of scripts/check-matrix)' \
	'  check-armhf, check-arm64  the same on a 32-bit, on a 64-bit ARM kernel' \
	'  check-vendor test the module on kernels that pretend to be older than their headers' \
	'  check-kselftest  build and run the C tests in a tree of the kernel, with kselftest' \
	'  check-debug  test the module on a kernel with KASAN, UBSAN, lockdep, kmemleak and' \
	'               failing allocations' \
	'  check-why    compare what elog why says with known causes, on several kernels;' \
	'               WHY_KERNELS="6.1 5.10": on these' \
	'  check-sanitizers  test the module on kernels with KASAN and lockdep, and with KCSAN' \
	'  check-native stress the ring in user space, with sanitizers' \
	'  check-engine run tests of the ABI and of elog with the engine, on this machine;' \
	'               SANITIZE=1: with sanitizers' \
	'  check-mutants  break module and libelog on purpose: tests must notice each fault' \
	'  check-unstable  run make check again and again on a busy and on a slow machine, and' \
	'               list the tests whose results differ; RUNS=5, MINUTES=60: end after it' \
	'  check-models check the models of ring, wakeup and FLUSH with spin' \
	'  release-check  is this tree what may become the release of its version?' \
	'  coverage     count the lines and branches that the tests reach, and write' \
	'               tools/doc/coverage.md' \
	'  soak         use the module in all ways at once, for SOAK_MINUTES (60) on each of' \
	'               SOAK_KERNELS (6.1), while processes are killed, modules are loaded and' \
	'               unloaded, CPUs are off and on, and memory is short' \
	'  faults       let each call of the C library fail, one after the other, in elog' \
	'  fuzz         fuzz what reads bytes of others, FUZZ_SECONDS (60) for each fuzzer' \
	'  fuzz-kernel  fuzz the module, guided by coverage, for FUZZ_MINUTES (30), on a kernel' \
	'               with KASAN and lockdep' \
	'  bench        run all benchmarks, print tables: see tools/doc/benchmarks.md' \
	'  bench-ring   time the ring in user space, compared with LTTng-UST' \
	'  bench-producer  time an event that a thread puts in its ring, compared with' \
	'               LTTng-UST' \
	'  bench-kernel time the module in a kernel, compared with user_events and' \
	'               tracepoints' \
	'  bench-instructions  count the instructions of an event of kernel code,' \
	'               compared with tracepoints and LTTng' \
	'  bench-process  count the instructions of an event of a process, compared' \
	'               with /dev/null, trace_marker, user_events and LTTng' \
	'  bench-drain  count the instructions of an event from the rings to a file,' \
	'               compared with trace-cmd and LTTng' \
	'  bench-capture  loss, CPU time and size of an event from emitting to a file,' \
	'               compared with trace-cmd, perf and LTTng' \
	'  bench-show   time printing and exporting a file, compared with babeltrace2' \
	'  bench-list   count the instructions of listing all definitions' \
	'  bench-fleet  time sending files to NATS servers, compared with cp' \
	'  bench-contention  measure calls of root while a user attacks' \
	'  bench-why    count the instructions that eventlog_sched.ko adds to a context' \
	'               switch, compared with ftrace, perf and bpftrace' \
	'  bench-why-server  count the requests of nginx, and of a server that blocks, in' \
	'               a second of CPU time, with and without sessions' \
	'               STRICT=1 with any benchmark: fail if a bar is missed' \
	'  bench-compare OLD=DIR NEW=DIR  compare two results: directories or files' \
	'               like build/bench/*.json; STRICT=1: fail if a row is worse' \
	'  install      install module, tools, library, manual pages, udev rule, units' \
	'  install-gen  install only eventlog-gen; also -module, -tool, -library,' \
	'               -development, -device (udev rule, group), -service (units),' \
	'               -fleet (what elog ship needs), -babeltrace2 (plugin)' \
	'  uninstall    remove installed files' \
	'  deb          build packages for Debian and Ubuntu, in build/deb' \
	'  check-deb    install them in a fresh Debian, use and purge them' \
	'  clean        remove build/' \
	'' \
	'  KDIR=DIR     build directory or headers of a kernel; default: those of' \
	'               the running kernel or, if it has none, of the test kernel' \
	'  EVENTLOG_KERNEL=VERSION  test kernel, see scripts/kernel (6.1)' \
	'  PREFIX=DIR LIBDIR=DIR  where to install (/usr/local, PREFIX/lib); DESTDIR' \
	'               is supported' \
	'  V=1          print the whole commands' \
	'  W=1 C=1 ...  as for the kernel'

ifneq ($(words $(CURDIR)),1)
$(error the kernel's build does not support spaces in paths)
endif

top := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
running_release := $(shell uname -r)
running := /lib/modules/$(running_release)/build

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
UDEVDIR ?= /usr/lib/udev/rules.d
UNITDIR ?= $(PREFIX)/lib/systemd/system
INSTALL ?= install

include $(top)/scripts/quiet.mk

all: module tools

# The kernel is looked up only when a recipe needs it, because that may download the
# test kernel.
ifeq ($(KDIR),)
kernel_dir = $(eval kernel_dir := $(or \
	$(if $(wildcard $(running)/Makefile),$(abspath $(running))), \
	$(info the running kernel has no headers: building for the test kernel) \
	$(shell $(top)/scripts/kernel headers $(EVENTLOG_KERNEL)), \
	$(error no kernel headers found: set KDIR=)))$(kernel_dir)
else
kernel_dir := $(KDIR)
endif
release = $(eval release := $(or \
	$(shell sed -n 's/.*UTS_RELEASE "\(.*\)".*/\1/p' \
		'$(kernel_dir)/include/generated/utsrelease.h'), \
	$(error $(kernel_dir) is not prepared for building modules)))$(release)
build = $(top)/build/$(release)$(variant)

# Debian's headers name a compiler. If it is missing, use gcc.
named_compiler = $(shell sed -n 's/^CC = .*(CROSS_COMPILE)//p' \
	'$(kernel_dir)/.kernelvariables' 2>/dev/null)
compiler = $(eval compiler := $(if $(filter-out undefined default,$(origin CC)),, \
	$(if $(named_compiler),$(if $(shell command -v $(named_compiler)),, \
	CC=gcc))))$(compiler)

# Without vmlinux the kernel's build cannot add BTF: scripts/module-btf does.
own_btf = $(if $(wildcard $(kernel_dir)/vmlinux),,CONFIG_DEBUG_INFO_BTF_MODULES=)

kbuild = $(MAKE) -C '$(kernel_dir)' M='$(build)' $(compiler) $(own_btf)

# Links are relative, and those that lead to another tree are replaced: a copied or moved tree
# builds its own sources. Remove links to files that no longer exist. Builds of a kernel hold a
# lock.
define link_sources
	@mkdir -p '$(build)'
	@cd '$(build)' && ln -sfn ../../Kbuild ../../uapi ../../include ../../tools . && \
	(cd ../.. && find module -type d) | xargs mkdir -p && \
	(cd ../.. && find module -type f -name '*.[chS]' -o -type f -name '*.src' -o \
		-type f \( -name Kbuild -o -name Makefile \) -path 'module/*') | \
	while read -r file; do \
		[ "$$file" -ef "../../$$file" ] || ln -sfr "../../$$file" "$$file"; \
	done && find . -xtype l -delete
endef

# Only the links.
sources:
	$(link_sources)

module:
	$(link_sources)
	+@flock '$(build)/.' $(kbuild) --no-print-directory modules
	@flock '$(build)/.' scripts/module-btf '$(kernel_dir)' '$(release)' '$(build)'

# BUILD_LOG=FILE: what a build with W=1 C=2 CHECK=sparse has printed. Without it, there is one.
ifeq ($(BUILD_LOG),)
check-static: variant := .static
check-static: build-static
endif

build-static:
	$(link_sources)
	@command -v sparse > /dev/null || \
		{ echo 'sparse is missing: make setup' >&2; false; }
	+@flock '$(build)/.' $(kbuild) --no-print-directory W=1 C=2 CHECK=sparse \
		modules > '$(build)/log' 2>&1 || { cat '$(build)/log' >&2; false; }

check-static:
	@! grep -E '^($(build)/|(\./)?(module|uapi|include/linux/eventlog)[/.]).*: (warning|error):|^WARNING: modpost' \
		'$(or $(BUILD_LOG),$(build)/log)' >&2
	@echo 'no warnings from W=1 and sparse'
	@status=0; for check in layers bats words sleeps uapi libelog; do \
		scripts/check-$$check || status=1; done; \
	scripts/draw-house --check || status=1; scripts/release-check || status=1; exit $$status

release-check:
	@scripts/release-check --tag

tools:
	@$(MAKE) --no-print-directory -C tools OUTPUT='$(top)/build/tools'

tools-tests:
	@$(MAKE) --no-print-directory -C tools OUTPUT='$(top)/build/tools' tests

engine_output := $(top)/build/engine$(if $(SANITIZE),.sanitized)

# Two builds in one directory wait for each other.
engine:
	@mkdir -p '$(engine_output)'
	+@flock '$(engine_output)/.' $(MAKE) --no-print-directory -C tools/engine \
		OUTPUT='$(engine_output)'

# Two builds in one directory wait for each other; tools/Makefile does that itself.
selftests:
	@mkdir -p build/selftests
	+@flock build/selftests/. $(MAKE) --no-print-directory -C selftests \
		OUTPUT='$(top)/build/selftests'
	+@flock build/selftests/. $(MAKE) --no-print-directory -C selftests/fuzz \
		OUTPUT='$(top)/build/selftests'

# Static programs for another architecture. ELOG_ONLY=1: of tools/ only elog.
# The C library's headers work for 32 bits as well; those of asm/ are close enough.
programs-i386 selftests-i386: options = \
	CFLAGS="-O2 -g -m32 -idirafter /usr/include/$$(gcc -print-multiarch)"
programs-armhf selftests-armhf: options = CC=$(call cross_gcc,arm-linux-gnueabihf-gcc)
programs-arm64 selftests-arm64: options = CC=$(call cross_gcc,aarch64-linux-gnu-gcc)

selftests-i386 selftests-armhf selftests-arm64: selftests-%:
	@mkdir -p build/selftests-$*
	+@flock build/selftests-$*/. $(MAKE) --no-print-directory -C selftests \
		OUTPUT='$(top)/build/selftests-$*' LDFLAGS=-static $(options)

programs-i386 programs-armhf programs-arm64: programs-%: selftests-%
	@$(MAKE) --no-print-directory -C tools OUTPUT='$(top)/build/tools-$*' \
		LDFLAGS=-static $(options) $(if $(ELOG_ONLY),'$(top)/build/tools-$*/elog',tests)

# Debian's packages have a compiler with or without the version in its name.
cross_gcc = $(or $(notdir $(firstword $(wildcard $(addsuffix \
	/$(1)-12,$(subst :, ,$(PATH)))))),$(1))

setup:
	@scripts/setup

demo: demonstration := demo.sh
demo-why: demonstration := demo_why.sh

demo demo-why:
	@echo '== Installing what $@ needs, and fetching a kernel: a minute, the first time'
	@scripts/setup demo
	@echo '== Building the module and the tools: two minutes, the first time'
	@$(MAKE) --no-print-directory module tools \
		KDIR="$$(scripts/kernel headers $(EVENTLOG_KERNEL))"
	@echo '== Booting a guest: ten seconds; what it does takes half a minute'
	@scripts/vm -- tools/examples/$(demonstration)

demo-fleet:
	@echo '== Installing what $@ needs: a minute, the first time'
	@scripts/setup demo-fleet
	@echo '== Building a kernel for the guests: 160 MB to fetch and ten minutes, the first time'
	@scripts/uml --test build
	@echo '== Building the module and the tools: two minutes, the first time'
	@$(MAKE) --no-print-directory module ARCH=um SUBARCH=x86_64 \
		KDIR="$$(scripts/uml --test headers)"
	@$(MAKE) --no-print-directory tools
	@echo '== Two guests and three servers: a minute'
	@tools/examples/demo_fleet.sh

check:
	@scripts/check

check-everything:
	@scripts/check-everything $(if $(FROM),--from '$(FROM)',$(if $(FOR),--for '$(FOR)'))

# The kernel's own tests, and those of this tree.
user_events_tests := selftests/user_events_suite_test.sh build/selftests/user_events_test \
	build/selftests/user_events_isolation_test
# Where the kernel has user_events of its own, and KASAN.
own_user_events_tests := selftests/user_events_suite_test.sh selftests/capture_static_test.sh \
	build/selftests/abi_test

USER_EVENTS_KERNELS ?= 6.1 6.12 6.12-user_events

check-user-events:
	@scripts/setup
	@scripts/build-user-events-suite build/user_events
	@$(MAKE) --no-print-directory selftests tools-tests
	@status=0; for kernel in $(filter-out 6.12-user_events,$(USER_EVENTS_KERNELS)); do \
		$(MAKE) --no-print-directory module EVENTLOG_TEST_MODULE=1 \
			KDIR="$$(scripts/kernel headers $$kernel)" && \
		scripts/vm --kernel $$kernel --single-thread -- scripts/run-tests \
			--module "build/$$(scripts/kernel release $$kernel)/eventlog.ko" \
			$(user_events_tests) || status=1; \
	done; \
	$(if $(filter 6.12-user_events,$(USER_EVENTS_KERNELS)),,exit $$status;) \
	$(MAKE) --no-print-directory module EVENTLOG_TEST_MODULE=1 variant=.user_events \
		KDIR="$$(scripts/kernel headers 6.12-user_events)" && \
	scripts/vm --kernel 6.12-user_events --single-thread --mem 3072 --timeout 3600 -- \
		scripts/run-tests --module \
		"build/$$(scripts/kernel release 6.12-user_events).user_events/eventlog.ko" \
		--parameters "ring_memory_max=134217728 $$(scripts/uml --debug parameters)" \
		$(own_user_events_tests) || status=1; \
	exit $$status

check-matrix:
	@scripts/check-matrix $(KERNELS)

check-vendor:
	@scripts/check-vendor

check-kselftest:
	@scripts/check-kselftest

check-armhf check-arm64: check-%:
	@scripts/check-matrix 6.1-$*

SOAK_MINUTES ?= 60

soak:
	@scripts/soak $(SOAK_MINUTES) $(SOAK_KERNELS)

# Tests of the stock kernel's user_events, and of a suspend, need other kernels.
DEBUG_TESTS ?= build/selftests/*_test \
	$(filter-out %/user_events_suite_test.sh %/suspend_test.sh,$(wildcard selftests/*_test.sh))
debug_logs = $(or $(EVENTLOG_LOGS),build/check)

check-debug:
	@scripts/setup
	@scripts/setup bench
	@scripts/uml --debug build
	@$(MAKE) --no-print-directory module EVENTLOG_TEST_MODULE=1 ARCH=um SUBARCH=x86_64 \
		KDIR="$$(scripts/uml --debug headers)"
	@$(MAKE) --no-print-directory selftests tools-tests
	@mkdir -p '$(debug_logs)'
	@scripts/uml --debug run --share '$(top)' --timeout 3600 --mem 1024 -- \
		scripts/run-tests --module "build/$$(scripts/uml --debug release)/eventlog.ko" \
		--parameters "$$(scripts/uml --debug parameters)" --leaks \
		--results '$(debug_logs)/debug.results' $$(scripts/part $(DEBUG_TESTS))

coverage:
	@scripts/setup
	@scripts/coverage

# elog ship with a cluster of servers.
check-fleet:
	@scripts/setup
	@$(MAKE) --no-print-directory tools-tests
	@tools/elog/fleet/cluster_test.sh

check-why:
	@scripts/check-why $(WHY_KERNELS)

check-sanitizers:
	@scripts/check-sanitizers

check-native:
	@$(MAKE) --no-print-directory -C selftests/native check \
		OUTPUT='$(top)/build/native'

# The engine, and what lets tests use it.
engine-tests: engine
	@$(MAKE) --no-print-directory -C selftests/engine OUTPUT='$(engine_output)'

check-engine: engine-tests
	@$(MAKE) --no-print-directory SANITIZE= selftests tools-tests
	@scripts/check-engine --engine '$(engine_output)'

# Of the ring, and of the rest.
check-mutants:
	@status=0; selftests/native/mutants || status=1; \
	scripts/mutants-kernel || status=1; exit $$status

check-unstable:
	@scripts/check-unstable $(if $(RUNS),--runs '$(RUNS)') $(if $(MINUTES),--for '$(MINUTES)')

check-models:
	@scripts/models/check-models

FUZZ_SECONDS ?= 60

# The corpus is kept for the next run, and so are inputs that fail.
fuzz:
	@$(MAKE) --no-print-directory -C tools fuzzers FUZZ=1 CC=clang \
		OUTPUT='$(top)/build/tools.fuzz'
	@for fuzzer in build/tools.fuzz/*_fuzz; do \
		name=$${fuzzer##*/}; \
		mkdir -p "build/fuzz/$$name" "build/tools.fuzz/seeds/$$name"; \
		echo "$$name: $(FUZZ_SECONDS) s"; \
		"$$fuzzer" -max_total_time=$(FUZZ_SECONDS) -max_len=16384 \
			-artifact_prefix="build/fuzz/$$name." -print_final_stats=1 \
			"build/fuzz/$$name" "build/tools.fuzz/seeds/$$name" \
			$$(ls -d "tools/fuzz/found/$$name" 2> /dev/null) \
			2> "build/fuzz/$$name.log" || \
			{ tail -n 60 "build/fuzz/$$name.log" >&2; exit 1; }; \
		grep 'stat::number_of_executed_units' "build/fuzz/$$name.log"; \
	done

FUZZ_MINUTES ?= 30

# What reaches something new is kept for the next run, and so are programs that fail.
fuzz-kernel:
	@scripts/fuzz-kernel $(FUZZ_MINUTES)

# One call of the C library after the other fails in elog.
faults:
	@scripts/setup
	@scripts/uml --test build
	@$(MAKE) --no-print-directory module EVENTLOG_TEST_MODULE=1 ARCH=um SUBARCH=x86_64 \
		KDIR="$$(scripts/uml --test headers)"
	@$(MAKE) --no-print-directory tools-tests selftests
	@export EVENTLOG_FAULTS=all; status=0; \
	scripts/run-tests --timeout 3600 selftests/faults/faults_test.sh || status=1; \
	scripts/uml --test run --share '$(top)' --timeout 3600 --mem 1024 -- \
		scripts/run-tests --timeout 3600 \
		--module "build/$$(scripts/uml --test release)/eventlog.ko" \
		selftests/faults.bats || status=1; \
	exit $$status

bench_flags = $(if $(filter 1,$(STRICT)),--strict)

benches := ring producer kernel instructions process drain capture show list contention fleet why why-server

# They run one after the other, because they measure time; if one fails, the others still run.
bench:
	@status=0; for name in $(benches); do \
		scripts/bench/$$name $(bench_flags) || status=1; \
	done; exit $$status

$(benches:%=bench-%): bench-%:
	@scripts/bench/$* $(bench_flags)

bench-compare:
	@$(if $(and $(OLD),$(NEW)),,$(error usage: make bench-compare OLD=DIR NEW=DIR, \
		directories or files like build/bench/*.json))
	@scripts/bench/compare $(bench_flags) '$(OLD)' '$(NEW)'

# Do not install a module for the test kernel by accident.
ifneq ($(filter install install-module,$(MAKECMDGOALS)),)
ifeq ($(KDIR)$(wildcard $(running)/Makefile),)
$(error no headers for the running kernel ($(running_release)): \
	install them or set KDIR=)
endif
endif

# Installed files as FROM:TO:MODE, TO without DESTDIR. install and uninstall use the
# same lists.
man_pages = $(wildcard $(1:%=tools/man/*.%))
man_files = $(foreach page,$(man_pages),$(page):$(man_dir)$(subst .,,$(suffix \
	$(page)))/$(notdir $(page)):644)
man_dir := $(PREFIX)/share/man/man
share := $(PREFIX)/share/eventlog
version = $(eval version := $(shell \
	sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' $(top)/dkms.conf))$(version)
soname = libelog.so.$(firstword $(subst ., ,$(version)))

# A shared object that is only built where its library is installed, and its directory.
shared_object = $(if $(shell ls build/tools/$(1) 2> /dev/null),build/tools/$(1):$(2)/$(1):644)

# The tool and its manual pages.
tool_files = build/tools/elog:$(PREFIX)/bin/elog:755 \
	tools/elog/elog.bash-completion:$(completions)/elog:644 \
	tools/elog/elog.zsh-completion:$(PREFIX)/share/zsh/$(zsh_completions)/_elog:644 \
	tools/elog/elog.fish-completion:$(PREFIX)/share/fish/vendor_completions.d/elog.fish:644 \
	$(call shared_object,elog_sqlite.so,$(LIBDIR)) \
	$(filter-out tools/man/babeltrace2-%,$(call man_files,1 5 7))
completions := $(PREFIX)/share/bash-completion/completions
# Debian's zsh looks for those of packages elsewhere.
zsh_completions := $(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)

# The plugin of babeltrace2, if that is there to build it.
plugin_files = $(if $(plugin),$(plugin) $(filter tools/man/babeltrace2-%,$(call man_files,7)))
plugin = $(call shared_object,babeltrace2-plugin-elog.so,$(LIBDIR)/babeltrace2/plugins)

library_files = build/tools/libelog.so.$(version):$(LIBDIR)/libelog.so.$(version):644
library_links = $(LIBDIR)/$(soname):libelog.so.$(version)

development_files = build/tools/libelog.a:$(LIBDIR)/libelog.a:644 \
	build/dist/libelog.pc:$(LIBDIR)/pkgconfig/libelog.pc:644 \
	$(foreach header,elog.h elog_marker.h $(patsubst tools/libelog/include/%,%, \
		$(wildcard tools/libelog/include/elog/*.h)), \
		tools/libelog/include/$(header):$(PREFIX)/include/$(header):644) \
	uapi/linux/eventlog.h:$(PREFIX)/include/linux/eventlog.h:644 \
	$(call man_files,3)
development_links = $(LIBDIR)/libelog.so:$(soname)

# The generator, and the files for building providers outside of this tree.
gen_files := tools/gen/eventlog-gen:$(PREFIX)/bin/eventlog-gen:755 \
	tools/gen/eventlog-gen.bash-completion:$(completions)/eventlog-gen:644 \
	tools/gen/eventlog_gen.awk:$(share)/eventlog_gen.awk:644 \
	tools/gen/eventlog.mk:$(share)/eventlog.mk:644 \
	include/linux/eventlog.h:$(share)/include/linux/eventlog.h:644 \
	include/linux/eventlog_marker.h:$(share)/include/linux/eventlog_marker.h:644 \
	uapi/linux/eventlog.h:$(share)/include/uapi/linux/eventlog.h:644

# Files of the module that do not depend on the kernel.
device_files = tools/dist/60-eventlog.rules:$(UDEVDIR)/60-eventlog.rules:644 \
	tools/dist/eventlog.sysusers:$(PREFIX)/lib/sysusers.d/eventlog.conf:644 \
	tools/dist/eventlog.modules:$(PREFIX)/lib/modules-load.d/eventlog.conf:644 \
	$(call man_files,4 9)

# Units; installing does not enable them.
service_files = tools/dist/eventlog.tmpfiles:$(PREFIX)/lib/tmpfiles.d/eventlog.conf:644 \
	tools/dist/eventlog-metrics:$(PREFIX)/libexec/eventlog-metrics:755 \
	$(foreach unit,$(units),build/dist/$(unit):$(UNITDIR)/$(unit):644)
units = $(filter-out $(fleet_units),$(notdir $(wildcard tools/dist/*.service \
	tools/dist/*.timer)))

# What elog ship needs.
fleet_units := eventlog-ship.service
fleet_files = $(call shared_object,elog_nats.so,$(LIBDIR)) \
	tools/dist/nats-server.conf:$(PREFIX)/share/doc/elog-fleet/nats-server.conf:644 \
	$(foreach unit,$(fleet_units),build/dist/$(unit):$(UNITDIR)/$(unit):644)

word_of = $(word $(1),$(subst :, ,$(2)))
# In a recipe: a line for each file.
define newline


endef
to = $(DESTDIR)$(call word_of,$(1),$(2))
install_files = $(foreach file,$(1),$(call quiet,INSTALL,$(call to,2,$(file)))$(INSTALL) -D \
	-m $(call word_of,3,$(file)) '$(call word_of,1,$(file))' '$(call to,2,$(file))'$(newline))
install_links = $(foreach link,$(1),$(call quiet,LN,$(call to,1,$(link)))ln -sfn \
	$(call word_of,2,$(link)) '$(call to,1,$(link))'$(newline))
installed_names = $(foreach file,$(1),'$(call to,2,$(file))') \
	$(foreach link,$(2),'$(call to,1,$(link))')

# Units contain the directories of the installation.
build/dist/%: tools/dist/% FORCE
	@mkdir -p $(@D)
	@sed -e 's|/usr/bin/|$(PREFIX)/bin/|g' -e 's|/usr/libexec/|$(PREFIX)/libexec/|g' $< > $@

build/dist/libelog.pc: tools FORCE
	@mkdir -p $(@D)
	@sed -e 's|@prefix@|$(PREFIX)|' -e 's|@libdir@|$(LIBDIR)|' build/tools/libelog.pc > $@

install-module: module
	+@$(kbuild) --no-print-directory modules_install \
		INSTALL_MOD_PATH='$(DESTDIR)'
	$(call install_files,$(build)/Module.symvers:$(share)/$(release)/Module.symvers:644)

install-tool: tools
	$(call install_files,$(tool_files))

install-babeltrace2: tools
	$(or $(call install_files,$(plugin_files)),@echo \
		'babeltrace2-plugin-elog.so was not built: libbabeltrace2-dev is missing'; false)

install-library: tools
	$(call install_files,$(library_files))
	$(call install_links,$(library_links))

install-development: tools build/dist/libelog.pc
	$(call install_files,$(development_files))
	$(call install_links,$(development_links))

install-gen:
	$(call install_files,$(gen_files))

install-device:
	$(call install_files,$(device_files))

install-service: $(units:%=build/dist/%)
	$(call install_files,$(service_files))

install-fleet: tools $(fleet_units:%=build/dist/%)
	$(call install_files,$(fleet_files))

# ldconfig updates the cache of this system, so not with DESTDIR.
install: install-module install-tool install-library install-development \
		install-gen install-device install-service install-fleet
	$(call install_files,$(plugin_files))
	$(if $(DESTDIR),,ldconfig)

installed_release = $(if $(KDIR),$(release),$(running_release))

uninstall-gen:
	$(call quiet,RM,eventlog-gen)rm -f $(call installed_names,$(gen_files))

uninstall: uninstall-gen
	$(call quiet,RM,eventlog)rm -f $(call installed_names,$(tool_files) \
		$(plugin_files) $(library_files) $(development_files) $(device_files) $(service_files) $(fleet_files), \
		$(library_links) $(development_links))
	@rm -f '$(DESTDIR)$(share)/$(installed_release)/Module.symvers'
	@[ ! -d '$(DESTDIR)/lib/modules/$(installed_release)' ] || \
		find '$(DESTDIR)/lib/modules/$(installed_release)/' \
		\( -name 'eventlog.ko*' -o -name 'eventlog_tcp.ko*' \
		-o -name 'eventlog_proc.ko*' -o -name 'eventlog_sched.ko*' \
		-o -name 'eventlog_user_events.ko*' \) -delete
	$(if $(DESTDIR),,depmod '$(installed_release)')
	$(if $(DESTDIR),,ldconfig)

# Built in a copy of the tree, with tools/dist/debian at its top. build/deb keeps the
# packages.
deb_source = build/deb/eventlog-$(version)

deb:
	@scripts/setup deb
	@rm -rf build/deb
	@mkdir -p '$(deb_source)'
	@tar -c --exclude=./build --exclude=./.git --exclude=./tools/dist/debian . | \
		tar -x -C '$(deb_source)'
	@cp -a tools/dist/debian '$(deb_source)/debian'
	@printf 'eventlog (%s) unstable; urgency=medium\n\n  * Release %s.\n\n -- %s  %s\n' \
		'$(version)' '$(version)' \
		"$$(sed -n 's/^Maintainer: //p' tools/dist/debian/control)" \
		"$$(date -R -r dkms.conf)" > '$(deb_source)/debian/changelog'
	cd '$(deb_source)' && DEB_BUILD_OPTIONS='noautodbgsym terse' dpkg-buildpackage -us -uc -b
	@rm -rf '$(deb_source)'
	@ls build/deb/*.deb

check-deb:
	@scripts/check-deb

clean:
	rm -rf build

help:
	@printf '%s\n' $(help_text)

.PHONY: all sources module tools engine engine-tests tools-tests selftests programs-i386 \
	programs-armhf programs-arm64 \
	selftests-i386 selftests-armhf selftests-arm64 setup demo demo-fleet demo-why \
	check check-everything check-user-events check-matrix check-vendor check-kselftest check-fleet check-armhf check-arm64 check-debug check-sanitizers build-static release-check check-static check-why check-native check-engine coverage soak \
	check-models check-mutants check-unstable faults fuzz fuzz-kernel \
	bench bench-compare $(benches:%=bench-%) \
	install install-module \
	install-tool install-babeltrace2 install-library install-development install-gen \
	install-device install-service install-fleet uninstall-gen uninstall deb check-deb \
	clean help FORCE
