// SPDX-License-Identifier: GPL-2.0
/* The parameters that are chosen before a simulation begins. */
#include <stdlib.h>

#include "sim.h"

#define SECOND	((u64)NSEC_PER_SEC)
/* What every path takes without the headers of UDP and IP: 576 bytes with those of IPv4 */
#define LEAST_PATH	548
/* Losses of a long packet before it may be fragmented; a probe may have to be answered before */
#define NARROW_LOSSES	4
/* Timers of a slow host */
#define MOST_LATE	(50 * NSEC_PER_MSEC)

const struct sim_class sim_classes[] = {
	{ "calm", 0, "nothing goes wrong" },
	{ "loss", SIM_LOSS, "packets are lost, up to 30 %" },
	{ "delay", SIM_DELAY, "packets are late, repeated, overtaken" },
	{ "damage", SIM_DAMAGE | SIM_DELAY, "flipped bits, strangers, replays" },
	{ "skew", SIM_SKEW, "ranks compute for hours, join late" },
	{ "window", SIM_WINDOW | SIM_LOSS | SIM_DELAY, "many operations under way" },
	{ "slow", SIM_SLOW | SIM_DELAY, "CPUs take their time, timers are late" },
	{ "pause", SIM_PAUSE | SIM_SLOW, "hosts stop for a while" },
	{ "partition", SIM_PARTITION, "links break, one way or both, and heal" },
	{ "exit", SIM_EXIT | SIM_LOSS | SIM_DELAY, "ranks close at any point" },
	{ "crash", SIM_CRASH | SIM_LOSS | SIM_DELAY | SIM_SKEW, "one host dies" },
	{ "crashes", SIM_CRASHES | SIM_LOSS | SIM_DELAY, "several hosts die" },
	{ "restart", SIM_RESTART | SIM_CRASH | SIM_LOSS, "a host dies and restarts" },
	{ "missing", SIM_MISSING | SIM_SKEW | SIM_LOSS, "some hosts never join" },
	{ "disagree", SIM_DISAGREE | SIM_LOSS | SIM_DELAY, "ranks post different things" },
	{ "groups", SIM_GROUPS | SIM_LOSS | SIM_DELAY | SIM_DAMAGE | SIM_SLOW | SIM_EXIT,
	  "several groups on the same hosts" },
	{ "quiet", SIM_QUIET | SIM_CRASH | SIM_LOSS, "one host dies when few have posted" },
	{ "replay", SIM_REPLAY | SIM_CRASH | SIM_DELAY, "packets of a dead host are replayed" },
	{ "numbers", SIM_NUMBERS | SIM_WINDOW | SIM_LOSS | SIM_DELAY | SIM_SKEW | SIM_EXIT,
	  "numbers pass those where counters of fewer bits end" },
	{ "narrow", SIM_NARROW | SIM_DELAY, "long packets are lost unless they may be fragmented" },
	{ "any", SIM_ANY, "a selection of all of these" },
	{ "congestion", SIM_CONGESTION | SIM_WINDOW | SIM_LOSS | SIM_DELAY,
	  "hosts behind narrow ports with short queues" },
	{ "multicast", SIM_MULTICAST | SIM_LOSS | SIM_DELAY | SIM_SKEW | SIM_WINDOW,
	  "multicast reaches all, some or none, in time or late" },
	{ "copies", SIM_MULTICAST | SIM_RESTART | SIM_CRASH | SIM_EXIT | SIM_DAMAGE,
	  "multicast where hosts leave, die and restart, and packets are forged" },
};

const u32 sim_classes_count = ARRAY_SIZE(sim_classes);

static u64 below(struct sim *s, u64 limit)
{
	return world_below(&s->random, limit);
}

static bool chance(struct sim *s, u32 per_mille)
{
	return world_chance(&s->random, per_mille);
}

/* Between 1 and 10^@decades, each decade equally likely */
static u64 any_scale(struct sim *s, u32 decades)
{
	u64 scale = 1, decade;

	for (decade = below(s, decades); decade; decade--)
		scale *= 10;
	return scale * (1 + below(s, 9));
}

