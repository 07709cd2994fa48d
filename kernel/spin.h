/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A call that waits for an operation spins before it sleeps, if it was told to. While it spins
 * it polls the queues of devices by which packets of the group come (napi.h), as waiting for
 * their interrupts would take longer: devices delay them.
 *
 * A process that polls a queue receives packets for every user of that queue, with bottom halves
 * disabled, and keeps others from the queue meanwhile. So polling is not for a user to decide.
 * The kernel has a rule for its own sockets, and the same options of the rank's socket apply here:
 * SO_BUSY_POLL, initially net.core.busy_read (0 by default: not at all), limits how long a call may
 * poll, and SO_PREFER_BUSY_POLL and SO_BUSY_POLL_BUDGET say how. Who may raise SO_BUSY_POLL depends
 * on the kernel (Documentation/uapi.md, "What blocks, and how not to"). For the rest of its time a
 * call reads memory, which costs nobody else.
 */
#ifndef COLL_SPIN_H
#define COLL_SPIN_H

#include "socket.h"

bool coll_spin(struct coll_sock *csk, const struct coll_completion *slot, u32 us);

/**
 * coll_spin_or_sleep() - wait until a claimed operation has ended
 * @csk: the socket, which has joined
 * @slot: of the socket, claimed by the caller
 * @us: spin for this time first
 * @timeout: then sleep for this time, in jiffies
 *
 * Return: 0, -EAGAIN on time-out, -EINTR on a signal. Context: process; no lock held.
 */
static inline int coll_spin_or_sleep(struct coll_sock *csk, struct coll_completion *slot, u32 us,
				     long timeout)
{
	if (coll_completion_ended(slot) || (us && coll_spin(csk, slot, us)))
		return 0;
	return coll_completion_sleep(slot, timeout);
}

#endif
