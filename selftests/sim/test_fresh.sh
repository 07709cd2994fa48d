#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Scenarios of every class from a fresh seed on; COLLSOCK_SEED in the environment
# repeats them. COLLSOCK_SOAK=n does n times the work, on all processors.
jobs=1
[ "${COLLSOCK_SOAK:-1}" = 1 ] || jobs=$(nproc)
exec "$OUTPUT/sim" --first "$COLLSOCK_SEED" --seeds $((570 * ${COLLSOCK_SOAK:-1})) --jobs "$jobs"
