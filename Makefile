# SPDX-License-Identifier: GPL-2.0-only
#
# Everything is built below build/, the module once for each kernel, in a tree
# of links to the sources: build/<release>/eventlog.ko.

help_text := \
	'  all          module and tools (default)' \
	'  module       eventlog.ko, for the kernel KDIR points to' \
	'  tools        elog, libelog, the examples' \
	'  selftests    the test programs' \
	'  programs-i386, programs-armhf  these and the tools as static 32-bit programs' \
	'  setup        install what building and testing needs' \
	'  demo         build, boot a guest and show it at work' \
	'  check        every test, in booted guests' \
	'  check-armhf  the tests of the module on a 32-bit ARM kernel' \
	'  check-native stress the ring in user space, with sanitizers' \
	'  check-models check the models of the ring, waking and FLUSH with spin' \
	'  bench        time the ring and the module, print tables: see README.md' \
	'  bench-ring   the ring in user space, beside LTTng-UST' \
	'  bench-kernel the module inside a kernel, beside user_events and tracepoints' \
	'  bench-instructions  what an event of kernel code takes, in instructions,' \
	'               beside tracepoints and LTTng; STRICT=1 with any: fail if a bar' \
	'               is missed' \
	'  check-static compile with W=1 and sparse; any warning is an error' \
	'  install      module, tools, header, manual pages, udev rule' \
	'  uninstall    remove them' \
	'  clean        remove build/' \
	'' \
	'  KDIR=DIR     a kernel'"'"'s build directory or headers; default: those of' \
	'               the running kernel or, if it has none, of the test kernel' \
	'  EVENTLOG_KERNEL=VERSION  test kernel, see scripts/kernel (6.1)' \
	'  PREFIX=DIR   where to install (/usr/local); DESTDIR is honoured' \
	'  W=1 C=1 ...  as for the kernel'

