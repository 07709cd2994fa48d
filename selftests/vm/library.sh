#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=4 limit=240
# suites: check arm64 debug soak
#
# libcollsock and its examples on real sockets: the first commands of a user.
. selftests/tap.sh

examples=build/lib/examples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '10.1.0.%d\n' 1 2 3 4 >"$work/hosts"
printf 'fd00:1::%d 7607 # a host\n' 1 2 3 4 >"$work/hosts6"
key=$work/key
(umask 077; echo 000102030405060708090a0b0c0d0eff >"$key")

# A new group each time.
fresh() {
	nonce=$(date +%s%N)
}

# saying TEXT COUNT FILE: check that COUNT lines of FILE contain TEXT.
saying() {
	equal "$2" "$(grep -cF -- "$1" "$3")" || { cat "$3"; return 1; }
}

barrier() {
	fresh
	each 4 $examples/barrier -k "$key" -n "$nonce" -c 3 "$work/hosts" >"$work/log" || return
	saying "done after" 12 "$work/log"
}

barrier_over_ipv6() {
	fresh
	each 4 $examples/barrier -k "$key" -n "$nonce" "$work/hosts6" >"$work/log" || return
	saying "done after" 4 "$work/log"
}

allreduce() {
	fresh
	each 4 $examples/allreduce -k "$key" -n "$nonce" "$work/hosts" >"$work/log" || return
	saying "sum is 6 and 2" 4 "$work/log" && saying "min is 0 and 0.5" 4 "$work/log" &&
		saying "max is 3 and 0.5" 4 "$work/log"
}

overlap() {
	fresh
	each 4 $examples/overlap -k "$key" -n "$nonce" -c 5 "$work/hosts" >"$work/log" || return
	saying "the sum is 6" 20 "$work/log"
}

reduce() {
	fresh
	each 4 $examples/reduce -k "$key" -n "$nonce" -c 50 "$work/hosts" >"$work/log" || return
	saying "the sum is 6" 50 "$work/log" && saying "of all rounds is 300" 4 "$work/log"
}

# three_each N COMMAND...: on each of hosts h1..hN three processes; each adds to the
# command a number from 0 to 2 and finds the same in COLLSOCK_LOCAL.
three_each() {
	local hosts=$1
	shift
	# shellcheck disable=SC2016 # each host expands it
	each "$hosts" sh -c 'processes=
		for COLLSOCK_LOCAL in 0 1 2; do
			export COLLSOCK_LOCAL
			"$@" "$COLLSOCK_LOCAL" & processes="$processes $!"
		done
		for process in $processes; do wait "$process" || exit; done' sh "$@"
}

# Ranks of a host need not be consecutive.
ranks_of_hosts() {
	fresh
	printf '10.1.0.%d\n' 1 2 1 3 3 2 3 1 2 >"$work/nine"
	three_each 3 $examples/allreduce -k "$key" -n "$nonce" -c 2 "$work/nine" --local \
		>"$work/log" || return
	saying "sum is 36 and 4.5" 18 "$work/log" && saying "min is 0 and 0.5" 18 "$work/log" &&
		saying "max is 8 and 0.5" 18 "$work/log" &&
		saying "h1: rank 7: sum" 2 "$work/log" && saying "h2: rank 5: sum" 2 "$work/log" &&
		saying "h3: rank 3: sum" 2 "$work/log"
}

ranks_that_do_not_wait() {
	fresh
	printf '10.1.0.%d\n' 1 1 1 2 2 2 >"$work/six"
	three_each 2 $examples/reduce -k "$key" -n "$nonce" -c 50 "$work/six" --local \
		>"$work/log" || return
	saying "the sum is 15" 50 "$work/log" && saying "of all rounds is 750" 6 "$work/log"
}

ranks_in_plain_python() {
	fresh
	printf '10.1.0.%d\n' 1 2 1 2 1 2 >"$work/turns"
	# shellcheck disable=SC2016 # each host expands it
	three_each 2 sh -c 'exec python3 -B libcollsock/examples/collsock_plain.py --key-file "$1" \
		--nonce "$2" "$3" $((2 * COLLSOCK_LOCAL + COLLSOCK_HOST))' \
		sh "$key" "$nonce" "$work/turns" >"$work/log" || return
	saying "the sums are 15 and 3" 6 "$work/log" && saying "mean rank is 2.5" 6 "$work/log" &&
		saying "the shares are 1 2 3 4 5 6" 6 "$work/log" &&
		saying "no scan, as ranks are not placed on hosts in their order" 6 "$work/log" &&
		saying "greatest rank is 5" 6 "$work/log"
}