/* ---- the network ---- */

static void choose_link(struct sim *s, struct world_link *l)
{
	l->delay_ns = 5 * NSEC_PER_USEC + below(s, 100 * NSEC_PER_USEC);
	l->byte_ps = below(s, 2) * 800;
	if (s->trouble & SIM_NARROW && chance(s, 700))
		l->most_bytes = LEAST_PATH + below(s, 600);
	if (s->trouble & SIM_LOSS)
		l->loss = chance(s, 300) ? below(s, 301) : below(s, 50);
	if (!(s->trouble & SIM_DELAY))
		return;
	l->kind = below(s, WORLD_DELAYS);
	l->spread_ns = any_scale(s, 4) * NSEC_PER_USEC;
	if (chance(s, 200))
		l->delay_ns = any_scale(s, 5) * 100;
	l->duplication = chance(s, 500) ? below(s, 200) : 0;
	l->reordering = chance(s, 500) ? below(s, 300) : 0;
}

static void choose_network(struct sim *s, u32 hosts)
{
	struct world *w = &s->world;
	u32 from, to;

	choose_link(s, &w->link);
	if (s->trouble & SIM_DAMAGE)
		w->link.corruption = below(s, 100);
	world_make_links(w);
	if (chance(s, 500))
		return;
	/* All links differ. */
	for (from = 0; from < hosts; from++)
		for (to = 0; to < hosts; to++) {
			choose_link(s, world_link(w, from, to));
			world_link(w, from, to)->corruption = below(s, w->link.corruption + 1);
		}
}

/* Whom multicast reaches */
enum copies {
	COPIES_ALL,
	COPIES_NONE,
	COPIES_SOME,		/* each link loses some */
	COPIES_NOT_ONE,		/* one host gets none: its segment has no multicast */
	COPIES_NOT_OF_ONE,	/* those of one host are lost: in one direction */
	COPIES_HALF,		/* half of the hosts get none */
	COPIES_KINDS,
};

static u32 choose_copy_loss(enum copies kind, u64 *random, u32 one, u32 from, u32 to)
{
	switch (kind) {
	case COPIES_NONE:
		return 1000;
	case COPIES_SOME:
		return world_below(random, 600);
	case COPIES_NOT_ONE:
		return to == one ? 1000 : 0;
	case COPIES_NOT_OF_ONE:
		return from == one ? 1000 : 0;
	case COPIES_HALF:
		return to % 2 ? 1000 : 0;
	default:
		return 0;
	}
}

/* From numbers of their own: so the scenario is the same as without multicast. */
static void choose_copies(struct sim *s, u32 hosts)
{
	u64 random = s->seed;
	enum copies kind = world_below(&random, COPIES_KINDS);
	u32 one = world_below(&random, hosts), from, to;
	u64 late = world_chance(&random, 500) ? 0 : world_below(&random, 20 * NSEC_PER_MSEC);

	for (from = 0; s->trouble & SIM_MULTICAST && from < hosts; from++)
		for (to = 0; to < hosts; to++) {
			struct world_link *l = world_link(&s->world, from, to);

			l->copy_loss = choose_copy_loss(kind, &random, one, from, to);
			l->copy_late_ns = late;
		}
}

/*
 * Between 1 and 1,000 Mb/s, and room for 1 to 100 packets, so that those that all others send
 * at once do not fit.
 */
static void choose_ports(struct sim *s, u32 hosts)
{
	bool marks = chance(s, 500);
	u32 i;

	if (!(s->trouble & SIM_CONGESTION))
		return;
	for (i = 0; i < hosts; i++) {
		struct world_port *port = &s->world.hosts[i].port;

		if (chance(s, 300))
			continue;
		port->byte_ps = 8000 * any_scale(s, 3);
		port->room = 1 + below(s, chance(s, 500) ? 10 : 100);
		port->mark = marks ? 1 + below(s, port->room) : 0;
	}
}

