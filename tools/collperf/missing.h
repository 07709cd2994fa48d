/* SPDX-License-Identifier: GPL-2.0 */
/* The hosts that a group waits for, as far as this host's kernel knows */
#ifndef COLLPERF_MISSING_H
#define COLLPERF_MISSING_H

#include <stdint.h>

#include "hosts.h"

/**
 * missing_print() - print on standard error which hosts are waited for, and for how long
 * @id: of the group
 * @hosts: of the group, by index
 * @waited_ms: since the operation was posted
 *
 * Leaves out anything that the kernel does not report.
 */
void missing_print(uint64_t id, const struct hosts *hosts, uint64_t waited_ms);

#endif
