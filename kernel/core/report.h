/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Reports: what a host knows of its groups, in the attributes of the netlink family
 * (uapi/linux/collsock_netlink.h). The platform makes the messages, and adds what only it knows,
 * such as who owns a group. Once a message has no room left nothing is added any more.
 *
 * Everything here is called under the group's lock, but for coll_report_constants() and
 * coll_report_stats().
 */
#ifndef COLL_CORE_REPORT_H
#define COLL_CORE_REPORT_H

#include "state.h"

/**
 * struct coll_report_writer - how the platform writes attributes
 * @put: add one; false if there is no room
 * @put_u64: add one of 8 bytes, where need be after one of type @pad that aligns it
 * @nest: begin one that has others; returns where, or a negative number if there is no room
 * @nest_end: it is complete
 */
struct coll_report_writer {
	bool	(*put)(void *message, u16 type, const void *value, u32 bytes);
	bool	(*put_u64)(void *message, u16 type, u64 value, u16 pad);
	int	(*nest)(void *message, u16 type);
	void	(*nest_end)(void *message, int at);
};

/**
 * struct coll_report - a message that is being written
 * @writer: of the platform
 * @message: for it
 * @full: there was no room for all of it
 */
struct coll_report {
	const struct coll_report_writer	*writer;
	void				*message;
	bool				full;
};

void coll_report_constants(struct coll_report *r, const struct coll_group *g,
			   const struct collsock_join *request);
void coll_report_state(struct coll_report *r, const struct coll_group *g);
void coll_report_stats(struct coll_report *r, const struct collsock_stats *stats);
void coll_report_host(struct coll_report *r, const struct coll_group *g, u32 host,
		      const struct collsock_member *m, u32 address_bytes);
void coll_report_rank(struct coll_report *r, const struct coll_rank *rank);
void coll_report_peer(struct coll_report *r, const struct coll_peer *peer, u64 now);
void coll_report_operation(struct coll_report *r, const struct coll_group *g,
			   const struct coll_op *op, u64 now);

#endif