static void choose_hosts(struct sim *s, u32 hosts)
{
	u32 i;

	choose_ports(s, hosts);
	if (!(s->trouble & SIM_SLOW))
		return;
	for (i = 0; i < hosts; i++) {
		struct world_host *h = &s->world.hosts[i];

		if (chance(s, 500)) {
			h->receive_ns = any_scale(s, 3) * 100;
			h->send_ns = below(s, h->receive_ns);
		}
		if (chance(s, 300))
			h->late_ns = below(s, MOST_LATE);
	}
}

/*
 * The liveness time is long enough that no host is silent for it by chance: at least one of
 * the probes that fit into it is answered.
 */
static void choose_timing(struct sim *s, struct coll_timing *t)
{
	*t = coll_timing_default;
	if (s->trouble & SIM_LOSS)
		t->liveness = 12 * SECOND;
	else if (chance(s, 300))
		t->liveness = (2 + below(s, 10)) * SECOND;
	if (s->trouble & (SIM_EXIT | SIM_CRASH | SIM_CRASHES | SIM_MISSING | SIM_PARTITION |
			  SIM_DISAGREE))
		t->join_timeout = (40 + below(s, 60)) * SECOND;
}

/* ---- ranks ---- */

/* How the ranks of a group are spread over its hosts. */
enum placement {
	BLOCKS,
	ROUND_ROBIN,
	SCATTERED,
	PLACEMENTS,
};

/* Several ranks on a host; on some only one. */
static void choose_locals(struct sim *s, struct sim_group *g, u32 *locals)
{
	u32 most = min(SIM_MAX_LOCALS, SIM_MAX_RANKS / g->hosts), i;
	bool uneven = chance(s, 500);
	u32 all = 1 + below(s, most);

	for (i = 0; i < g->hosts; i++) {
		locals[i] = uneven ? 1 + below(s, most) : all;
		g->size += locals[i];
	}
}

/* The host of the next rank */
static u32 next_host(struct sim *s, const struct sim_group *g, enum placement how,
		     const u32 *locals, u32 last)
{
	u32 host = how == BLOCKS ? last : how == ROUND_ROBIN ? (last + 1) % g->hosts :
		   below(s, g->hosts);

	while (!locals[host])
		host = (host + 1) % g->hosts;
	return host;
}

/* Hosts are numbered in the order of their lowest ranks. */
static void choose_placement(struct sim *s, struct sim_group *g)
{
	enum placement how = below(s, PLACEMENTS);
	u32 locals[SIM_MAX_HOSTS], number[SIM_MAX_HOSTS], rank, host = 0, seen = 0;

	choose_locals(s, g, locals);
	memset(number, 0xff, sizeof(number));
	if (how == ROUND_ROBIN)
		host = g->hosts - 1;
	for (rank = 0; rank < g->size; rank++) {
		host = next_host(s, g, how, locals, host);
		locals[host]--;
		if (number[host] == ~0U)
			number[host] = seen++;
		g->host_of_rank[rank] = number[host];
	}
}

static void choose_ranks(struct sim *s, struct sim_group *g)
{
	u32 i;

	if (chance(s, 500)) {
		choose_placement(s, g);
		return;
	}
	g->size = g->hosts;
	for (i = 0; i < g->size; i++)
		g->host_of_rank[i] = i;
}

static void choose_rank(struct sim *s, struct sim_group *g, struct sim_rank *r, u32 ops)
{
	r->group = g;
	r->number = r - g->ranks;
	r->member = &g->common.members[g->host_of_rank[r->number]];
	r->ops = ops;
	r->failed = COLL_NOTHING_DONE;
	r->dissent = COLL_NOTHING_DONE;
	r->extra = below(s, 3);
	r->depth = s->trouble & SIM_WINDOW || chance(s, 300) ? 1 + below(s, 20) : 1;
	r->think_ns = chance(s, 500) ? any_scale(s, 4) * NSEC_PER_USEC : 0;
	if (s->trouble && chance(s, 500))
		r->join_ns = below(s, NSEC_PER_MSEC);
	if (!(s->trouble & SIM_SKEW))
		return;
	if (chance(s, 300))
		r->join_ns = below(s, g->common.timing.join_timeout / 2);
	if (chance(s, 100))
		r->skew_ns = any_scale(s, 5) * SECOND / 10;
	r->skew_at = below(s, ops);
}