ifneq ($(words $(CURDIR)),1)
$(error the kernel's build cannot cope with a path that contains spaces)
endif

top := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
running_release := $(shell uname -r)
running := /lib/modules/$(running_release)/build

PREFIX ?= /usr/local
UDEVDIR ?= /usr/lib/udev/rules.d
INSTALL ?= install
installed := $(DESTDIR)$(PREFIX)

all: module tools

# Whichever kernel is to be built for is found when a recipe needs it: that may
# fetch the test kernel.
ifeq ($(KDIR),)
kernel_dir = $(eval kernel_dir := $(or \
	$(if $(wildcard $(running)/Makefile),$(abspath $(running))), \
	$(info the running kernel has no headers: building for the test kernel) \
	$(shell $(top)/scripts/kernel headers $(EVENTLOG_KERNEL)), \
	$(error no kernel to build for: give KDIR=)))$(kernel_dir)
else
kernel_dir := $(KDIR)
endif
release = $(eval release := $(or \
	$(shell sed -n 's/.*UTS_RELEASE "\(.*\)".*/\1/p' \
		'$(kernel_dir)/include/generated/utsrelease.h'), \
	$(error $(kernel_dir) is not a kernel prepared for building modules)))$(release)
build = $(top)/build/$(release)$(variant)

# Debian's headers name a compiler; another machine may only have others.
named_compiler = $(shell sed -n 's/^CC = .*(CROSS_COMPILE)//p' \
	'$(kernel_dir)/.kernelvariables' 2>/dev/null)
compiler = $(eval compiler := $(if $(filter-out undefined default,$(origin CC)),, \
	$(if $(named_compiler),$(if $(shell command -v $(named_compiler)),, \
	CC=gcc))))$(compiler)

kbuild = $(MAKE) -C '$(kernel_dir)' M='$(build)' $(compiler)

# Links that lead nowhere are those of files that are gone. One build at a time.
define link_sources
	@mkdir -p '$(build)'
	@cd '$(build)' && ln -sfn ../../Kbuild ../../uapi ../../include ../../tools . && \
	(cd ../.. && find module -type d) | xargs mkdir -p && \
	(cd ../.. && find module -type f -name '*.[chS]' -o -type f -name '*.src' -o \
		-type f \( -name Kbuild -o -name Makefile \) -path 'module/*') | \
	while read -r file; do \
		[ -L "$$file" ] || ln -s "$(top)/$$file" "$$file"; \
	done && find . -xtype l -delete
endef

module:
	$(link_sources)
	+@flock '$(build)' $(kbuild) --no-print-directory modules

check-static: variant := .static
check-static:
	$(link_sources)
	@command -v sparse > /dev/null || \
		{ echo 'sparse is missing: make setup' >&2; false; }
	+@flock '$(build)' $(kbuild) --no-print-directory W=1 C=2 CHECK=sparse \
		modules > '$(build)/log' 2>&1 || { cat '$(build)/log' >&2; false; }
	@! grep -E '^($(build)/|(\./)?(module|uapi|include/linux/eventlog)[/.]).*: (warning|error):|^WARNING: modpost' \
		'$(build)/log' >&2
	@echo 'no warnings from W=1 and sparse'

tools:
	@$(MAKE) --no-print-directory -C tools OUTPUT='$(top)/build/tools'

selftests:
	@$(MAKE) --no-print-directory -C selftests OUTPUT='$(top)/build/selftests'

# The C library's headers are for both, but for asm/, which is nearly so.
programs-i386: options = CFLAGS="-O2 -g -m32 -idirafter /usr/include/$$(gcc -print-multiarch)"
programs-armhf: options = CC=$(armhf_gcc)

programs-i386 programs-armhf: programs-%:
	@$(MAKE) --no-print-directory -C selftests OUTPUT='$(top)/build/selftests-$*' \
		LDFLAGS=-static $(options)
	@$(MAKE) --no-print-directory -C tools OUTPUT='$(top)/build/tools-$*' \
		LDFLAGS=-static $(options)

# Debian has the one compiler or the other, the plain one or that of this version.
armhf_gcc = $(or $(notdir $(firstword $(wildcard $(addsuffix \
	/arm-linux-gnueabihf-gcc-12,$(subst :, ,$(PATH)))))),arm-linux-gnueabihf-gcc)

setup:
	@scripts/setup

demo: setup
	@$(MAKE) --no-print-directory module tools \
		KDIR="$$(scripts/kernel headers $(EVENTLOG_KERNEL))"
	@scripts/vm -- tools/examples/demo.sh

check:
	@scripts/check

check-armhf:
	@scripts/setup armhf
	@$(MAKE) --no-print-directory module EVENTLOG_TEST_MODULE=1 \
		KDIR="$$(scripts/kernel headers 6.1-armhf)" CROSS_COMPILE=arm-linux-gnueabihf-
	@$(MAKE) --no-print-directory programs-armhf
	@scripts/vm-static --kernel 6.1-armhf --timeout 1200 \
		--module "build/$$(scripts/kernel release 6.1-armhf)/eventlog.ko" \
		build/selftests-armhf/*_test build/tools-armhf/libelog_device_test \
		build/tools-armhf/libelog_test selftests/ring_module_test.sh

check-native:
	@$(MAKE) --no-print-directory -C selftests/native check \
		OUTPUT='$(top)/build/native'

check-models:
	@scripts/models/check-models

bench_flags = $(if $(filter 1,$(STRICT)),--strict)

# One after the other: they measure.
bench:
	@scripts/bench/ring $(bench_flags)
	@scripts/bench/kernel $(bench_flags)
	@scripts/bench/instructions $(bench_flags)

bench-ring:
	@scripts/bench/ring $(bench_flags)

bench-kernel:
	@scripts/bench/kernel $(bench_flags)

bench-instructions:
	@scripts/bench/instructions $(bench_flags)

man_pages = $(wildcard tools/man/*.[1-9])
completions = $(wildcard tools/*/*.bash-completion)

