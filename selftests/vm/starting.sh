#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=240
# suites: check soak
#
# Ranks are started by collsock run, by hand, as torchrun does, and by launchers of MPI programs;
# collsock barrier and allreduce.
. selftests/tap.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export work COLLSOCK_KEY_FILE=$work/key PATH=$PWD/build/tools:$PATH
collsock keygen "$work/key"

# saying TEXT COUNT FILE: check that COUNT lines of FILE contain TEXT.
saying() {
	equal "$2" "$(grep -cF -- "$1" "$3")" || { cat "$3"; return 1; }
}

# status WANTED COMMAND...: its output goes to a log
status() {
	local wanted=$1 found
	shift
	"$@" >"$work/log" 2>&1
	found=$?
	equal "$wanted" $found || { cat "$work/log"; return 1; }
}

# numbers TEXT: check what the ranks have printed. On a busy machine run may say that some are late.
numbers() {
	equal "$1" "$(grep -vF "waiting for rank" "$work/log" | paste -s -d ' ')"
}

# three COMMAND...: as ranks 0 to 2 on three hosts; output as of each
three() {
	# shellcheck disable=SC2016 # each host expands it
	each 3 sh -c 'exec "$@" --rendezvous 10.1.0.1 --ranks 3 --rank $COLLSOCK_HOST' sh "$@"
}

ranks_of_one_host() {
	# shellcheck disable=SC2016 # each rank expands it
	status 0 collsock run --local 4 sh -c 'exec collsock allreduce --op sum $COLLSOCK_RANK' &&
		numbers "6 6 6 6"
}

status_of_the_program() {
	status 3 collsock run --local 1 sh -c 'exit 3' &&
		status 137 collsock run --local 2 sh -c 'kill -9 $$' &&
		status 127 collsock run --local 1 "$work/no-such-program" &&
		status 126 collsock run --local 1 "$work/key" &&
		status 125 collsock run --local 0 true &&
		status 125 collsock run --local 1
}

# Rank 1 joins when run has said that the others wait for it.
ranks_that_others_wait_for() {
	# shellcheck disable=SC2016 # each rank expands it
	status 0 collsock run --local 3 sh -c '[ $COLLSOCK_RANK != 1 ] ||
		until grep -q "waiting for rank 1: it has not joined" "$work/log"; do
			sleep 0.1
		done
		exec collsock barrier'
}

# Rank 1 joins, in plain Python, and ends: its program is the rank, not what started it, which
# runs on until rank 0 has ended.
liveness_is_that_of_the_program() {
	cat >"$work/leave.py" <<-'END'
	import os, socket, sys
	sys.path.insert(0, "selftests/vm")
	import collsock_test as c
	fd = int(os.environ["COLLSOCK_REQUEST"].split(":")[0])
	s = socket.socket(c.AF_COLLSOCK, socket.SOCK_SEQPACKET)
	s.setsockopt(c.SOL_COLLSOCK, c.JOIN, os.pread(fd, 1 << 20, 0))
	END
	# shellcheck disable=SC2016 # each rank expands it
	status 1 collsock run --local 2 sh -c '
		[ $COLLSOCK_RANK = 1 ] || { collsock barrier; s=$?; >$work/over; exit $s; }
		python3 -B $work/leave.py || exit
		until [ -e $work/over ]; do sleep 0.1; done' &&
		saying "rank 1 has left the group" 1 "$work/log"
}

python_ranks() {
	# shellcheck disable=SC2016 # a program in Python
	PYTHONPATH=libcollsock/python status 0 collsock run --local 3 python3 -B -c '
import collsock
with collsock.join_env() as group:
    print("ranks", group.allreduce(group.rank + 1))' && saying "ranks 6" 3 "$work/log"
}

# libcollsock finds the others.
python_ranks_of_three_hosts() {
	# shellcheck disable=SC2016 # each host expands it
	PYTHONPATH=libcollsock/python LD_LIBRARY_PATH=build/lib COLLSOCK_RENDEZVOUS=10.1.0.1 COLLSOCK_RANKS=3 \
		status 0 each 3 sh -c 'COLLSOCK_RANK=$COLLSOCK_HOST exec python3 -B -c "
import collsock, os, socket
with collsock.join_env() as group:
    family = socket.socket(fileno=os.dup(group.fileno())).family
    assert family != socket.AF_UNIX, family
    print(1, group.allreduce(group.rank + 1))"' && saying "1 6" 3 "$work/log"
}

