#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The example prolog of Slurm makes a key of each job, and none of a cluster's key that is not
# there, or not secret: the job does not start on such a host. Speaks TAP.
# shellcheck disable=SC2317 # the functions are called by check
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# prolog JOB: its exit status, and the key
prolog() {
	rm -rf "$work/keys"
	SLURM_SCRIPT_CONTEXT=prolog_slurmd SLURM_JOB_ID=$1 SLURM_JOB_UID=$(id -u) \
		"$here/../../libcollsock/examples/slurm_key.sh" "$work/cluster" "$work/keys" \
		2>"$work/said"
	echo "$? $(cat "$work"/keys/* 2>/dev/null)"
}

# cluster MODE KEY
cluster() {
	rm -f "$work/cluster"
	echo "$2" >"$work/cluster"
	chmod "$1" "$work/cluster"
}

# refuses: the prolog fails, and says which file is wrong
refuses() {
	equal "1 " "$(prolog 7)" && grep -q "$work/cluster" "$work/said"
}

has_a_key() {
	[[ $(prolog 7) =~ ^0\ [0-9a-f]{32}$ ]] && equal 600 "$(stat -c %a "$work/keys/7")" &&
		equal 7 "$(ls "$work/keys")"
}

secret=00112233445566778899aabbccddeeff
plan 9
check "without the cluster's key there is none" refuses
cluster 600 ""
check "nor with an empty one" refuses
cluster 600 "${secret%f}"
check "nor with a short one" refuses
cluster 600 "${secret%f}g"
check "nor with one that is no number" refuses
cluster 640 "$secret"
check "nor with one that a group can read" refuses
cluster 600 "$secret"
check "else there is one that its owner alone can read" has_a_key
seven=$(prolog 7)
check "the same on each host" equal "$seven" "$(prolog 7)"
check "made of the cluster's key, the job's number and its user" equal \
	"0 $(echo "$secret 7 $(id -u)" | sha256sum | cut -c -32)" "$seven"
check "and another for each job" [ "$seven" != "$(prolog 8)" ]
tap_done
