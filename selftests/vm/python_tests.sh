#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=180
# suites: matrix soak
#
# The tests that come with the Python package, which users run where they have installed it: on one
# host, on three, in the kernel and in user space.
. selftests/tap.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export COLLSOCK_KEY_FILE=$work/key PYTHONPATH=libcollsock/python LD_LIBRARY_PATH=build/lib \
	PATH=$PWD/build/tools:$PATH
collsock keygen "$work/key"
tests=(/usr/bin/python3 -B -m pytest -q -p no:cacheprovider libcollsock/python/tests)

# pass RANKS COMMAND...: it has no failure in any rank, and not less than 30 tests.
pass() {
	local ranks=$1
	shift
	"$@" >"$work/log" 2>&1 || { cat "$work/log"; return 1; }
	equal "$ranks" "$(grep -cE '(^|: )[3-9][0-9] passed in ' "$work/log")" ||
		{ cat "$work/log"; return 1; }
}

on_three_hosts() {
	each 3 collsock run -H 10.1.0.1,10.1.0.2,10.1.0.3 -- "${tests[@]}"
}

plan 4
check "on one host" pass 4 onhost h1 collsock run --local 4 -- "${tests[@]}"
check "on three hosts" pass 3 on_three_hosts
export COLLSOCK_BACKEND=user
check "on one host, in user space" pass 4 onhost h1 collsock run --local 4 -- "${tests[@]}"
check "on three hosts, in user space" pass 3 on_three_hosts
tap_done
