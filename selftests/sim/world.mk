# SPDX-License-Identifier: GPL-2.0
# The core, and the world in which the hosts of tests are, as libraries that suites share:
#
#	make -f world.mk OUTPUT=folder [SANITIZE=flags]
OUTPUT ?= $(abspath $(CURDIR)/../../build/world/plain)
CORE := $(abspath $(CURDIR)/../../kernel/core)
KERNEL := $(abspath $(CURDIR)/../../kernel)
CC ?= gcc
CFLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare \
	-fno-strict-aliasing $(SANITIZE) -I$(CORE) -I$(CURDIR)

# With the addresses of UDP and Ethernet, which these hosts have, too
PARTS := world world_bearer world_buffers world_memory world_wire trace eth_bearer udp_bearer
OBJECTS := $(PARTS:%=$(OUTPUT)/%.o)
HEADERS := $(wildcard $(CORE)/*.h $(KERNEL)/*_bearer.h $(CURDIR)/../../uapi/linux/*.h world*.h ../*.h)
vpath %_bearer.c $(KERNEL)

all: core $(OUTPUT)/libworld.a

core:
	@$(MAKE) -s -C $(CORE) OUTPUT=$(OUTPUT)/core CC="$(CC)" CFLAGS="-O2 -g $(SANITIZE)"

$(OUTPUT)/%.o: %.c $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c -o $@ $<

$(OUTPUT)/libworld.a: $(OBJECTS)
	rm -f $@ && $(AR) rcs $@ $^

.PHONY: all core
