#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tools/vm/kver finds the newest kernel of a series, also one of which there are only headers,
# as on a machine that builds the module and boots nothing. Speaks TAP.
# shellcheck disable=SC2317 # the functions are called by check
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
COLLSOCK_CACHE=$(mktemp -d)
export COLLSOCK_CACHE
trap 'rm -rf "$COLLSOCK_CACHE"' EXIT
# No series of this machine
root=$COLLSOCK_CACHE/debian-99

# kernel VERSION [headers] [image]
kernel() {
	local version=$1 part
	shift
	for part; do
		case $part in
		headers) mkdir -p "$root/lib/modules/$version/build" ;;
		image) mkdir -p "$root/lib/modules/$version" "$root/boot" &&
			touch "$root/boot/vmlinuz-$version" ;;
		esac
	done
}

# found SERIES: what kver prints
found() {
	"$here/../../tools/vm/kver" "$@" 2>&1
}

plan 7
mkdir -p "$root/lib/modules/99.1.1-amd64"
check "of a kernel there must be headers or an image" \
	equal "kver: no kernel 99.*-amd64 is installed (tools/setup vm, tools/vm/debian-kernel)" \
	"$(found 99)"
kernel 99.1.9-amd64 headers
check "headers are enough" equal 99.1.9-amd64 "$(found 99)"
kernel 99.1.8-amd64 image
check "what can be booted comes first" equal 99.1.8-amd64 "$(found 99)"
kernel 99.1.3-amd64 image headers
check "before it what modules can be built for, too" equal 99.1.3-amd64 "$(found 99)"
kernel 99.1.10-amd64 image headers
kernel 99.1.11-rt-amd64 image headers
kernel 99.1.12-cloud-amd64 image headers
check "of several the newest, neither for real time nor for clouds" \
	equal 99.1.10-amd64 "$(found 99)"
check "its tree is named" equal "$root" "$(found --root 99.1.10-amd64)"
mkdir -p "$COLLSOCK_CACHE/debian-98/lib/modules/99.1.13-amd64/build"
check "headers in another tree do not hide it" equal 99.1.10-amd64 "$(found 99)"
tap_done
