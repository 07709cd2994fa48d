#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=300 needs=SECCOMP_FILTER
# suites: soak
#
# Ranks that a loop over ssh starts, ranks in pods of podman, with an init container, and those of
# torchrun.
. selftests/tap.sh

work=$(mktemp -d /run/launching.XXXXXX)
# Where podman's files are removed, its mounts must not be entered.
trap 'umount "$work/root" 2>/dev/null; rm -rf --one-file-system "$work"' EXIT
export work PATH=$PWD/build/tools:$PATH
collsock keygen "$work/key"

# lines COUNT LINE: of the log
lines() {
	equal "$1" "$(grep -cx -- "$2" "$work/log")" || { cat "$work/log"; return 1; }
}

# ---- ssh ----

# The hosts share files; each has a daemon of its own.
start_sshd() {
	ssh-keygen -q -t ed25519 -N '' -f "$work/host" &&
		ssh-keygen -q -t ed25519 -N '' -f "$work/user" || return
	cp "$work/user.pub" "$work/authorized"
	cat >"$work/sshd_config" <<-END
	HostKey $work/host
	AuthorizedKeysFile $work/authorized
	StrictModes no
	PermitRootLogin prohibit-password
	UsePAM no
	PidFile none
	END
	mkdir -p /run/sshd
	each 3 /usr/sbin/sshd -f "$work/sshd_config" &&
		echo 10.1.0.1 h1 10.1.0.2 h2 10.1.0.3 h3 | xargs -n 2 >>/etc/hosts
}

# on HOST COMMAND: by ssh from the first host, in this folder
on() {
	onhost h1 ssh -n -i "$work/user" -o StrictHostKeyChecking=accept-new \
		-o UserKnownHostsFile="$work/known" -o LogLevel=ERROR "$1" \
		"cd '$PWD' && export COLLSOCK_KEY_FILE='$work/key' PATH='$PATH' && $2"
}

# loop COMMAND: on each host, in which RANK is its number; output goes to a log
loop() {
	local rank pids=() pid failed=0
	: >"$work/log"
	for rank in 0 1 2; do
		on "h$((rank + 1))" "RANK=$rank; $1" >>"$work/log" 2>&1 &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || failed=$?
	done
	equal 0 $failed || { cat "$work/log"; return 1; }
}

ssh_ranks_by_number() {
	# shellcheck disable=SC2016 # each host expands it
	loop 'collsock allreduce --op sum --rendezvous h1 --ranks 3 --rank $RANK $RANK' && lines 3 3
}

ssh_ranks_by_name() {
	loop 'collsock run -H h1,h2,h3 -- collsock allreduce --op max 17' && lines 3 17
}

# ---- podman ----

# pod HOST COMMAND...: on the host
pod() {
	local host=$1
	shift
	# shellcheck disable=SC2016 # the host expands it
	onhost "$host" sh -c 'mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec podman "$@"' \
		podman --root "$work/pods/$host" --runroot "$work/$host" \
		--cgroup-manager cgroupfs --storage-driver vfs --events-backend none "$@"
}

# container HOST OPTION... -- COMMAND: create it, with the files of this machine
container() {
	local host=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	pod "$host" create --network host --cgroups disabled --env COLLSOCK_KEY_FILE="$work/key" \
		--env PATH="$PATH" --workdir "$PWD" --volume "$work:$work" --pod ranks "${options[@]}" --rootfs "$work/root" "$@"
}

# The init container of each waits for those of all; then the program is a rank.
pods_with_init_containers() {
	local rank
	mkdir "$work/root" && mount --bind / "$work/root" || return
	for rank in 0 1 2; do
		pod "h$((rank + 1))" pod create --name ranks --infra=false &&
			container "h$((rank + 1))" --init-ctr always --name waits -- \
				collsock barrier --timeout 60 --rendezvous 10.1.0.1 --ranks 3 --rank $rank &&
			container "h$((rank + 1))" --name program -- \
				collsock allreduce --op sum --rendezvous 10.1.0.1 --ranks 3 --rank $rank $rank ||
			return
	done
	for rank in 0 1 2; do
		pod "h$((rank + 1))" pod start ranks >"$work/pod$rank" 2>&1 &
	done
	wait
	for rank in 0 1 2; do
		pod "h$((rank + 1))" wait program
		pod "h$((rank + 1))" logs program
	done >"$work/log" 2>&1
	lines 3 3 && lines 3 0 && return
	cat "$work"/pod[012]
	return 1
}

# ---- torchrun ----

# The first attempt ends with rank 1; the ranks of the second join. Their output is redirected by both
# options, as torch 1.13 fails without, with Python 3.11.
torchrun_restarts_ranks() {
	# shellcheck disable=SC2016 # each rank expands it
	onhost h1 env COLLSOCK_KEY_FILE="$work/key" torchrun --nnodes 1 --nproc_per_node 3 \
		--max_restarts 1 --redirects 1 --tee 1 --log_dir "$work/torch" --no_python sh -c \
		'[ "$TORCHELASTIC_RESTART_COUNT $RANK" != "0 1" ] || exit 7
		exec collsock allreduce --op sum $RANK' >"$work/torchrun" 2>&1
	find "$work/torch" -name stdout.log -exec cat {} + >"$work/log"
	lines 3 3 || { cat "$work/torchrun"; return 1; }
}

plan 5
check "a daemon on each host" start_sshd
check "ranks started in a loop over ssh" ssh_ranks_by_number
check "the same command on each host by ssh" ssh_ranks_by_name
check "pods of podman, whose init containers wait for all" pods_with_init_containers
check "ranks of torchrun, one of which fails once" torchrun_restarts_ranks
tap_done