/* Each host has its ranks as a list, in their order. */
static void link_ranks(struct sim_group *g)
{
	u32 i;

	for (i = g->size; i--;) {
		struct sim_rank **lowest = &g->lowest[g->host_of_rank[i]];

		g->ranks[i].sibling = *lowest;
		*lowest = &g->ranks[i];
	}
}

/* Some hosts may have finished a rooted operation before others know of it. */
static u32 choose_disputed(struct sim *s, const struct sim_group *g, u32 ops)
{
	u32 i, number = below(s, ops);
	bool rooted = chance(s, 700);

	for (i = 0; rooted && i < ops; i++) {
		u32 at = (number + i) % ops;

		if (coll_operations[g->ops[at].post.operation].rooted)
			return at;
	}
	return number;
}

/*
 * The rank that most others wait for, or any other, is late: the others may have finished
 * the operation when a different one is posted in its place.
 */
static void delay_disputed(struct sim *s, struct sim_group *g, u64 number)
{
	struct sim_rank *r = &g->ranks[g->ops[number].post.root];

	if (chance(s, 300))
		return;
	if (chance(s, 300))
		r = &g->ranks[below(s, g->size)];
	if (r->dissent == number)
		return;
	r->skew_ns = 5 * g->common.timing.liveness;
	r->skew_at = number;
}

static void choose_dissent(struct sim *s, struct sim_group *g, u32 ops)
{
	struct sim_rank *r = &g->ranks[below(s, g->size)];

	r->dissent = choose_disputed(s, g, ops);
	delay_disputed(s, g, r->dissent);
	g->disagreed_from = r->dissent;
	g->ops[r->dissent].disputed = true;
	g->other_trouble |= SIM_DISAGREE;
	if (g->size < 3 || !chance(s, 300))
		return;
	r = &g->ranks[below(s, g->size)];
	if (r->dissent != COLL_NOTHING_DONE)
		return;
	r->dissent = below(s, ops);
	g->ops[r->dissent].disputed = true;
	g->disagreed_from = min(g->disagreed_from, r->dissent);
}

static void choose_missing(struct sim *s, struct sim_group *g)
{
	u32 i, missing = 1 + below(s, chance(s, 300) ? g->size - 1 : 1);
	bool whole = chance(s, 500);

	for (i = 0; i < missing; i++) {
		struct sim_rank *r = &g->ranks[below(s, g->size)], *sibling;

		r->missing = true;
		for (sibling = sim_lowest_of(r->member); sibling; sibling = sibling->sibling)
			sibling->missing |= whole;
	}
	g->other_trouble |= SIM_MISSING;
}

/*
 * Along a chain each host adds the time until it sends a probe, for each operation that the
 * probe may be about. No chain is longer than the path through all rounds.
 */
static void bound_waits(struct sim_group *g)
{
	u32 i, hops = 1 + fls(g->hosts), depth = 1;
	u64 liveness = g->common.timing.liveness;

	for (i = 0; i < g->size; i++)
		depth = max(depth, g->ranks[i].depth);
	depth = min(depth, g->common.join.window);
	g->heard_bound_ns = 2 * liveness + hops * (1 + depth) * (liveness / 4 + SECOND / 2);
}

/* The time in which a message that is lost @lost times gets through */
static u64 retransmission_ns(const struct coll_timing *t, u32 lost)
{
	u64 interval = t->rto_initial, sum = 0;

	for (; lost; lost--) {
		sum += interval + MOST_LATE;
		interval = min(2 * interval, t->rto_unheard);
	}
	return sum;
}

/*
 * Except once in 10^9 cases fewer transmissions than this are lost; the worst case is that
 * all are those of one message. Each host on the path adds its time.
 */
