#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=60
# suites: check debug soak
#
# The test machine itself, on which all other scenarios rely.
. selftests/tap.sh

names() {
	equal "h1: h1 h2: h2 h3: h3 " "$(each "$COLLSOCK_HOSTS" hostname | sort | tr '\n' ' ')"
}

numbers() {
	# shellcheck disable=SC2016 # each host expands it
	equal "h1: 0/3 h2: 1/3 h3: 2/3 " "$(each 3 sh -c 'echo $COLLSOCK_HOST/$COLLSOCK_HOSTS' |
		sort | tr '\n' ' ')"
}

reach() {
	onhost h1 ping -q -n -c 1 -W 5 "$1"
}

failure_shows() {
	# shellcheck disable=SC2016 # each host expands it
	each 3 sh -c '[ "$(hostname)" != h2 ] || exit 3'
	equal 3 $?
}

results() {
	echo written >/out/boot.txt
	equal written "$(cat "$COLLSOCK_OUT/boot.txt")"
}

plan 7
check "the module is loaded" [ -d /sys/module/collsock ]
check "every host has its own name" names
check "every host knows its number" numbers
check "hosts reach each other over IPv4" reach 10.1.0.3
check "hosts reach each other over IPv6" reach fd00:1::2
check "a command that fails on one host fails" failure_shows
check "results can be written" results
tap_done