c_and_python_on_one_host() {
	fresh
	printf '10.1.0.%d\n' 1 1 2 >"$work/three"
	onhost h1 $examples/barrier -k "$key" -n "$nonce" "$work/three" >"$work/log" &
	onhost h2 $examples/barrier -k "$key" -n "$nonce" "$work/three" >"$work/log2" &
	onhost h1 python3 -B - "$key" "$nonce" "$work/three" <<-'PROGRAM' || return
	import sys
	sys.path.insert(0, "libcollsock/examples")
	import collsock_plain as c
	hosts = c.read_hosts(sys.argv[3])
	sock = c.join(hosts, 1, nonce=int(sys.argv[2]), key=c.read_key(sys.argv[1]))
	c.meet(sock, 1)
	c.barrier(sock)
	PROGRAM
	wait && saying "rank 0: barrier 0 done" 1 "$work/log" &&
		saying "rank 2: barrier 0 done" 1 "$work/log2"
}

# shares_end END...: of rank 0, 1, ...
shares_end() {
	local rank=0 before=0 end

	for end; do
		saying "rank $((rank++)): this one's begin after $before and end at $end" 1 \
			"$work/log" || return
		before=$end
	done
}

# sums_of_columns N...: of rank 0, 1, ...
sums_of_columns() {
	local rank=0 sum

	for sum; do
		saying "rank $((rank++)): the sum of its column is $sum, which rank 0 makes $((10 * sum))" \
			1 "$work/log" || return
	done
}

plain_python() {
	fresh
	# shellcheck disable=SC2016 # each host expands it
	each 4 sh -c 'exec python3 -B libcollsock/examples/collsock_plain.py --key-file "$1" \
		--nonce "$2" "$3" "$COLLSOCK_HOST"' sh "$key" "$nonce" "$work/hosts" >"$work/log" ||
		return
	saying "the sums are 6 and 2" 4 "$work/log" && saying "mean rank is 1.5" 4 "$work/log" &&
		saying "the shares are 1 2 3 4" 4 "$work/log" && shares_end 1 3 6 10 &&
		sums_of_columns 6 10 14 18 &&
		saying "greatest rank is 3" 4 "$work/log"
}

# The programs and commands of README in order, as a new user runs them in this tree.
readme() {
	local tree=$PWD folder=$work/readme
	mkdir "$folder"
	selftests/lib/test_readme.py --extract "$folder" || return
	# The paths of tree.sh are those of the tree
	for name in libcollsock uapi build; do
		ln -s "$tree/$name" "$folder/$name"
	done
	(cd "$folder" && cat tree.sh python.sh c.sh >all.sh &&
		onhost h1 sh -e all.sh) >"$work/log" 2>&1 || { cat "$work/log"; return 1; }
	saying "all are here" 6 "$work/log" && saying "the sum of their ranks is 6" 4 "$work/log"
}

# A process that is stopped and continued finds its system call interrupted.
signals() {
	local pid barriers=100
	[ "${COLLSOCK_SOAK:-1}" = 1 ] || barriers=300
	fresh
	each 4 $examples/barrier -k "$key" -n "$nonce" -c $barriers "$work/hosts" >"$work/log" &
	while kill -0 $! 2>/dev/null; do
		for pid in $(pidof barrier); do
			kill -STOP "$pid" && kill -CONT "$pid"
		done 2>/dev/null
	done
	wait $! && saying "done after" $((4 * barriers)) "$work/log"
}

# One rank leaves after its barrier, and the other continues with a second one.
who_left_is_named() {
	fresh
	printf '10.1.0.%d\n' 1 2 >"$work/two"
	onhost h2 $examples/barrier -k "$key" -n "$nonce" -c 1 "$work/two" &
	onhost h1 $examples/barrier -k "$key" -n "$nonce" -c 2 "$work/two" >"$work/log" 2>&1
	equal 1 $? && wait $! && saying "barrier: barrier: rank 1 has left the group" 1 "$work/log"
}

# advised STATUS TEXT COMMAND...: it fails on host h1, and prints advice.
advised() {
	local status=$1 text=$2
	shift 2
	onhost h1 "$@" >"$work/log" 2>&1
	equal "$status" $? && saying "$text" 1 "$work/log"
}

