# SPDX-License-Identifier: GPL-2.0
# All commands for users and developers. Targets install the packages that they need
# (tools/setup), as root or with sudo.

# Kernel to build for and to boot: a version, the newest installed of a series (6.1, 6.12,
# 7, 6.1-rt), a debug kernel: uml, smp (several CPUs), or arm64.
KVER ?= 6.1
# The version of that kernel; looked up at each use, because setup may install it.
RELEASE = $(shell tools/vm/kver $(KVER))
PREFIX ?= /usr/local
DESTDIR ?=
# Installs the packages of a target; SETUP=: skips this
SETUP ?= tools/setup
# Multiplies the work of "make soak"
SOAK ?= 20

# User-space parts; each has the targets all, install, uninstall and clean.
PARTS := $(patsubst %/Makefile,%,$(wildcard libcollsock/Makefile libcollsock/mpi/Makefile \
	libcollsock/python/Makefile tools/Makefile tools/*/Makefile))

all: module parts	## module, library and commands

parts: $(PARTS)	## library and commands

help:	## this list
	@grep -hE '^[a-z][a-z0-9-]*:.*##' $(MAKEFILE_LIST) | \
		sed -E 's/^([a-z0-9-]+):.*##[ \t]*(.*)/\1\t\2/' | expand -t 16
	@echo
	@echo "Variables: KVER=version|6.12|7|6.1-rt|uml|smp|arm64 PREFIX= DESTDIR= HOSTS= CMD= (tools/vm/vm --help)"

module: setup-build	## kernel module for KVER, in build/KVER
	@tools/vm/build-module $(KVER)

# Linked with the library and with parts of the command
libcollsock/mpi tools/collperf tools/demo: libcollsock
tools/collsock: libcollsock
tools/collperf: tools/collsock

$(PARTS): setup-build
	@$(MAKE) -C $@ all PREFIX=$(PREFIX)

# The module is not loaded when a program asks for a socket.
LOADED_AT_BOOT = $(DESTDIR)/usr/lib/modules-load.d/collsock.conf

install: module install-parts	## install into DESTDIR and PREFIX
	install -D -m 644 build/$(RELEASE)/collsock.ko \
		$(DESTDIR)/lib/modules/$(RELEASE)/updates/collsock.ko
	install -d $(dir $(LOADED_AT_BOOT))
	echo collsock >$(LOADED_AT_BOOT)
	$(if $(DESTDIR),,depmod $(RELEASE))

install-parts: parts	## the same without the module
	set -e; for part in $(PARTS); do $(MAKE) -C $$part install PREFIX=$(PREFIX) DESTDIR=$(DESTDIR); done

uninstall:	## remove what install put there
	rm -f $(DESTDIR)/lib/modules/$(RELEASE)/updates/collsock.ko $(LOADED_AT_BOOT)
	-rmdir $(DESTDIR)/lib/modules/$(RELEASE)/updates 2>/dev/null
	$(if $(DESTDIR),,depmod $(RELEASE))
	set -e; for part in $(PARTS); do $(MAKE) -C $$part uninstall PREFIX=$(PREFIX) DESTDIR=$(DESTDIR); done

deb: setup-deb	## Debian packages, in build/deb
	@tools/debian/build

# Like "all", but silent unless it fails, so that the output of the next command stands out
built: setup-build
	@$(MAKE) -s all >/dev/null

# Dollar signs in CMD are for the shell, not for make.
ifdef CMD
override export CMD := $(value CMD)
endif

# The vm script itself reads HOSTS, CMD, EACH, ICOUNT and others.
vm: setup-vm built	## shell (or CMD=...) in a test machine with HOSTS=n hosts
	@HOSTS=$${HOSTS:-4} tools/vm/vm --kver '$(KVER)'

demo-values:
	@tools/demo/check-values

demo: demo-user	## what it is for; the first time builds for some minutes: HOSTS=8 INPUT=file
	@$(MAKE) -s demo-module

# In seconds, before a test machine and a module are made
demo-user: demo-values setup-build
	@$(MAKE) -s parts >/dev/null
	@tools/demo/demo user

demo-module: setup-vm built
	@tools/demo/demo module

check: setup-build+test+vm+readers+debug+mpi	## all tests, a fixed sample
	@selftests/run --once unit sim fuzz lib $(KVER):check uml:debug

check-debug: setup-build setup-vm setup-readers setup-debug	## the kernel tests on the debug kernel; KVER=smp: on that for two CPUs
	@selftests/run $(if $(filter smp,$(KVER)),smp,uml):debug

matrix: setup-build+vm+readers+mpi+k612+tree	## the tests in the VM on Debian's 6.1, 6.12 and 7.x kernels: each a sample
	@tools/vm/debian-kernel >/dev/null
	@selftests/run 6.1:matrix 6.12:matrix 7:matrix

check-rt: setup-build+vm+rt+tree	## a sample of the tests in the VM on kernels with PREEMPT_RT
	@tools/vm/debian-kernel rt >/dev/null
	@selftests/run 6.1-rt:rt 7-rt:rt

check-arm64: setup-build setup-vm setup-arm64	## a sample of the tests in a VM with 64-bit ARM processors
	@selftests/run arm64:arm64

check-drivers: setup-vm built	## two VMs whose network devices have real drivers: virtio-net, e1000e
	@COLLSOCK_KVER=$(KVER) selftests/run drivers

check-deb: setup-vm setup-tree deb	## the packages, in a fresh Debian 12: install, build for two kernels, run, purge
	@selftests/run deb

soak: setup-build+test+vm+readers+debug+k612+fuzz+mpi+launchers+capture+ynl	## SOAK=n times the work, on 6.1, 6.12 and the debug kernels
	@tools/vm/ynl >/dev/null
	@selftests/run --soak $(SOAK) unit sim fuzz lib dissector \
		$(KVER):soak 6.12:soak uml:soak smp:soak $(KVER):mpi-suites drivers
	@RUNS=$$(($(SOAK) * 500000)) selftests/fuzz/run

fuzz: setup-fuzz	## libFuzzer on the core: FUZZ_SECONDS=60 in all, or RUNS=n inputs
	@selftests/fuzz/run $(ARGS)

SIM_ARGS = $(if $(SEED),--seed $(SEED)) $(if $(SEEDS),--seeds $(SEEDS)) $(ARGS)

sim: setup-build	## simulator: SEEDS=n, or SEED=s (class and seed decide all), ARGS="--trace"
	@$(MAKE) -s -C selftests/sim OUTPUT=$(CURDIR)/build/sim $(CURDIR)/build/sim/sim
	@build/sim/sim $(SIM_ARGS)

sim-bench: setup-build	## figures of a model: costs and latencies for hosts with a CPU each: ARGS=--help
	@$(MAKE) -s -C selftests/sim OUTPUT=$(CURDIR)/build/sim $(CURDIR)/build/sim/sim
	@build/sim/sim --experiment $(ARGS)

check-mutants: setup-build setup-test setup-vm setup-readers setup-debug	## every planted bug must fail a test
	@selftests/run mutants

bench: setup-vm built forger	## latency, cost when hosts are late, instructions, beside a host-based program
	@selftests/bench/bench latency
	@selftests/bench/bench skew
	@selftests/bench/bench forgery
	@selftests/bench/bench team
	@selftests/bench/bench check

bench-congestion: setup-vm setup-bench built	## large payloads through 10 Mb/s: SECONDS=60 beside TCP, then through a queue that marks
	@selftests/bench/bench congestion

bench-forgery: setup-vm built forger	## instructions of a barrier while a million packets a minute are forged
	@selftests/bench/bench forgery

forger: setup-build
	@$(MAKE) -s -C selftests/fuzz vm

bench-skew: setup-vm built	## processor time of a reduce when hosts are late
	@selftests/bench/bench skew

bench-mpi: setup-vm setup-mpi built	## MPI programs with the library for MPI and without
	@$(MAKE) -s -C selftests/mpi
	@selftests/bench/mpi

bench-papers: setup-vm+papers built	## the experiments of five papers, beside the committed figures; plots: ARGS=--help
	@selftests/papers/papers $(ARGS)

bench-check: setup-vm built	## fails when an operation costs more instructions than committed
	@selftests/bench/bench check $(if $(UPDATE),--update)

lint: setup-build setup-lint setup-ynl setup-mpi	## checkpatch, sparse, kernel-doc, layers, shellcheck, manual pages
	@tools/lint $(KVER)

clean:	## remove build/
	rm -rf build

# setup-one+two installs what both need at once.
setup-%:
	@$(SETUP) $(subst +, ,$*)

.PHONY: all built parts help module install install-parts uninstall deb vm demo-values demo demo-user demo-module check \
	check-debug check-deb check-mutants check-rt check-arm64 matrix sim sim-bench fuzz soak bench \
	bench-check bench-congestion bench-forgery bench-mpi bench-papers bench-skew forger lint clean $(PARTS)
