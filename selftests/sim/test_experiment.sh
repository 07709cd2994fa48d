#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What the experiments must show, in a small form.
exec python3 "$(dirname "$0")/experiment_test.py" "$OUTPUT/sim"
