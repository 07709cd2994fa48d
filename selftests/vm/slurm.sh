#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=8 limit=600 needs=CPUSETS append=cgroup_no_v1=all
# suites: soak
#
# Steps of Slurm: a controller on the first host, a daemon on each, and real srun and sbatch. Its
# daemons do not start in a machine in which control groups of version 1 were ever mounted.
. selftests/tap.sh

hosts=8
# Daemons have /tmp to themselves.
work=$(mktemp -d /run/slurm-test.XXXXXX)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
export work PATH=$PWD/build/tools:$PATH
# The key of each job is that of its prolog.
unset COLLSOCK_KEY_FILE

# saying TEXT COUNT FILE: check that COUNT lines of FILE contain TEXT.
saying() {
	equal "$2" "$(grep -cF -- "$1" "$3")" || { cat "$3"; return 1; }
}

# ---- the cluster ----

configure() {
	mkdir -p /etc/slurm /etc/collsock /run/slurm/state /run/munge /run/collsock \
		/sys/fs/cgroup/system.slice
	echo +cpuset +cpu >/sys/fs/cgroup/cgroup.subtree_control
	echo +cpuset +cpu >/sys/fs/cgroup/system.slice/cgroup.subtree_control
	collsock keygen /etc/collsock/slurm.key
	cp libcollsock/examples/slurm_key.sh /etc/slurm
	printf '%s=yes\n' IgnoreSystemd ConstrainCores >/etc/slurm/cgroup.conf
	cat >/etc/slurm/slurm.conf <<-END
	ClusterName=vm
	SlurmctldHost=h1(10.1.0.1)
	SlurmUser=root
	StateSaveLocation=/run/slurm/state
	SlurmctldPidFile=/run/slurm/slurmctld.pid
	SlurmdPidFile=/run/slurm/%n.pid
	SlurmdSpoolDir=/run/slurm/%n
	SlurmctldLogFile=/run/slurm/slurmctld.log
	SlurmdLogFile=/run/slurm/%n.log
	Prolog=/etc/slurm/slurm_key.sh
	Epilog=/etc/slurm/slurm_key.sh
	TaskProlog=/etc/slurm/slurm_key.sh
	PrologFlags=Alloc
	ProctrackType=proctrack/cgroup
	TaskPlugin=task/cgroup
	SelectType=select/linear
	MpiDefault=none
	MailProg=/bin/true
	SlurmdParameters=config_overrides
	NodeName=h[1-$hosts] NodeAddr=10.1.0.[1-$hosts] CPUs=2
	PartitionName=all Nodes=ALL Default=YES
	END
}

start_munge() {
	head -c 128 /dev/urandom >/run/munge/key
	chmod 400 /run/munge/key
	chown -R munge: /run/munge
	setpriv --reuid munge --regid munge --clear-groups munged --force --key-file=/run/munge/key \
		--log-file=/run/munge/log --pid-file=/run/munge/pid --seed-file=/run/munge/seed
}

# Each host has keys and temporary files of its own.
start_daemons() {
	# shellcheck disable=SC2016 # each host expands it
	each $hosts sh -c 'mount -t cgroup2 cgroup2 /sys/fs/cgroup &&
		mount -t tmpfs tmpfs /run/collsock && mount -t tmpfs tmpfs /tmp &&
		mkdir "/run/slurm/$(hostname)" && exec slurmd'
}

idle_hosts() {
	onhost h1 sinfo -h -t idle -o %D
}

