# SPDX-License-Identifier: GPL-2.0-only
#
# quiet.mk - a short line in place of each command, as the kernel's build prints it. In a recipe,
#
#	$(call quiet,CC)$(CC) -c -o $@ $<
#
# prints "  CC      build/tools/obj/elog/main.o". A second argument is another name to print. V=1
# prints the whole commands, and make -s nothing.

quiet_tree := $(patsubst %/scripts/quiet.mk,%,$(abspath $(lastword $(MAKEFILE_LIST))))
# Options of one letter are the first word, which may be missing.
quiet_print = $(if $(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),, \
	printf '  %-7s %s\n' '$(1)' '$(patsubst $(quiet_tree)/%,%,$(2))' &&)
ifeq ($(filter-out 0,$(V)),)
quiet = @$(call quiet_print,$(1),$(or $(2),$@))
endif