# A module for a kernel that is not here is only wanted by those who say so.
ifneq ($(filter install,$(MAKECMDGOALS)),)
ifeq ($(KDIR)$(wildcard $(running)/Makefile),)
$(error there are no headers for the running kernel ($(running_release)): \
	install them or give KDIR=)
endif
endif

# The generator, and what providers of other trees are built with.
share := share/eventlog
gen_files := tools/gen/eventlog_gen.awk:$(share)/eventlog_gen.awk \
	tools/gen/eventlog.mk:$(share)/eventlog.mk \
	include/linux/eventlog.h:$(share)/include/linux/eventlog.h \
	uapi/linux/eventlog.h:$(share)/include/uapi/linux/eventlog.h
gen_from = $(firstword $(subst :, ,$(1)))
gen_to = $(installed)/$(lastword $(subst :, ,$(1)))

install-gen:
	$(INSTALL) -D -m 755 tools/gen/eventlog-gen '$(installed)/bin/eventlog-gen'
	$(foreach file,$(gen_files),$(INSTALL) -D -m 644 \
		'$(call gen_from,$(file))' '$(call gen_to,$(file))' && )true

uninstall-gen:
	rm -f '$(installed)/bin/eventlog-gen' \
		$(foreach file,$(gen_files),'$(call gen_to,$(file))')

install: all install-gen
	+@$(kbuild) --no-print-directory modules_install \
		INSTALL_MOD_PATH='$(DESTDIR)'
	$(INSTALL) -D -m 644 '$(build)/Module.symvers' \
		'$(installed)/$(share)/$(release)/Module.symvers'
	$(INSTALL) -D -m 755 build/tools/elog '$(installed)/bin/elog'
	$(INSTALL) -D -m 644 build/tools/libelog.a '$(installed)/lib/libelog.a'
	$(INSTALL) -D -m 644 tools/libelog/elog.h '$(installed)/include/elog.h'
	$(INSTALL) -D -m 644 uapi/linux/eventlog.h \
		'$(installed)/include/linux/eventlog.h'
	$(INSTALL) -D -m 644 scripts/60-eventlog.rules \
		'$(DESTDIR)$(UDEVDIR)/60-eventlog.rules'
	$(foreach page,$(man_pages),$(INSTALL) -D -m 644 $(page) \
		'$(installed)/share/man/man$(subst .,,$(suffix $(page)))/$(notdir $(page))' && )true
	$(foreach file,$(completions),$(INSTALL) -D -m 644 $(file) \
		'$(installed)/share/bash-completion/completions/$(notdir $(basename $(file)))' && )true

installed_release = $(if $(KDIR),$(release),$(running_release))

uninstall: uninstall-gen
	rm -f '$(installed)/$(share)/$(installed_release)/Module.symvers'
	rm -f '$(installed)/bin/elog' '$(installed)/lib/libelog.a' \
		'$(installed)/include/elog.h' \
		'$(installed)/include/linux/eventlog.h' \
		'$(DESTDIR)$(UDEVDIR)/60-eventlog.rules' \
		$(foreach page,$(man_pages),'$(installed)/share/man/man$(subst .,,$(suffix $(page)))/$(notdir $(page))') \
		$(foreach file,$(completions),'$(installed)/share/bash-completion/completions/$(notdir $(basename $(file)))')
	find '$(DESTDIR)/lib/modules/$(installed_release)/' \
		\( -name 'eventlog.ko*' -o -name 'eventlog_tcp.ko*' \
		-o -name 'eventlog_proc.ko*' \) -delete
	$(if $(DESTDIR),,depmod '$(installed_release)')

clean:
	rm -rf build

help:
	@printf '%s\n' $(help_text)

.PHONY: all module tools selftests programs-i386 programs-armhf setup demo \
	check check-armhf check-static check-native check-models \
	bench bench-ring bench-kernel bench-instructions install install-gen uninstall-gen \
	uninstall clean help
