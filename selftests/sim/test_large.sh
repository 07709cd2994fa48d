#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The largest possible group, and some that are no power of two
exec "$OUTPUT/sim" --large 3,1000,65536 --barriers 1
