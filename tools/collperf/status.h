/* SPDX-License-Identifier: GPL-2.0 */
#ifndef COLLPERF_STATUS_H
#define COLLPERF_STATUS_H

/* Exit status of the programs */
enum {
	EXIT_DONE	= 0,
	EXIT_FAILED	= 1,
	EXIT_USAGE	= 2,
};

#endif