static void bound_news(struct sim *s, struct sim_group *g)
{
	u32 from, to, worst = 0, lost = 0, hops = 2 + fls(g->hosts);
	double rare = 1000000000;

	for (from = 0; from < s->world.count; from++)
		for (to = 0; to < s->world.count; to++) {
			const struct world_link *l = world_link(&s->world, from, to);

			worst = max(worst, l->loss + l->corruption);
		}
	for (; worst && rare > 1; lost++)
		rare *= worst / 1000.0;
	if (s->trouble & SIM_NARROW)
		lost += NARROW_LOSSES;
	g->spread_ns = retransmission_ns(&g->common.timing, lost) + hops * (SECOND / 4);
}

static u32 choose_size(struct sim *s)
{
	if (chance(s, 30))
		return 1;
	if (chance(s, 50))
		return 17 + below(s, 24);
	return 2 + below(s, chance(s, 500) ? 4 : 15);
}

static void choose_members(struct sim *s, u32 *host_of, u32 hosts, u32 members)
{
	u32 i, k, swap;

	for (i = 0; i < hosts; i++)
		host_of[i] = i;
	if (s->group_count == 1)
		return;
	for (i = 0; i < members; i++) {
		k = i + below(s, hosts - i);
		swap = host_of[i];
		host_of[i] = host_of[k];
		host_of[k] = swap;
	}
}

/* Payloads of several segments, mostly few. */
static void choose_segments(struct sim *s, struct collsock_join *join)
{
	u32 most = chance(s, 100) ? 80 : 8;

	join->segment_bytes = COLLSOCK_MIN_SEGMENT + COLLSOCK_SEGMENT_QUANTUM *
			      below(s, s->trouble & SIM_NARROW ? 120 : 4);
	join->max_bytes = min_t(u32, SIM_MAX_BYTES, join->segment_bytes * (1 + below(s, most)) +
				8 * below(s, 6));
}

/* Of the numbers in use some are on one side of it, some on the other. */
static u64 choose_boundary(struct sim *s, u32 in_use)
{
	static const u8 bits[] = { 15, 16, 31, 32, 62 };

	return (1ULL << bits[below(s, ARRAY_SIZE(bits))]) - below(s, in_use);
}

static void choose_numbers(struct sim *s, struct sim_group *g, u32 ops)
{
	g->common.first = choose_boundary(s, ops + g->common.join.window);
	g->common.packets = choose_boundary(s, 4 * ops);
}

/*
 * In some groups little work uses up an event, and the rest follows late. From numbers of its
 * own: so the scenario is the same as without it.
 */
static void choose_work(struct sim *s, struct sim_group *g)
{
	u64 random = g->common.join.nonce;

	if (!world_chance(&random, 400))
		return;
	g->common.most_work = 1 + world_below(&random, world_chance(&random, 500) ? 16 : 20000);
	g->common.unit = 1 + world_below(&random, world_chance(&random, 500) ? 4 : 64);
	g->common.turn_ns = world_below(&random, 30 * NSEC_PER_USEC);
}

/* Of the group, and those that posts may name */
static void choose_degrees(struct sim *s, struct collsock_join *join)
{
	u32 most = chance(s, 300) ? COLLSOCK_MAX_DEGREE : 8;
	u32 i;

	join->degree = chance(s, 500) ? 2 + below(s, most - 1) : 0;
	if (chance(s, 500))
		for (i = 1 + below(s, 3); i; i--)
			join->degrees |= COLLSOCK_DEGREE(2 + below(s, most - 1));
}

/* Some algorithms a group has only if it names them: here all that it can have. */
static void choose_algorithms(struct sim *s, struct collsock_join *join)
{
	const struct coll_algorithm *a;
	struct coll_menu menu;
	u32 i, degree;

	if (chance(s, 500))
		return;
	coll_menu_init(&menu, join);
	menu.algorithms = ~0ULL;
	for (i = 0; i < coll_registry_count; i++) {
		a = coll_registry[i];
		for (degree = 0; degree <= a->most_degree; degree++)
			if (coll_menu_offers(&menu, a, degree))
				join->algorithms |= BIT_ULL(a->algorithm);
	}
}