# A second rank 0, and one with an additional rank
taken_rank() {
	fresh
	printf '10.1.0.%d\n' 1 1 2 >"$work/three"
	printf '10.1.0.%d\n' 1 1 2 2 >"$work/more"
	onhost h1 python3 -B - $examples/barrier "$key" "$nonce" "$work" >"$work/log" 2>&1 <<-'PROGRAM'
	import subprocess
	import sys
	sys.path.insert(0, "libcollsock/examples")
	import collsock_plain as c
	program, key, nonce, work = sys.argv[1:]
	held = c.join(c.read_hosts(work + "/three"), 0, nonce=int(nonce), key=c.read_key(key))
	statuses = [subprocess.call([program, "-k", key, "-n", nonce, work + hosts, rank])
	            for hosts, rank in (("/three", "0"), ("/more", "1"))]
	sys.exit(statuses != [1, 1])
	PROGRAM
	equal 0 $? && saying "its own rank" 1 "$work/log" &&
		saying "joined with a different description" 1 "$work/log"
}

without_module() {
	rmmod collsock || return
	advised 1 "modprobe collsock" env COLLSOCK_BACKEND=kernel $examples/barrier -k "$key" \
		-n 1 "$work/hosts" &&
		advised 1 "modprobe collsock" python3 -B libcollsock/examples/collsock_plain.py \
			--key-file "$key" --nonce 1 "$work/hosts" 0
}

# Rank 0 starts rank 1 only when it has said that it waits.
waits_for_others() {
	local second
	fresh
	printf '10.1.0.%d\n' 1 2 >"$work/two"
	mkfifo "$work/said"
	onhost h1 $examples/barrier -k "$key" -n "$nonce" "$work/two" >"$work/log" 2>"$work/said" &
	read -r second <"$work/said"
	onhost h2 $examples/barrier -k "$key" -n "$nonce" "$work/two" >/dev/null || return
	wait $! && equal "rank 0: waiting for other ranks; collsock wait says for which" "$second" &&
		saying "barrier 0 done" 1 "$work/log"
}

launched() {
	build/tools/collsock run --local 3 -- $examples/allreduce >"$work/log" || return
	saying "sum is 3 and 1.5" 3 "$work/log"
}

plan 25
check "barriers over the hosts of a file" barrier
check "barrier over IPv6" barrier_over_ipv6
check "allreduce gives sum, min and max" allreduce
check "overlap learns of the result by epoll" overlap
check "reduce lets rank 0 compute, and the others continue" reduce
check "three ranks on each of three hosts do an allreduce" ranks_of_hosts
check "ranks of a host that need no result do not wait" ranks_that_do_not_wait
check "plain Python does all of that" plain_python
check "plain Python has three ranks on each of two hosts" ranks_in_plain_python
check "C and Python are ranks of one host and of one group" c_and_python_on_one_host
if [ "$(uname -m)" = aarch64 ]; then
	skip "the programs and commands of README do what it says" "no compiler in the arm64 guest"
else
	check "the programs and commands of README do what it says" readme
fi
check "signals neither lose nor repeat an operation" signals
check "a rank that left is named" who_left_is_named
check "a group without a key gets advice" \
	advised 1 "collsock set require_keys 0" $examples/barrier -n 1 "$work/hosts"
check "an address of another host is reported" \
	advised 1 "see ip address" $examples/barrier -k "$key" -n 1 "$work/hosts" 2
check "a key file open to others is reported" \
	advised 1 "chmod 600" $examples/barrier -k "$work/hosts" -n 1 "$work/hosts"
check "a rank that does not exist is reported" \
	advised 2 "ranks count from 0" $examples/barrier -k "$key" -n 1 "$work/hosts" 4
check "more processes than the host has ranks are reported" \
	advised 1 "how many ranks" $examples/barrier -k "$key" -n 1 --local 1 "$work/hosts"
check "a rank that has joined already is reported" taken_rank
check "a hosts file with names is reported" \
	advised 2 "is not an IPv4, IPv6 or MAC address" $examples/barrier -k "$key" -n 1 /etc/hostname
check "a description without a nonce is reported" \
	advised 2 "never used with this key" $examples/barrier -k "$key" "$work/hosts"
check "a rank that waits says how to find out for which others" waits_for_others
check "an example finds the ranks that collsock run has started" launched
check "Python gives advice on a missing key" \
	advised 1 "collsock set require_keys 0" python3 -B libcollsock/examples/collsock_plain.py \
	--nonce 1 "$work/hosts" 0
check "a missing module is reported" without_module
tap_done
