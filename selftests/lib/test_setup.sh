#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tools/setup knows every package that the Debian packages need to be built. Speaks TAP.
# shellcheck disable=SC2317 # the functions are called by check
set -u
cd "$(dirname "$0")/../.." || exit
. selftests/tap.sh
stubs=$(mktemp -d)
trap 'rm -rf "$stubs"' EXIT

# A system on which no package is installed, so that those of a part are missing
printf '%s\n' '#!/bin/sh' 'exit 1' >"$stubs/dpkg-query"
chmod +x "$stubs/dpkg-query"

# packages_of PART: their names, in order
packages_of() {
	PATH=$stubs:$PATH tools/setup --check "$1" 2>&1 | sed '1d; s/ .*//' | sort
}

# The names in Build-Depends, in order, but for those that debhelper and its add-ons provide; and
# what dpkg demands of each build
build_depends() {
	{
		sed -n '/^Build-Depends:/,/^[^ ]/s/^ \([^ ,]*\).*/\1/p' tools/debian/control.in |
			grep -v -e '^debhelper-compat$' -e '^dh-sequence-'
		echo build-essential
	} | sort
}

lists_are_read() {
	packages_of deb | grep -qx debhelper && build_depends | grep -qx nettle-dev
}

plan 2
check "both lists are read" lists_are_read
check "the part deb has what the packages are built with" \
	equal "" "$(comm -13 <(packages_of deb) <(build_depends))"
tap_done