static void choose_group(struct sim *s, struct sim_group *g, u32 hosts)
{
	struct collsock_join join = { .size = sizeof(join), .id = 7 + below(s, 2) };
	u32 host_of[SIM_MAX_HOSTS], i, ops;
	struct coll_timing timing;

	g->sim = s;
	g->hosts = s->group_count > 1 ? 1 + below(s, hosts) : hosts;
	choose_members(s, host_of, hosts, g->hosts);
	choose_timing(s, &timing);
	join.nonce = world_random(&s->random);
	memcpy(join.key, "sixteen byte key", 16);
	join.mac = join.nonce % 2 ? COLLSOCK_MAC_SIPHASH : COLLSOCK_MAC_NH_SIPHASH;
	choose_ranks(s, g);
	join.hosts = g->hosts;
	join.ranks = g->size;
	join.window = chance(s, 200) ? 1 : 1 + below(s, chance(s, 100) ? 64 : 16);
	join.multicast[0] = !!(s->trouble & SIM_MULTICAST);
	choose_degrees(s, &join);
	choose_algorithms(s, &join);
	join.max_bytes = chance(s, 100) ? 0 : 8 * (1 + below(s, 16));
	if (s->trouble & SIM_NARROW || chance(s, 300))
		choose_segments(s, &join);
	if (chance(s, 300))
		join.max_result_bytes = 8 * (1 + below(s, SIM_MAX_BYTES / 8));
	world_group_init(&s->world, &g->common, &join, &timing, host_of);
	g->common.host_of_rank = g->host_of_rank;
	choose_work(s, g);

	ops = s->trouble & SIM_WINDOW ? SIM_MAX_OPS : 30;
	ops = chance(s, 100) ? SIM_MAX_OPS : 1 + below(s, ops);
	g->ranks = calloc(g->size, sizeof(*g->ranks));
	g->disagreed_from = COLL_NOTHING_DONE;
	g->gone_from = COLL_NOTHING_DONE;
	for (i = 0; i < g->size; i++)
		choose_rank(s, g, &g->ranks[i], ops);
	link_ranks(g);
	for (i = 0; i < ops; i++)
		sim_values_choose(s, g, &g->ops[i]);
	if (s->trouble & SIM_NUMBERS)
		choose_numbers(s, g, ops);
	if (s->trouble & SIM_DISAGREE && g->size > 1)
		choose_dissent(s, g, ops);
	if (s->trouble & SIM_MISSING && g->size > 1)
		choose_missing(s, g);
}

/* ---- faults ---- */

static struct sim_fault *add_fault(struct sim *s, enum sim_fault_kind kind)
{
	struct sim_group *g = &s->groups[below(s, s->group_count)];
	struct sim_fault *f = &s->faults[s->fault_count++];

	f->sim = s;
	f->kind = kind;
	f->trigger = &g->ranks[below(s, g->size)];
	f->at_post = below(s, f->trigger->ops + 1);
	f->delay_ns = chance(s, 700) ? below(s, 500 * NSEC_PER_USEC) :
				       any_scale(s, 8) * NSEC_PER_USEC;
	return f;
}

/*
 * Half of them are too short to have an effect. Many of the others end when hosts that
 * consider this one dead have left, and their time-wait entries still exist.
 */
static u64 choose_duration(struct sim *s)
{
	u64 liveness = s->groups[0].common.timing.liveness;

	if (chance(s, 500))
		return below(s, liveness / 2);
	if (chance(s, 500))
		return liveness + below(s, liveness);
	return liveness / 2 + below(s, 10 * liveness);
}

static void add_partition(struct sim *s)
{
	struct sim_fault *f = add_fault(s, SIM_FAULT_PARTITION);

	f->side = world_random(&s->random);
	if (chance(s, 500))
		f->side = 1ULL << below(s, s->world.count);
	f->one_way = chance(s, 300);
	f->duration_ns = choose_duration(s);
}

/* The rank computes; others must not wait for it. */
static void idle(struct sim_rank *r, u32 at_post)
{
	r->skew_ns = 3000 * SECOND;
	r->skew_at = at_post;
}

