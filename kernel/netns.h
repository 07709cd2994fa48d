/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a network namespace has of collsock: its groups, the UDP port that they
 * share, early packets, time-wait entries, its tunables and its counters.
 *
 * Groups outlive their sockets while something of them is under way. Neither
 * they nor the port's socket hold a reference on the namespace or on the
 * module: coll_net_exit(), which both wait for, ends them.
 *
 * A group that has become quiet is put on a list in softirq context, and one
 * work item of the namespace, the tidying, does the rest: it replaces the group
 * by a time-wait entry, forgets time-wait entries that are old enough, and closes the port
 * when nothing needs it any more.
 */
#ifndef COLL_NETNS_H
#define COLL_NETNS_H

#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include "counters.h"
#include "timewait_table.h"
#include "early_packet.h"
#include "tunables.h"
#include "udp.h"

struct coll_instance;

/**
 * struct coll_net - a namespace
 * @net: it
 * @joining: held by who joins, for the first rank of a host makes what the others find;
 *	taken before @mutex
 * @mutex: serialises joining and tidying; taken before any lock of a group
 * @instances: all groups by handle; under @mutex, like the next three
 * @groups: how many
 * @next_handle: where to look for a free one
 * @generation: changes with @instances
 * @members: all tables of members; under @mutex
 * @memory: bytes that all groups have reserved; under @mutex
 * @over_memory: requests to join that would have made it too many; under @mutex
 * @quiet: groups that the tidying is to replace
 * @tidy: the tidying
 * @udp: the port
 * @timewait: the time-wait entries
 * @early_packets: see early_packet.h
 * @tunables: of it
 * @counters: what became of packets
 * @port: its number, in the byte order of the host, while it is open; under @mutex
 */
struct coll_net {
	struct net			*net;
	struct mutex			joining; /* making an instance takes long */
	struct mutex			mutex;	/* joining and tidying */
	struct xarray			instances;
	u32				groups;
	u32				next_handle;
	u32				generation;
	struct hlist_head		members;
	u64				memory;
	u64				over_memory;
	struct llist_head		quiet;
	struct delayed_work		tidy;
	struct coll_udp			udp;
	struct coll_timewait_table		timewait;
	struct coll_early_packets		early_packets;
	struct coll_tunables		tunables;
	struct coll_counters __percpu	*counters;
	u16				port;
};

struct coll_net *coll_net_of(const struct net *net);
u16 coll_net_port(struct coll_net *cn);
int coll_net_add(struct coll_net *cn, struct coll_instance *gi);
void coll_net_remove(struct coll_net *cn, struct coll_instance *gi);
void coll_net_became_quiet(struct coll_net *cn, struct coll_instance *gi);
void coll_net_tidy_soon(struct coll_net *cn);
void coll_net_stats(struct coll_net *cn, struct collsock_net_stats *stats);

int coll_net_init(void);
void coll_net_uninit(void);

#endif
