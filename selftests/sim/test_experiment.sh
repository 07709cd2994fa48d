#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The properties of the experiments, at a small size; COLLSOCK_SOAK: auto with more hosts and lengths
exec python3 "$(dirname "$0")/experiment_test.py" "$OUTPUT/sim"