/*
 * The host that dies computes, having acknowledged messages of others. Another rank
 * computes, too: the others must not wait for it, though often it is the only one that
 * waits for the dead host. Or many wait, each with several operations under way.
 */
static void add_idlers(struct sim *s, struct sim_fault *crash)
{
	struct sim_group *g = crash->trigger->group;
	u32 victim = crash->trigger - g->ranks, i;
	u32 first[3] = { (victim + 1) % g->size, (victim ^ 1) % g->size, below(s, g->size) };
	u32 depth = chance(s, 500) ? 1 + below(s, 4) : 0;
	bool many = chance(s, 500);

	idle(&g->ranks[first[below(s, 3)]], crash->at_post + below(s, 2));
	for (i = 0; i < g->size; i++) {
		if (many && chance(s, 500))
			idle(&g->ranks[i], crash->at_post + below(s, 4));
		if (depth)
			g->ranks[i].depth = depth;
	}
	crash->trigger->skew_ns = 0;
	if (chance(s, 300))
		return;
	idle(crash->trigger, crash->at_post);
	crash->delay_ns = below(s, SECOND);
}

static void add_pause(struct sim *s)
{
	struct sim_fault *f = add_fault(s, SIM_FAULT_PAUSE);
	struct sim_group *g = f->trigger->group;
	struct sim_rank *r = &g->ranks[below(s, g->size)];

	f->duration_ns = choose_duration(s);
	f->deaf = chance(s, 500);
	if (chance(s, 500))
		return;
	/* A rank computes, so others send probes. */
	f->at_probe = 1 + below(s, 4);
	f->delay_ns = 0;
	r->skew_ns = 200 * SECOND;
	r->skew_at = below(s, r->ops);
}

/*
 * Few ranks post, and the others have sent nothing to any host when one dies: no host waits
 * for them, or probes them.
 */
static void add_quiet(struct sim *s, struct sim_fault *crash)
{
	struct sim_group *g = crash->trigger->group;
	u32 i;

	for (i = 0; i < g->size; i++)
		if (chance(s, 700))
			idle(&g->ranks[i], 0);
	crash->at_post = 0;
	crash->delay_ns = below(s, 5 * SECOND);
}

/*
 * It has finished everything when it dies, and so have the others. When it restarts they
 * have left, and it begins from scratch.
 */
static void crash_last(struct sim *s, struct sim_fault *f)
{
	f->at_post = f->trigger->ops;
	f->delay_ns = below(s, SECOND / 2);
	f->duration_ns = SECOND + below(s, 3 * SECOND);
}

static void add_crash(struct sim *s, bool comes_back)
{
	struct sim_fault *f = add_fault(s, SIM_FAULT_CRASH);

	if (comes_back)
		f->duration_ns = 1 + any_scale(s, 8) * NSEC_PER_USEC;
	if (comes_back && chance(s, 300))
		crash_last(s, f);
	else if (s->trouble & SIM_QUIET)
		add_quiet(s, f);
	else if (!comes_back && chance(s, 500))
		add_idlers(s, f);
}

static void choose_faults(struct sim *s)
{
	u32 i, most = 1 + below(s, 3);

	for (i = 0; s->trouble & SIM_EXIT && i < most; i++)
		add_fault(s, SIM_FAULT_LEAVE);
	for (i = 0; s->trouble & SIM_PARTITION && i < most; i++)
		add_partition(s);
	for (i = 0; s->trouble & SIM_PAUSE && i < most; i++)
		add_pause(s);
	most = s->trouble & SIM_CRASHES ? 1 + most : !!(s->trouble & SIM_CRASH);
	for (i = 0; i < most; i++)
		/* If all hosts restart, none has state: they are another group. */
		add_crash(s, s->trouble & SIM_RESTART && !i);
}

/* ---- all of it ---- */

static u32 choose_trouble(struct sim *s)
{
	u32 trouble = (u32)world_random(&s->random) & (u32)world_random(&s->random);

	return trouble & (SIM_ANY - 1);
}

/**
 * sim_scenario() - choose the parameters of a simulation
 * @s: out
 * @class: the faults that may happen
 * @seed: determines everything else
 */
