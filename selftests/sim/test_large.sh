#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Large groups, some no power of two; with COLLSOCK_SOAK also the largest possible one
largest=
[ "${COLLSOCK_SOAK:-1}" = 1 ] || largest=,65536
exec "$OUTPUT/sim" --large 3,1000,10000$largest --barriers 1
