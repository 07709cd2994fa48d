/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs that compute and meet: the experiments of the paper on the NIC-based barrier (Buntinas,
 * Panda, Sadayappan; §4.3 to §4.5). A program is a list of steps; in each, a host computes, for a
 * time that may vary from host to host, and runs the operation. Its efficiency is the share of
 * computation in the whole time.
 */
#ifndef COLLPERF_STEPS_H
#define COLLPERF_STEPS_H

#include "measure.h"

/*
 * Run the program of --steps, or search for the least computation that has each of the
 * efficiencies of --efficiency; print the figures as measure_print() does. Every host must make
 * the same calls.
 */
void steps_measure(const struct options *options, const struct work *work, const char *program);

#endif