start_cluster() {
	configure
	if ! start_munge || ! onhost h1 slurmctld || ! start_daemons; then
		tail -n 20 /run/slurm/*.log
		return 1
	fi
	until [ "$(idle_hosts)" = $hosts ]; do
		sleep 1
	done
}

# lines COUNT LINE: of the log
lines() {
	equal "$1" "$(grep -cx -- "$2" "$work/log")" || { cat "$work/log"; return 1; }
}

# step STATUS OPTION... PROGRAM...: on all hosts; output goes to a log
step() {
	local wanted=$1 found
	shift
	onhost h1 srun -N $hosts "$@" >"$work/log" 2>&1
	found=$?
	equal "$wanted" $found || { cat "$work/log"; return 1; }
}

# ---- promises ----

# Each rank prints the sum of the numbers of all.
ranks_of_a_step() {
	# shellcheck disable=SC2016 # each task expands it
	step 0 "$@" sh -c 'exec collsock allreduce --op sum $SLURM_PROCID' && lines $hosts 28
}

several_tasks_of_a_host() {
	step 0 -n 11 collsock allreduce --op sum 1 && lines 11 11
}

# Which is a program that joins by itself
example_in_c() {
	step 0 --mpi=none build/lib/examples/barrier && saying "barrier 0 done after" $hosts "$work/log"
}

# mpi VARIABLE...: a program of MPI, some of whose calls are taken, as the variables say
mpi() {
	step 0 --mpi=pmix env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_MCA_btl=tcp,self \
		OMPI_MCA_btl_tcp_if_include=eth0 "$@" build/mpi/openmpi/collectives --rounds 2 &&
		saying PASS 1 "$work/log" && grep -Eq "MPI_[[:alpha:]]+ +[1-9][0-9]* taken" "$work/log"
}

mpi_with_the_library() {
	mpi LD_PRELOAD="$PWD/build/lib/mpi/libcollsock-mpi-openmpi.so" COLLSOCK_MPI=require \
		COLLSOCK_MPI_AFTER=0 COLLSOCK_MPI_SUMMARY=1
}

mpi_with_the_component() {
	mpi OMPI_MCA_mca_base_component_path="$PWD/build/lib/mpi:SYSTEM_DEFAULT" \
		OMPI_MCA_coll_collsock_priority=90 OMPI_MCA_coll_collsock_after=0 \
		OMPI_MCA_coll_collsock_summary=1
}

# Rank 3 joins, and is killed. The others end with a failure, and so does the step.
killed_rank_is_named() {
	cat >"$work/killed.py" <<-'END'
	import os, signal, socket, sys
	sys.path.insert(0, "selftests/vm")
	import collsock_test as c
	fd = int(os.environ["COLLSOCK_REQUEST"].split(":")[0])
	s = socket.socket(c.AF_COLLSOCK, socket.SOCK_SEQPACKET)
	s.setsockopt(c.SOL_COLLSOCK, c.JOIN, os.pread(fd, 1 << 20, 0))
	os.kill(os.getpid(), signal.SIGKILL)
	END
	# shellcheck disable=SC2016 # each task expands it
	step 137 sh -c '[ $SLURM_PROCID != 3 ] || exec collsock run -- python3 -B $work/killed.py
		exec collsock run -- collsock barrier' &&
		saying "rank 3 has left the group" 7 "$work/log"
}

# A program that is started without srun has no other ranks, whatever Slurm has set for it.
batch_script_outside_of_a_step() {
	cat >"$work/job" <<-'END'
	#!/bin/sh
	collsock barrier
	echo "alone: status $?"
	srun collsock barrier
	echo "step: status $?"
	END
	onhost h1 sbatch --wait -N $hosts -o "$work/log" "$work/job" || { cat "$work/log"; return 1; }
	saying "is no task of a step" 1 "$work/log" && saying "alone: status 2" 1 "$work/log" &&
		saying "step: status 0" 1 "$work/log"
}

# Its daemons are tasks of a step that mpirun starts; its ranks are those of its own PMIx.
mpirun_in_a_job() {
	cat >"$work/job" <<-'END'
	#!/bin/sh
	mpirun --allow-run-as-root -N 1 sh -c 'exec collsock allreduce --op sum $OMPI_COMM_WORLD_RANK'
	END
	onhost h1 sbatch --wait -N $hosts -o "$work/log" "$work/job" || { cat "$work/log"; return 1; }
	lines $hosts 28
}

# Of two jobs, on two hosts: the file has the same key on both, and is gone with its job.
keys_of_jobs() {
	local key
	for _ in 1 2; do
		# shellcheck disable=SC2016 # each task expands it
		onhost h1 srun -N 2 sh -c 'stat -c %a $COLLSOCK_KEY_FILE && cat $COLLSOCK_KEY_FILE' \
			>>"$work/keys" || return
	done
	equal "600 600 600 600" "$(grep -x 600 "$work/keys" | paste -s -d ' ')" || return
	equal "2 2" "$(grep -vx 600 "$work/keys" | sort | uniq -c | awk '{ print $1 }' |
		paste -s -d ' ')" || return
	key=$(grep -vx 600 "$work/keys" | head -n 1)
	[ ${#key} = 32 ]
}

plan 12
check "a cluster of $hosts hosts" start_cluster
check "tasks meet over TCP on the host of the first" ranks_of_a_step --mpi=none
check "tasks exchange by PMI, version 2" ranks_of_a_step --mpi=pmi2
check "tasks exchange by PMIx" ranks_of_a_step --mpi=pmix
check "several tasks of a host" several_tasks_of_a_host
check "an example in C" example_in_c
check "a program of MPI with the library" mpi_with_the_library
check "a program of MPI with the component" mpi_with_the_component
check "a killed rank is named, and the step ends" killed_rank_is_named
check "a batch script is no step, and does not wait" batch_script_outside_of_a_step
check "mpirun of Open MPI within a job" mpirun_in_a_job
check "each job has a key of its prolog" keys_of_jobs
tap_done
