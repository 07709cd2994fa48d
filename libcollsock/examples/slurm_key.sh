#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Gives each job of Slurm a key, by which its ranks meet. It is the Prolog and the Epilog of slurmd,
# which run as root on each host, and the TaskProlog. The key is made of one of the cluster and the
# number of the job: make that one by "collsock keygen /etc/collsock/slurm.key", and copy it to
# all hosts. In slurm.conf:
#
#	Prolog=/etc/slurm/slurm_key.sh
#	Epilog=/etc/slurm/slurm_key.sh
#	TaskProlog=/etc/slurm/slurm_key.sh
#	PrologFlags=Alloc
set -eu
secret=/etc/collsock/slurm.key
folder=/run/collsock/slurm
key=$folder/$SLURM_JOB_ID

case $SLURM_SCRIPT_CONTEXT in
prolog_slurmd)
	mkdir -p "$folder"
	umask 077
	# Half of the digest: one who has a key of a job cannot continue it to that of another.
	{ cat "$secret" && echo "$SLURM_JOB_ID"; } | sha256sum | cut -c -32 >"$key"
	chown "$SLURM_JOB_UID" "$key"
	;;
epilog_slurmd)
	rm -f "$key"
	;;
prolog_task)
	echo "export COLLSOCK_KEY_FILE=$key"
	;;
esac
