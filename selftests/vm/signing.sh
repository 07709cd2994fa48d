#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: module=no limit=120 needs=MODULE_SIG
# suites: soak
#
# A kernel that requires signed modules refuses ours with the messages that
# Documentation/installing.md explains, and collsock doctor says what to do. Irreversible
# settings are tested last.
. selftests/tap.sh

[ -e /sys/module/module/parameters/sig_enforce ] || {
	echo "1..0 # SKIP this kernel was built without signatures of modules"
	exit
}
module=build/$(uname -r)/collsock.ko
doctor=build/tools/collsock
sign=/lib/modules/$(uname -r)/build/scripts/sign-file

# refused MODULE WORDS IN-THE-LOG
refused() {
	local said
	dmesg -C
	said=$(insmod "$1" 2>&1) && return 1
	equal "$2" "${said##*: }" && dmesg | grep -F "$3"
}

finds() {
	local said
	said=$(COLLSOCK_BACKEND=kernel "$doctor" doctor)
	equal 2 $? && grep -A1 -F "$1" <<<"$said" | grep -F "sign the module"
}

sign_with_own_key() {
	openssl req -new -x509 -newkey rsa:2048 -nodes -days 1 -subj "/CN=own/" -outform DER \
		-keyout /tmp/own.key -out /tmp/own.der &&
	cp "$module" /tmp/signed.ko && "$sign" sha256 /tmp/own.key /tmp/own.der /tmp/signed.ko &&
	equal own "$(modinfo -F signer /tmp/signed.ko)"
}

plan 7
check "a module can be signed with an own key" sign_with_own_key
mountpoint -q /sys/kernel/security || mount -t securityfs none /sys/kernel/security
echo integrity >/sys/kernel/security/lockdown
check "a kernel that is locked down refuses what is not signed" \
	refused "$module" "Operation not permitted" "unsigned module loading is restricted"
check "the doctor names the lockdown" finds "lockdown"
echo 1 >/sys/module/module/parameters/sig_enforce
check "a kernel that wants signatures refuses what has none" \
	refused "$module" "Key was rejected by service" "Loading of unsigned module is rejected"
check "and a signature by a key it does not know" refused /tmp/signed.ko \
	"Key was rejected by service" "Loading of module with unavailable key is rejected"
check "the doctor names the setting" finds "module.sig_enforce"
check "nothing is left of it" [ ! -e /sys/module/collsock ]
tap_done
