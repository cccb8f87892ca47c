# SPDX-License-Identifier: GPL-2.0-only
#
# eventlog.mk - rules for modules that are providers, included by their Kbuild:
#
#	obj-m := hello.o
#	include /usr/local/share/eventlog/eventlog.mk
#
# Each X_eventlog_schema.src in the same directory is made into $(obj)/X_eventlog.h
# before any object is compiled, and again if the schema or the generator changes.
# <linux/eventlog.h> and the generated headers are in the include path. modpost reads
# the Kbuild file again, and so finds the symbols of eventlog.ko if that has been built
# or installed for this kernel.
#
# $(src) and $(obj) are absolute before Linux 6.13, and relative to the module's
# directory, where make runs, since then. Both work in a rule, and so does $(abspath) of
# this file.

eventlog_mk := $(abspath $(lastword $(MAKEFILE_LIST)))
eventlog_place := $(patsubst %/,%,$(dir $(eventlog_mk)))
eventlog_tree := $(abspath $(eventlog_place)/../..)
eventlog_generator := $(firstword $(wildcard $(eventlog_place)/eventlog-gen \
	$(eventlog_place)/../../bin/eventlog-gen))

# Installed headers are in include/, those of eventlog's tree at its top.
ifneq ($(wildcard $(eventlog_place)/include/linux/eventlog.h),)
ccflags-y += -I$(eventlog_place)/include
eventlog_symbols := $(eventlog_place)/$(KERNELRELEASE)/Module.symvers
else
ccflags-y += -I$(eventlog_tree) -I$(eventlog_tree)/include
eventlog_symbols := $(eventlog_tree)/build/$(KERNELRELEASE)/Module.symvers
endif
ccflags-y += -I$(obj)

# Paths in places of markers start at the top of the module's tree.
ifneq ($(KBUILD_EXTMOD),)
ccflags-y += $(call cc-option,-fmacro-prefix-map=$(abspath $(KBUILD_EXTMOD))/=)
endif

# Building eventlog.ko itself needs no extra symbols.
ifeq ($(filter $(abspath $(obj))/%,$(eventlog_symbols)),)
KBUILD_EXTRA_SYMBOLS += $(wildcard $(eventlog_symbols))
endif

eventlog_schemas := $(notdir $(wildcard $(src)/*_eventlog_schema.src))
eventlog_headers := $(eventlog_schemas:%_eventlog_schema.src=%_eventlog.h)
targets += $(eventlog_headers)
clean-files += $(eventlog_headers)

quiet_cmd_eventlog_gen = GEN     $@
      cmd_eventlog_gen = AWK='$(AWK)' sh $(eventlog_generator) -p -o $@ $<

ifneq ($(eventlog_headers),)
$(addprefix $(obj)/,$(eventlog_headers)): $(obj)/%_eventlog.h: \
		$(src)/%_eventlog_schema.src $(eventlog_generator) \
		$(eventlog_place)/eventlog_gen.awk FORCE
	$(call if_changed,eventlog_gen)

# Before the first compilation make does not know which objects include the headers.
eventlog_sources := $(wildcard $(src)/*.c $(src)/*/*.c $(src)/*/*/*.c)
eventlog_stems := $(eventlog_sources:$(src)/%.c=$(obj)/%)
$(foreach suffix,o i s lst,$(addsuffix .$(suffix),$(eventlog_stems))): | \
	$(addprefix $(obj)/,$(eventlog_headers))
endif
