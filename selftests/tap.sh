# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# TAP for test scripts: source it, call plan with the number of tests, run each through
# check; the last command, tap_done, is the script's status.

# plan COUNT
plan() {
	tap_number=0
	tap_failed=0
	echo "TAP version 13"
	echo "1..$1"
}

# check NAME COMMAND...: one test; its output is shown if it fails.
check() {
	local name=$1 said status
	shift
	tap_number=$((tap_number + 1))
	said=$("$@" 2>&1)
	status=$?
	if [ $status = 0 ]; then
		echo "ok $tap_number $name"
		return
	fi
	tap_failed=$((tap_failed + 1))
	printf '%s\n' "$said" "status $status" | sed 's/^/# /'
	echo "not ok $tap_number $name"
}

# skip NAME REASON: one test that cannot run here.
skip() {
	tap_number=$((tap_number + 1))
	echo "ok $tap_number $1 # SKIP $2"
}

# equal WANTED FOUND: for check; shows both when they differ.
equal() {
	[ "$1" = "$2" ] && return
	echo "wanted: $1"
	echo "found:  $2"
	return 1
}

tap_done() {
	[ "$tap_failed" = 0 ]
}
