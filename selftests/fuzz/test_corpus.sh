#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every input that the fuzzer has found to be of use, once, in the targets as gcc makes
# them: what was fixed stays fixed. "make fuzz" continues from there.
. selftests/tap.sh

corpus=selftests/fuzz/corpus

# replayed TARGET: what it says is shown if it breaks a promise.
replayed() {
	"$OUTPUT/replay-$1" "$corpus/$1" "$OUTPUT/seeds/$1"
}

plan 4
for target in packets join wire user; do
	check "no input of the corpus breaks a promise: $target" replayed "$target"
done
tap_done
