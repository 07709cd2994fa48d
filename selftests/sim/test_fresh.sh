#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Scenarios of every class from a fresh seed on; COLLSOCK_SEED in the environment
# repeats them. COLLSOCK_SOAK=n does n times the work.
exec "$OUTPUT/sim" --first "$COLLSOCK_SEED" --seeds $((510 * ${COLLSOCK_SOAK:-1})) \
	--jobs "$([ "${COLLSOCK_SOAK:-1}" = 1 ] && echo 1 || nproc)"
