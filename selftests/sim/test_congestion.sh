#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Scenarios of the class congestion from a fresh seed on: nothing waits in a circle.
# COLLSOCK_SEED in the environment repeats them. COLLSOCK_SOAK=n does n times the work, on all
# processors: 10,000 in a soak of 20.
jobs=1
[ "${COLLSOCK_SOAK:-1}" = 1 ] || jobs=$(nproc)
exec "$OUTPUT/sim" --class congestion --first "$COLLSOCK_SEED" \
	--seeds $((500 * ${COLLSOCK_SOAK:-1})) --jobs "$jobs"
