#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# "make install" of the whole project respects DESTDIR and PREFIX, and "make uninstall"
# removes everything that it has installed. Speaks TAP.
# shellcheck disable=SC2317 # the functions are called by check
set -u
cd "$(dirname "$0")/../.." || exit
. selftests/tap.sh
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
prefix=/opt/collsock

# Everything is already built for the other tests, in the usual folders and not in that of
# these tests, where others run; and packages are installed.
unset OUTPUT
project() {
	make -s "$@" SETUP=: DESTDIR="$root" PREFIX=$prefix
}

files() {
	(cd "$root" && find . ! -type d | sed 's,^\.,,' | sort)
}

all_parts_are_there() {
	local pattern missing=
	for pattern in '^/lib/modules/[^/]*/updates/collsock\.ko$' '^/usr/lib/modules-load\.d/collsock\.conf$' \
		"^$prefix/lib/libcollsock\.so$" "^$prefix/include/collsock\.h$" "^$prefix/bin/collperf$" \
		"^$prefix/lib/python3[^/]*/[a-z]*-packages/collsock/py\.typed$"; do
		files | grep -q "$pattern" || missing+=" $pattern"
	done
	equal "" "$missing"
}

# The kernel and systemd search for the module and its line only in fixed places.
all_else_is_under_prefix() {
	equal "" "$(files | grep -v -e "^$prefix/" -e '^/lib/modules/' -e '^/usr/lib/modules-load\.d/')"
}

# A file of another package next to them must stay.
nothing_stays() {
	touch "$root$prefix/lib/other" && project uninstall && equal "$prefix/lib/other" "$(files)"
}

plan 4
check "installs" project install
check "module, library and commands are there" all_parts_are_there
check "all but the module and its line is under PREFIX" all_else_is_under_prefix
check "uninstall leaves nothing of it, and takes nothing else" nothing_stays
tap_done
