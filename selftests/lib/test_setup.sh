#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tools/setup knows every package that the Debian packages need to be built, and says what it needs.
# Speaks TAP.
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

# A user without sudo: the error says what to do.
advises_a_user() {
	local command said
	mkdir "$stubs/user"
	for command in cat sort; do
		ln -s "$(command -v "$command")" "$stubs/user/$command"
	done
	printf '%s\n' '#!/bin/sh' 'echo 65534' >"$stubs/user/id"
	chmod +x "$stubs/user/id"
	ln -s ../dpkg-query "$stubs/user/dpkg-query"
	said=$(PATH=$stubs/user tools/setup build 2>&1) && return 1
	echo "$said"
	[[ $said == *"run it as root, or install sudo; make SETUP=: "* ]]
}

plan 3
check "both lists are read" lists_are_read
check "the part deb has what the packages are built with" \
	equal "" "$(comm -13 <(packages_of deb) <(build_depends))"
check "a user without sudo is told what to do" advises_a_user
tap_done