# On one host: what is exchanged is in a folder.
python_ranks_by_an_exchange() {
	rm -rf "$work/exchange" && mkdir "$work/exchange" || return
	# shellcheck disable=SC2016 # each rank expands it
	PYTHONPATH=libcollsock/python status 0 onhost h1 sh -c '
			for rank in 0 1; do rank=$rank python3 -B -c "
import collsock, itertools, os, pathlib, time
rank, folder, turns = int(os.environ[\"rank\"]), pathlib.Path(os.environ[\"work\"]) / \"exchange\", itertools.count()
def read(path):
    while not path.exists():
        time.sleep(0.01)
    return path.read_bytes()
def exchange(mine):
    turn = next(turns)
    (folder / f\"new{rank}\").write_bytes(mine)
    (folder / f\"new{rank}\").rename(folder / f\"{turn}.{rank}\")
    return [read(folder / f\"{turn}.{other}\") for other in range(2)]
with collsock.Group.from_exchange(exchange, rank, 2, backend=\"kernel\") as group:
    print(\"sum\", group.allreduce(group.rank + 1))" & done; wait' && saying "sum 3" 2 "$work/log"
}

# Host 2 is cut off when its rank has met rank 0, so no packet tells of its end.
vanished_host_is_replaced() {
	local gone status ranks="--rendezvous 10.1.0.1 --ranks 3"
	# shellcheck disable=SC2086 # words
	onhost h1 collsock barrier $ranks --rank 0 >"$work/0" 2>&1 &
	# shellcheck disable=SC2086 # words
	onhost h2 collsock barrier $ranks --rank 1 >"$work/gone" 2>&1 &
	gone=$!
	# It says so only if it is not late.
	until onhost h2 ss -Htn state established | grep -q :76; do
		sleep 0.2
	done
	sleep 1
	onhost h2 ip link set eth0 down
	kill -9 $gone
	# Until then a second rank 1 is refused, and rank 2 would begin without it.
	sleep 13
	# shellcheck disable=SC2016,SC2086 # the host expands it; words
	onhost h3 sh -c '
		COLLSOCK_MEETING_TIMEOUT=20 collsock barrier "$@" --rank 2 &
		collsock barrier "$@" --rank 1 && wait $!' sh $ranks >"$work/log" 2>&1
	status=$?
	onhost h2 ip link set eth0 up
	equal 0 $status || { cat "$work/0" "$work/log"; return 1; }
}

ranks_of_three_hosts() {
	status 0 three collsock barrier && status 0 three collsock barrier --timeout 600
}

numbers_of_three_hosts() {
	local operation
	# shellcheck disable=SC2016 # each host expands it
	each 3 sh -c 'exec collsock allreduce --op sum --rendezvous 10.1.0.1 --ranks 3 \
		--rank $COLLSOCK_HOST $COLLSOCK_HOST' >"$work/log" && saying ": 3" 3 "$work/log" ||
		return
	for operation in "min 1 1 1" "max 3 3 3" "product 6 6 6"; do
		# shellcheck disable=SC2016 # each rank expands it
		status 0 collsock run --local 3 sh -c '
			exec collsock allreduce --op '"${operation%% *}"' $((COLLSOCK_RANK + 1))' &&
			numbers "${operation#* }" || return
	done
}

real_numbers() {
	# shellcheck disable=SC2016 # each rank expands it
	status 0 collsock run --local 2 sh -c 'exec collsock allreduce --op sum $COLLSOCK_RANK.25' &&
		numbers "1.5 1.5"
}

run_on_three_hosts() {
	# shellcheck disable=SC2016 # each host expands it
	status 0 each 3 sh -c 'exec collsock run --rendezvous 10.1.0.1 --ranks 3 \
		--rank $COLLSOCK_HOST -- sh -c "exec collsock allreduce --op sum 5"' &&
		saying ": 15" 3 "$work/log"
}

# It cannot be changed while a group ends.
change_port() {
	local host tries=0
	for host in h1 h2 h3; do
		until collsock -n "$host" set port "$1"; do
			tries=$((tries + 1))
			[ $tries -lt 300 ] || return
			sleep 0.1
		done
	done
}

# The library asks the module, and can be told a wrong port.
on_another_port() {
	status 0 onhost h1 collsock run --local 3 collsock barrier &&
		status 0 three collsock barrier && run_on_three_hosts &&
		python_ranks_of_three_hosts && python_ranks_by_an_exchange &&
		status 0 three collsock barrier --port 7700 &&
		status 1 three collsock barrier --port 7607 &&
		saying "groups there do not use UDP port 7607" 3 "$work/log"
}

ranks_on_another_port() {
	local status
	change_port 7700 || return
	on_another_port
	status=$?
	change_port default && return $status
}

hosts_by_name() {
	# shellcheck disable=SC2016 # each host expands it
	status 0 each 3 sh -c 'exec collsock barrier -H 10.1.0.1,10.1.0.2,10.1.0.3'
}

as_torchrun_does() {
	# shellcheck disable=SC2016 # each host expands it
	status 0 each 3 sh -c 'export RANK=$COLLSOCK_HOST WORLD_SIZE=3 MASTER_ADDR=10.1.0.1 \
		MASTER_PORT=29500 TORCHELASTIC_RUN_ID=none TORCHELASTIC_RESTART_COUNT=1 LOCAL_RANK=0
		exec collsock allreduce --op max $RANK' && saying ": 2" 3 "$work/log"
}

# A program without MPI, of two ranks on each host. mpirun passes no variables to other hosts, so a
# key file would be known on the first only.
by_launcher_of() {
	status 0 env -u COLLSOCK_KEY_FILE mpi "$1" --hosts 3 --ranks 2 "$PWD/build/tools/collsock" \
		allreduce --op sum 7 && saying 42 6 "$work/log"
}

missing_rank_is_named() {
	status 124 onhost h1 collsock barrier --timeout 3 --rendezvous 10.1.0.1 --rank 0 --ranks 2 &&
		saying "waiting for rank 1: never connected to 10.1.0.1:" 2 "$work/log"
}

two_secrets() {
	local first
	collsock keygen "$work/other"
	onhost h1 collsock barrier --rendezvous 10.1.0.1 --rank 0 --ranks 2 >"$work/log0" 2>&1 &
	first=$!
	until onhost h1 ss -Hltn | grep -q :76; do sleep 0.1; done
	status 124 onhost h2 env COLLSOCK_KEY_FILE="$work/other" collsock barrier --timeout 5 \
		--rendezvous 10.1.0.1 --rank 1 --ranks 2 || return
	kill $first
	grep -F "as rank 1, was refused: its secret differs" "$work/log0" &&
		grep -F "has another secret" "$work/log"
}

without_a_launcher() {
	status 2 collsock barrier && saying "no launcher was found" 1 "$work/log" &&
		status 2 collsock barrier --timeout 0 && status 2 collsock barrier word &&
		status 2 collsock allreduce --op most 1 && status 2 collsock allreduce --op max x
}

plan 19
check "ranks of one host need no address, port or secret" ranks_of_one_host
check "ranks that have not joined are named while others wait" ranks_that_others_wait_for
check "run has the status of the program" status_of_the_program
check "what the others notice is the end of the program" liveness_is_that_of_the_program
check "a program in Python is a rank" python_ranks
check "in Python, of three hosts whose ranks the library finds" python_ranks_of_three_hosts
check "a rank whose host has vanished may come again" vanished_host_is_replaced
check "a barrier of three hosts, twice" ranks_of_three_hosts
check "an all-reduce of three hosts, and one by each operator" numbers_of_three_hosts
check "an all-reduce of real numbers" real_numbers
check "run on three hosts" run_on_three_hosts
check "ranks are on another port that all hosts have" ranks_on_another_port
check "hosts by name: each finds its rank" hosts_by_name
check "as torchrun starts ranks" as_torchrun_does
check "mpiexec of MPICH starts ranks, by PMI" by_launcher_of mpich
check "mpirun of Open MPI starts ranks, by PMIx" by_launcher_of openmpi
check "a rank that is missing is named, with status 124" missing_rank_is_named
check "with two secrets both sides say so" two_secrets
check "without a launcher, or with wrong usage: status 2" without_a_launcher
tap_done