void sim_scenario(struct sim *s, const struct sim_class *class, u64 seed)
{
	u32 hosts, i;
	u64 join = 0, liveness = 0;

	memset(s, 0, sizeof(*s));
	s->class = class;
	s->seed = seed;
	s->random = seed * 0x100 + (class - sim_classes);
	s->trouble = class->trouble == SIM_ANY ? choose_trouble(s) : class->trouble;
	hosts = choose_size(s);
	world_init(&s->world, hosts, world_random(&s->random), &sim_user);
	s->world.owner = s;
	s->group_count = s->trouble & SIM_GROUPS ? 2 + below(s, SIM_MAX_GROUPS - 1) : 1;
	s->replays = s->trouble & SIM_DAMAGE ? 300 : 0;
	choose_network(s, hosts);
	choose_copies(s, hosts);
	choose_hosts(s, hosts);
	for (i = 0; i < s->group_count; i++) {
		s->groups[i].id = i;
		choose_group(s, &s->groups[i], hosts);
		join = max(join, s->groups[i].common.timing.join_timeout);
		liveness = max(liveness, s->groups[i].common.timing.liveness);
	}
	choose_faults(s);
	for (i = 0; i < s->group_count; i++) {
		bound_waits(&s->groups[i]);
		bound_news(s, &s->groups[i]);
	}
	s->bound_ns = 2 * join + 20 * liveness + 60 * SECOND;
}

static void tell_group(const struct sim_group *g, FILE *to)
{
	const struct collsock_join *join = &g->common.join;
	u32 i;

	fprintf(to, "# group %u: %u hosts, window %u, %u operations, tag %04x, ", g->id, g->hosts,
		join->window, g->ranks->ops, (u32)g->common.secret.tag & 0xffff);
	fprintf(to, "at most %u bytes, of blocks %u, in segments of %u, MAC %u, ", join->max_bytes,
		join->max_result_bytes, join->segment_bytes, join->mac);
	fprintf(to, "first operation %llx, %llx packets before\n",
		(unsigned long long)g->common.first, (unsigned long long)g->common.packets);
	fprintf(to, "# ranks live on hosts");
	for (i = 0; i < g->size; i++)
		fprintf(to, " %u%s", g->common.host_of[g->host_of_rank[i]],
			g->ranks[i].missing ? " (never joins)" : "");
	fprintf(to, "\n");
}

/* The first lines of a trace. */
void sim_scenario_tell(const struct sim *s, FILE *to)
{
	static const char * const kinds[] = {
		[SIM_FAULT_LEAVE]	= "leaves",
		[SIM_FAULT_CRASH]	= "crashes",
		[SIM_FAULT_PAUSE]	= "pauses",
		[SIM_FAULT_PARTITION]	= "sees a partition",
	};
	u32 i;

	fprintf(to, "# class %s seed %llu: trouble %#x, %u hosts, ", s->class->name,
		(unsigned long long)s->seed, s->trouble, s->world.count);
	fprintf(to, "liveness %.1f s, join time-out %.1f s\n",
		(double)s->groups[0].common.timing.liveness / SECOND,
		(double)s->groups[0].common.timing.join_timeout / SECOND);
	for (i = 0; i < s->group_count; i++)
		tell_group(&s->groups[i], to);
	for (i = 0; i < s->fault_count; i++) {
		const struct sim_fault *f = &s->faults[i];

		fprintf(to, "# rank %u of group %u %s %.6f s after post %u, for %.3f s\n",
			f->trigger->number, f->trigger->group->id, kinds[f->kind],
			(double)f->delay_ns / SECOND, f->at_post, (double)f->duration_ns / SECOND);
	}
}

void sim_scenario_free(struct sim *s)
{
	u32 i, k;

	for (i = 0; i < s->group_count; i++) {
		for (k = 0; k < SIM_MAX_OPS; k++)
			free(s->groups[i].ops[k].expected);
		world_group_free(&s->groups[i].common);
		free(s->groups[i].ranks);
	}
	sim_attacker_free(s);
	world_free(&s->world);
}
