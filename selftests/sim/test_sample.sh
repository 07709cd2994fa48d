#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A fixed sample of scenarios of every class, with ASan and UBSan.
exec "$OUTPUT/sim-sanitized" --seeds 190
