#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Gives each job of Slurm a key, by which its ranks meet. It is the Prolog and the Epilog of slurmd,
# which run as root on each host, and the TaskProlog. The key is made of one of the cluster, the
# number of the job and its user: make the cluster's by "collsock keygen /etc/collsock/slurm.key",
# and copy it to all hosts of this cluster, and to no other cluster. In slurm.conf:
#
#	Prolog=/etc/slurm/slurm_key.sh
#	Epilog=/etc/slurm/slurm_key.sh
#	TaskProlog=/etc/slurm/slurm_key.sh
#	PrologFlags=Alloc
#
# A host without the cluster's key is drained: its jobs would have a key that anybody can compute.
set -eu
secret=${1:-/etc/collsock/slurm.key}
folder=${2:-/run/collsock/slurm}
key=$folder/$SLURM_JOB_ID

# The cluster's key: 32 hexadecimal digits that only root can read
cluster_key() {
	private=$(find "$secret" -user "$(id -u)" ! -perm /077)
	digits=$(tr -d '[:space:]' <"$secret")
	case $digits in
	*[!0-9a-fA-F]*) digits= ;;
	esac
	if [ -z "$private" ] || [ ${#digits} -ne 32 ]; then
		echo "$secret: not 32 hexadecimal digits that only their owner can read" >&2
		exit 1
	fi
	echo "$digits"
}

case $SLURM_SCRIPT_CONTEXT in
prolog_slurmd)
	mkdir -p "$folder"
	umask 077
	# set -e sees that it failed, but would not within a pipeline.
	cluster=$(cluster_key)
	new=$(mktemp "$folder/new.XXXXXX")
	# Half of the digest: one who has a key of a job cannot continue it to that of another.
	# Numbers of jobs can repeat: then another user has another key.
	echo "$cluster $SLURM_JOB_ID $SLURM_JOB_UID" | sha256sum | cut -c -32 >"$new"
	chown "$SLURM_JOB_UID" "$new"
	mv -f "$new" "$key"
	;;
epilog_slurmd)
	rm -f "$key"
	;;
prolog_task)
	echo "export COLLSOCK_KEY_FILE=$key"
	;;
esac
