# SPDX-License-Identifier: GPL-2.0-only
#
# eventlog.mk - what the Kbuild or Makefile of a provider's module includes:
#
#	obj-m := hello.o
#	include /usr/local/share/eventlog/eventlog.mk
#
# For each X_eventlog_schema.src beside it, X_eventlog.h is made in $(obj) before
# anything there is compiled, and made again when the schema or the generator
# has changed. <linux/eventlog.h> and the headers made are found. The symbols of
# eventlog.ko are known to modpost once it has been built or installed for this
# kernel: modpost reads the Kbuild file, and so this, once more.
#
# From Linux 6.13 on $(src) and $(obj) are relative to the module's directory,
# which make runs in; before, they are absolute. Either is right in a rule, and
# so is $(abspath) of this file's place, which is included by its path.

eventlog_mk := $(abspath $(lastword $(MAKEFILE_LIST)))
eventlog_place := $(patsubst %/,%,$(dir $(eventlog_mk)))
eventlog_tree := $(abspath $(eventlog_place)/../..)
eventlog_generator := $(eventlog_place)/eventlog_gen.awk

# In eventlog's own tree the headers are where they are written.
ifneq ($(wildcard $(eventlog_place)/include/linux/eventlog.h),)
ccflags-y += -I$(eventlog_place)/include
eventlog_symbols := $(eventlog_place)/$(KERNELRELEASE)/Module.symvers
else
ccflags-y += -I$(eventlog_tree) -I$(eventlog_tree)/include
eventlog_symbols := $(eventlog_tree)/build/$(KERNELRELEASE)/Module.symvers
endif
ccflags-y += -I$(obj)

# Places of markers begin at the top of the module's tree.
ifneq ($(KBUILD_EXTMOD),)
ccflags-y += $(call cc-option,-fmacro-prefix-map=$(abspath $(KBUILD_EXTMOD))/=)
endif

# Of the module itself when this is its own build.
ifeq ($(filter $(abspath $(obj))/%,$(eventlog_symbols)),)
KBUILD_EXTRA_SYMBOLS += $(wildcard $(eventlog_symbols))
endif

eventlog_schemas := $(notdir $(wildcard $(src)/*_eventlog_schema.src))
eventlog_headers := $(eventlog_schemas:%_eventlog_schema.src=%_eventlog.h)
targets += $(eventlog_headers)
clean-files += $(eventlog_headers)

quiet_cmd_eventlog_gen = GEN     $@
      cmd_eventlog_gen = LC_ALL=C $(or $(AWK),awk) -f $(eventlog_generator) -- -p $< > $@.tmp && \
	mv $@.tmp $@ || { rm -f $@.tmp; false; }

ifneq ($(eventlog_headers),)
$(addprefix $(obj)/,$(eventlog_headers)): $(obj)/%_eventlog.h: \
		$(src)/%_eventlog_schema.src $(eventlog_generator) FORCE
	$(call if_changed,eventlog_gen)

# Once compiled, an object depends on what it included; until then, on these.
eventlog_sources := $(wildcard $(src)/*.c $(src)/*/*.c $(src)/*/*/*.c)
eventlog_stems := $(eventlog_sources:$(src)/%.c=$(obj)/%)
$(foreach suffix,o i s lst,$(addsuffix .$(suffix),$(eventlog_stems))): | \
	$(addprefix $(obj)/,$(eventlog_headers))
endif
