// SPDX-License-Identifier: GPL-2.0
/*
 * Packets to running groups. Two to four hosts of one group, with one to three ranks each,
 * work in the simulator's world, and a script (events.h) makes them post, leave, fail and
 * restart, while an attacker drops, repeats, changes and invents packets. Without the key
 * the attacker must not change anything; with it (the harness computes the MACs) it must
 * not corrupt memory or counters, or cause a storm of packets.
 */
#include "../unit/mac.h"
#include <stdlib.h>

#include "../sim/world.h"
#include "fuzz.h"
#include "events.h"
#include "invariants.h"
#include "posts.h"
#include "reduce.h"
#include "values.h"

#define MAX_HOSTS	4
#define MAX_LOCALS	3
#define MAX_RANKS	(MAX_HOSTS * MAX_LOCALS)
#define MAX_LIVES	3
#define MAX_POSTS	48
#define MAX_CAPTURED	16
#define MAX_SEGMENT	96
#define MAX_EVENTS	300
#define STEP_NS		(20 * NSEC_PER_MSEC)
/* Events in the longest time of a script; an endless loop has more. */
#define STORM_STEPS	40000

static const struct coll_timing timing = {
	.rto_initial	= 2 * NSEC_PER_MSEC,
	.rto_floor	= NSEC_PER_MSEC,
	.rto_ceiling	= 10 * NSEC_PER_MSEC,
	.rto_unheard	= 20 * NSEC_PER_MSEC,
	.ack_delay	= 2 * NSEC_PER_MSEC,
	.liveness	= 60 * NSEC_PER_MSEC,
	.join_timeout	= 200 * NSEC_PER_MSEC,
	.settle		= 2 * NSEC_PER_MSEC,
	.idle		= 150 * NSEC_PER_MSEC,
};

/**
 * struct post - a post of a rank and its outcome
 * @signature: of the operation
 * @number: of the operation; none in a group that has ended
 * @done: it has ended,
 * @error: with this errno
 * @failed_rank: and this rank to blame,
 * @bytes: or with this number of bytes
 * @result: of result, if any
 * @checked: it has been checked
 */
struct post {
	struct coll_signature	signature;
	u32			rank;
	u64			number;
	bool			done;
	bool			checked;
	u32			error;
	u32			failed_rank;
	u32			bytes;
	u8			*result;
};

/* The posts of a rank since it joined */
struct life {
	struct post	posts[MAX_POSTS];
	u32		posted;
};

struct captured {
	u32	from;
	u32	to;
	u32	bytes;
	u8	data[COLL_WIRE_MIN + COLL_WIRE_OPERANDS + COLL_WIRE_ACK + MAX_SEGMENT];
};

/**
 * struct siege - the group, and what the attacker has captured
 * @world: the world
 * @group: the group
 * @in: remaining script
 * @hosts: number of hosts
 * @ranks: number of ranks
 * @host_of_rank: the host of each rank
 * @local: number of each rank on its host; -1 if it has not joined
 * @life: lives of each rank, the current one last
 * @lives: number of lives
 * @captured: the latest packets sent
 * @captures: number of packets sent
 * @drop: number of the packet to drop
 * @cut: hosts that are cut off
 * @honest: the key was not misused, so results must be right
 * @late: a rank has not joined yet
 * @reset: ranks that left or restarted: may be blamed for ECONNRESET
 * @lossy: packets were lost, or hosts cut off: any rank may be blamed for silence
 * @rooted: operations were posted in which not all ranks wait for all
 * @broken: a group was made to fail: any rank may be blamed
 * @algorithms: it has all algorithms, and posts name them
 */
struct siege {
	struct world		world;
	struct world_group	group;
	struct fuzz_input	in;
	u32			hosts;
	u32			ranks;
	u32			host_of_rank[MAX_RANKS];
	int			local[MAX_RANKS];
	struct life		life[MAX_RANKS][MAX_LIVES];
	u32			lives[MAX_RANKS];
	struct captured		captured[MAX_CAPTURED];
	u32			captures;
	u32			drop;
	bool			cut[MAX_HOSTS];
	bool			honest;
	bool			late;
	bool			reset[MAX_RANKS];
	bool			lossy;
	bool			rooted;
	bool			broken;
	bool			algorithms;
};

static struct siege *siege_of(struct world *w)
{
	return container_of(w, struct siege, world);
}

static bool joined(const struct siege *s, u32 host)
{
	return s->group.members[host].state == WORLD_JOINED;
}

static struct world_member *member_of_rank(struct siege *s, u32 rank)
{
	return &s->group.members[s->host_of_rank[rank]];
}

/* Has the rank joined, and not left? */
static bool lives(const struct siege *s, u32 rank)
{
	const struct world_member *m = &s->group.members[s->host_of_rank[rank]];

	return m->state == WORLD_JOINED && s->local[rank] >= 0 &&
	       m->group.ranks.local[s->local[rank]].state == COLL_RANK_JOINED;
}

/* ---- what the world tells ---- */

static bool is_authentic(const struct siege *s, const u8 *data, u32 bytes)
{
	__be64 code;

	if (!coll_wire_formed(data, bytes))
		return false;
	memcpy(&code, data + bytes - sizeof(code), sizeof(code));
	return mac_of(data, bytes, &s->group.secret.mac) == code;
}

static bool on_packet(struct world *w, struct world_packet *p)
{
	struct siege *s = siege_of(w);
	struct captured *c = &s->captured[s->captures++ % MAX_CAPTURED];

	FUZZ_EXPECT(is_authentic(s, p->data, p->bytes), "%u bytes", p->bytes);
	FUZZ_EXPECT(p->bytes <= sizeof(c->data), "%u bytes", p->bytes);
	c->from = p->from;
	c->to = p->to;
	c->bytes = p->bytes;
	memcpy(c->data, p->data, p->bytes);
	return s->captures == s->drop || s->cut[p->from] || s->cut[p->to];
}

static void on_complete(struct world_member *m, void *token, const void *result, u32 bytes,
			u32 error, u32 failed_rank)
{
	struct post *p = token;

	FUZZ_EXPECT(!p->done, "host %u: an operation completed twice", m->index);
	FUZZ_EXPECT(bytes <= VALUES_BYTES, "%u bytes", bytes);
	world_trace(m->world, "host %u: an operation ends: error %u, rank %d", m->index, error,
		    failed_rank);
	p->done = true;
	p->error = error;
	p->failed_rank = failed_rank;
	p->bytes = bytes;
	if (bytes)
		p->result = fuzz_exact(result, bytes);
}

/* A packet arrived that was not written with the key. */
static void on_damaged(struct world_member *m, enum coll_refusal refusal, bool changed)
{
	/* A time-wait entry checks the length first, and may have been replaced. */
	if (m->state == WORLD_JOINED || (refusal != COLL_UNKNOWN_GROUP && refusal != COLL_TOO_LONG))
		FUZZ_EQUAL(refusal, COLL_FORGED, "refusal of a packet without the key");
	FUZZ_EXPECT(!changed, "a packet without the key changed host %u", m->index);
}

static const struct world_user user = {
	.complete	= on_complete,
	.tap		= on_packet,
	.damaged	= on_damaged,
};

/* ---- expected results ---- */

static void check_result(const struct siege *s, const struct post *p)
{
	const struct coll_signature *sig = &p->signature;
	bool own = sig->operation == COLLSOCK_SCATTER ||
		   sig->operation == COLLSOCK_REDUCE_SCATTER_BLOCK;
	u32 size = coll_type_bytes(sig->type), block = sig->count * size, i;
	u32 ranks = values_ranks(s->ranks, sig, p->rank);
	u8 expected[VALUES_BYTES];

	FUZZ_EQUAL(p->bytes, !ranks ? 0 : own ? block : values_elements(ranks, sig) * size,
		   "bytes of the result");
	if (ranks)
		values_vector(ranks, expected, sig, p->number);
	for (i = 0; i < p->bytes; i++)
		FUZZ_EQUAL(p->result[i], expected[(own ? p->rank * block : 0) + i],
			   "byte of the result");
}

static bool life_has(const struct life *l, const struct post *p)
{
	u32 i;

	for (i = 0; i < l->posted; i++)
		if (l->posts[i].number == p->number &&
		    coll_signature_equal(&l->posts[i].signature, &p->signature))
			return true;
	return false;
}

static bool has_posted(const struct siege *s, u32 rank, const struct post *p)
{
	u32 i;

	for (i = 0; i < s->lives[rank]; i++)
		if (life_has(&s->life[rank][i], p))
			return true;
	return false;
}

/* No rank is blamed without cause. */
static void check_blame(const struct siege *s, const struct post *p)
{
	u32 rank = p->failed_rank;

	FUZZ_EXPECT(rank < s->ranks, "rank %u", rank);
	if (!s->honest || s->broken)
		return;
	/* A host left behind by a disagreement concludes that it has restarted. */
	if (p->error == ECONNRESET)
		FUZZ_EXPECT(s->reset[rank] || s->rooted, "rank %u is said to have left", rank);
	else if (p->error == ETIMEDOUT)
		FUZZ_EXPECT(s->lossy || s->late || s->reset[rank], "rank %u is said to be silent",
			    rank);
	else
		FUZZ_EQUAL(p->error, EPROTO, "errno of an operation");
}

static void check_post(const struct siege *s, u32 poster, const struct post *p)
{
	u32 rank;

	if (p->error)
		return check_blame(s, p);
	FUZZ_EXPECT(p->number != COLL_NOTHING_DONE, "success in a group that has ended");
	if (!s->honest)
		return;
	if (!coll_signature_receives(&p->signature, poster)) {
		FUZZ_EQUAL(p->bytes, 0, "bytes for a rank that receives no result");
		return;
	}
	for (rank = 0; rank < values_ranks(s->ranks, &p->signature, poster); rank++)
		FUZZ_EXPECT(!coll_signature_contributes(&p->signature, rank) ||
			    has_posted(s, rank, p),
			    "operation %llu has completed, rank %u has not posted it", p->number,
			    rank);
	check_result(s, p);
}

static void check_posts(struct siege *s, u32 rank)
{
	struct life *l;
	u32 i;

	if (!s->lives[rank])
		return;
	l = &s->life[rank][s->lives[rank] - 1];
	for (i = 0; i < l->posted; i++) {
		struct post *p = &l->posts[i];

		if (p->done && !p->checked)
			check_post(s, rank, p);
		p->checked = p->done;
	}
}

static void check_all(struct siege *s)
{
	u32 i;

	for (i = 0; i < s->ranks; i++)
		check_posts(s, i);
	for (i = 0; i < s->hosts; i++)
		if (joined(s, i))
			check_group(&s->group.members[i].group, s->world.now);
}

/* ---- what hosts do ---- */

static void join(struct siege *s, u32 rank)
{
	s->lives[rank]++;
	s->local[rank] = world_join_rank(member_of_rank(s, rank), rank);
	FUZZ_EXPECT(s->local[rank] >= 0, "rank %u joins: errno %d", rank, -s->local[rank]);
}

/* A host loses its state. Those of its ranks that had not joined join, too. */
static void restart(struct siege *s, u32 host)
{
	u32 i;

	for (i = 0; i < s->ranks; i++)
		if (s->host_of_rank[i] == host && s->lives[i] == MAX_LIVES)
			return;
	world_crash(&s->world, &s->world.hosts[host]);
	world_start(&s->world.hosts[host]);
	for (i = 0; i < s->ranks; i++) {
		if (s->host_of_rank[i] != host)
			continue;
		s->reset[i] |= s->lives[i];
		join(s, i);
	}
}

static void post(struct siege *s, u32 rank, const struct collsock_post *request)
{
	struct world_member *m = member_of_rank(s, rank);
	u8 payload[VALUES_BYTES], *exact;
	struct coll_rank *poster;
	struct post *p;
	struct life *l;
	int err, bytes;
	u64 number;

	if (!lives(s, rank))
		return;
	poster = &m->group.ranks.local[s->local[rank]];
	number = poster->next;
	l = &s->life[rank][s->lives[rank] - 1];
	p = &l->posts[l->posted];
	if (l->posted == MAX_POSTS)
		return;
	bytes = coll_signature_of_post(&m->group, s->local[rank], request, &p->signature);
	if (bytes < 0)
		return;
	FUZZ_EXPECT(bytes <= VALUES_BYTES, "%u bytes", bytes);
	values_payload(s->ranks, payload, &p->signature, rank, number);
	p->rank = rank;
	exact = fuzz_exact(payload, bytes);
	err = world_post_rank(m, s->local[rank], request, exact, bytes, p);
	free(exact);
	if (err) {
		FUZZ_EQUAL(-err, EAGAIN, "errno of posting");
		return;
	}
	p->number = poster->next == number ? COLL_NOTHING_DONE : number;
	s->rooted |= coll_operations[request->operation].rooted ||
		     coll_operations[request->operation].prefix;
	l->posted++;
}

static void choose_and_post(struct siege *s, enum fuzz_event event)
{
	u32 rank = fuzz_below(&s->in, s->ranks);
	struct collsock_post p;

	choose_post(&s->group.join, event, &s->in, &p);
	if (s->algorithms)
		p.algorithm = choose_algorithm(p.operation, fuzz_byte(&s->in));
	post(s, rank, &p);
}

static void fail(struct siege *s)
{
	u32 host = fuzz_below(&s->in, s->hosts), reason = fuzz_below(&s->in, COLL_REASONS);
	u32 rank = fuzz_below(&s->in, s->ranks);

	if (!joined(s, host))
		return;
	s->broken = true;
	coll_failure_end(&s->group.members[host].group, reason, rank, s->world.now);
}

static void notify_join(struct siege *s)
{
	u32 host = fuzz_below(&s->in, s->hosts), other = fuzz_below(&s->in, s->hosts);

	if (joined(s, host) && other != host)
		coll_group_notify_join(&s->group.members[host].group, other, s->world.now);
}

/* The timer fires early. */
static void expire(struct siege *s)
{
	struct world_member *m = &s->group.members[fuzz_below(&s->in, s->hosts)];

	if (m->state != WORLD_JOINED)
		return;
	m->deadline = COLL_NEVER;
	coll_group_expire(&m->group, s->world.now);
}

static void leave(struct siege *s, u32 rank)
{
	if (!lives(s, rank))
		return;
	s->reset[rank] = true;
	world_leave_rank(member_of_rank(s, rank), s->local[rank]);
}

/* It cannot join if all others have left, which ends the group. */
static void leave_or_join(struct siege *s, u32 rank)
{
	if (s->local[rank] >= 0)
		leave(s, rank);
	else if (member_of_rank(s, rank)->state != WORLD_TIMEWAIT)
		join(s, rank);
}

/* ---- what the attacker does ---- */

static void inject(struct siege *s, u32 from, u32 to, const u8 *data, u32 bytes)
{
	struct world_packet *p = world_packet_new(bytes);

	p->from = from;
	p->to = to;
	memcpy(p->data, data, bytes);
	p->damaged = !is_authentic(s, data, bytes);
	world_inject(&s->world, p);
}

static void inject_raw(struct siege *s)
{
	u8 data[COLL_WIRE_MIN + 64] = {};
	u32 from = fuzz_below(&s->in, s->hosts), to = fuzz_below(&s->in, s->hosts);
	u32 bytes = fuzz_below(&s->in, sizeof(data));

	fuzz_copy(&s->in, data, bytes);
	inject(s, from, to, data, bytes);
}

static u32 incarnation_of(struct siege *s, u32 host, u32 which)
{
	u32 present = s->group.members[host].group.incarnation;

	return which == 0 ? present : which == 1 ? present + 1 : which == 2 ? 0 :
	       fuzz_word(&s->in);
}

/* How many packets a host has sent another one. */
static u64 number_of(const struct siege *s, u32 from, u32 to)
{
	const struct world_member *m = &s->group.members[from];
	const struct coll_peer *peer;

	if (m->state != WORLD_JOINED)
		return 1;
	peer = coll_peers_find(&m->group, to);
	return peer ? peer->send.number + 1 : 1;
}

static u8 usual_degree(u8 algorithm, u32 hosts)
{
	return algorithm == COLLSOCK_DISSEMINATION || algorithm == COLLSOCK_EXCHANGE ?
	       coll_operation_usual_degree(hosts) : 0;
}

/* A packet of a member with any contents */
static void inject_sealed(struct siege *s)
{
	u8 data[COLL_WIRE_MIN + COLL_WIRE_OPERANDS + COLL_WIRE_ACK + 255], payload[255] = {};
	u32 from = fuzz_below(&s->in, s->hosts), to = fuzz_below(&s->in, s->hosts);
	const struct coll_group *g = &s->group.members[to].group;
	struct coll_prefix prefix = { .source = from, .destination = to };
	struct coll_body body = { .payload = payload };
	struct coll_wire_side side;
	u8 who = fuzz_byte(&s->in), what = fuzz_byte(&s->in), choice;

	if (from == to)
		return;
	prefix.tag = s->group.secret.tag;
	prefix.descriptor = s->group.descriptor ^ (who >> 7);
	prefix.incarnation = incarnation_of(s, from, who & 3);
	prefix.known = incarnation_of(s, to, who >> 2 & 3);
	body.type = 1 + (what & 7);
	body.acknowledges = what & 0x10;
	if (who & 0x40)
		prefix.epoch = incarnation_of(s, who >> 4 & 1 ? from : to, who >> 5 & 1);
	if (body.type == COLL_PACKET_MULTICAST) {
		prefix.known = 0;
		prefix.destination = COLL_WIRE_ALL;
		body.acknowledges = false;
	}
	body.round = fuzz_byte(&s->in);
	body.segment = what & 0x20 ? fuzz_byte(&s->in) : 0;
	body.number = fuzz_near(&s->in, number_of(s, from, to));
	body.operation = fuzz_near(&s->in, g->window.oldest);
	body.done = fuzz_near(&s->in, g->window.oldest);
	body.credit = fuzz_near(&s->in, g->window.oldest + g->window.size);
	body.signature.operation = fuzz_byte(&s->in);
	body.signature.type = fuzz_byte(&s->in);
	body.signature.operator = fuzz_byte(&s->in);
	choice = fuzz_byte(&s->in);
	body.signature.algorithm = choice & 0xf;
	body.signature.degree = choice >> 4 ?: usual_degree(choice, s->hosts);
	if (what & 0x40) {
		body.signature.count = fuzz_near(&s->in, 0);
		body.signature.root = fuzz_near(&s->in, 0);
	}
	if (body.acknowledges) {
		body.ack_number = fuzz_near(&s->in, number_of(s, to, from));
		body.ack_bits = fuzz_word(&s->in) | (u64)fuzz_word(&s->in) << 32;
	}
	if (what & 0x80) {
		body.payload_bytes = fuzz_byte(&s->in);
		fuzz_copy(&s->in, payload, body.payload_bytes);
	}
	if (body.type == COLL_PACKET_ACK && body.payload_bytes) {
		const struct coll_position position = {
			.operation = fuzz_near(&s->in, g->window.oldest), .round = body.round,
			.bits = fuzz_word(&s->in), .first = fuzz_byte(&s->in),
		};

		body.flags = COLL_FLAG_POSITION;
		body.payload_bytes = COLL_WIRE_POSITION;
		coll_wire_write_position(payload, &position);
	}
	if (body.type <= COLL_PACKET_ACK)
		body.flags |= choice << 8 & COLL_FLAGS_COPIED;
	coll_wire_side_set(&side, &prefix, &s->group.secret.mac);
	coll_wire_write(data, &side, &body);
	s->honest = false;
	inject(s, from, to, data, coll_wire_bytes(&body));
}

/* Pick a captured packet, counted from the latest one. */
static bool pick(const struct siege *s, u32 place, struct captured *c)
{
	if (!s->captures)
		return false;
	place %= min_t(u32, s->captures, MAX_CAPTURED);
	*c = s->captured[(s->captures - 1 - place) % MAX_CAPTURED];
	return true;
}

static void reseal(const struct siege *s, struct captured *c)
{
	__be64 code = mac_of(c->data, c->bytes, &s->group.secret.mac);

	memcpy(c->data + c->bytes - COLL_WIRE_MAC, &code, sizeof(code));
}

/* A packet that was sent also arrives in changed form. */
static void inject_changed(struct siege *s)
{
	u32 place = fuzz_byte(&s->in), how = fuzz_byte(&s->in), i;
	struct captured c, original;

	if (!pick(s, place, &c))
		return;
	original = c;
	if (how & CHANGE_LENGTH)
		c.bytes = clamp((s32)c.bytes + (s8)fuzz_byte(&s->in), 0, (s32)sizeof(c.data));
	for (i = 0; i < (how & CHANGE_COUNT) >> 4; i++) {
		u32 offset = fuzz_byte(&s->in);

		c.data[offset % sizeof(c.data)] ^= fuzz_byte(&s->in);
	}
	if (how & CHANGE_RESEAL && c.bytes >= COLL_WIRE_MIN) {
		reseal(s, &c);
		if (c.bytes != original.bytes || memcmp(c.data, original.data, c.bytes))
			s->honest = false;
	}
	inject(s, c.from, c.to, c.data, c.bytes);
}

/* An earlier packet arrives again, perhaps at another host, or at its sender. */
static void inject_replay(struct siege *s)
{
	u32 place = fuzz_byte(&s->in), route = fuzz_byte(&s->in);
	struct captured c;

	if (!pick(s, place, &c))
		return;
	if (route & 1)
		inject(s, (route >> 1) % s->hosts, (route >> 4) % s->hosts, c.data, c.bytes);
	else
		inject(s, c.from, c.to, c.data, c.bytes);
}

/* One of the next packets is lost. */
static void drop(struct siege *s)
{
	s->drop = s->captures + 1 + fuzz_byte(&s->in);
	s->lossy = true;
}

/* ---- the script ---- */

/* A storm of packets is a broken promise. */
static void run(struct siege *s, u64 ns)
{
	u64 until = s->world.now + ns;
	u32 steps = 0;

	while (world_step(&s->world, until))
		FUZZ_EXPECT(++steps < STORM_STEPS, "%u events in %llu us", steps,
			    (unsigned long long)ns / 1000);
}

/* @places: number of ranks and their placement: 0 is one on each host. */
static void place_ranks(struct siege *s, u32 places)
{
	u32 locals = 1 + places % MAX_LOCALS, i;
	bool blocks = places / MAX_LOCALS % 2, uneven = places / MAX_LOCALS / 2 % 2;

	s->ranks = s->hosts * locals - (uneven ? locals - 1 : 0);
	for (i = 0; i < s->ranks; i++) {
		s->host_of_rank[i] = blocks ? i / locals : i % s->hosts;
		s->local[i] = -1;
	}
}

/* In some scripts little work uses up an event, and the rest follows at once or late. */
static void choose_work(struct world_group *common, u32 choice)
{
	if (!choice)
		return;
	common->most_work = choice < 3 ? 1 : 3000;
	common->unit = 1 + choice;
	common->turn_ns = choice > 1 ? NSEC_PER_MSEC : 0;
}

static void begin(struct siege *s)
{
	struct collsock_join request = { .size = sizeof(request), .id = 7, .key = "fuzz",
					 .max_bytes = MAX_SEGMENT };
	u8 places = fuzz_byte(&s->in), sizes = fuzz_byte(&s->in), choice = fuzz_byte(&s->in);
	u8 faults = fuzz_byte(&s->in);
	u32 hosts = 2 + places % (MAX_HOSTS - 1), i;

	s->hosts = hosts;
	place_ranks(s, places / (MAX_HOSTS - 1));
	request.hosts = hosts;
	request.ranks = s->ranks;
	request.window = 1 + sizes % 8;
	if (sizes & 8) {
		request.segment_bytes = COLLSOCK_MIN_SEGMENT;
		request.max_bytes = VALUES_REDUCED;
	}
	if (sizes & 32)
		request.max_result_bytes = 2 * request.max_bytes;
	if (sizes & WITH_MULTICAST)
		request.multicast[0] = 1;
	request.algorithm[COLLSOCK_BARRIER] = choice % 3;
	request.degrees = COLLSOCK_DEGREE(OTHER_DEGREE);
	s->algorithms = sizes & WITH_ALGORITHMS;
	if (s->algorithms)
		choose_algorithms(&s->in, &request);
	request.mac = sizes & 16 ? COLLSOCK_MAC_SIPHASH : COLLSOCK_MAC_NH_SIPHASH;
	s->honest = true;
	world_init(&s->world, hosts, choice >> 4, &user);
	s->world.link.loss = (faults & 3) * 100;
	s->world.link.duplication = (faults >> 2 & 3) * 100;
	s->world.link.reordering = (faults >> 4 & 3) * 200;
	s->world.trace = getenv("FUZZ_TRACE") ? stderr : NULL;
	s->lossy = faults & 3;
	s->late = choice & 8;
	FUZZ_EQUAL(-world_group_init(&s->world, &s->group, &request, &timing, NULL), 0,
		   "errno of a descriptor");
	s->group.host_of_rank = s->host_of_rank;
	choose_work(&s->group, faults >> 6);
	for (i = 0; i < s->ranks - s->late; i++)
		join(s, i);
}

static void one_event(struct siege *s)
{
	u32 event = fuzz_below(&s->in, EVENTS), host, i;

	world_trace(&s->world, "event %u", event);
	switch (event) {
	case EVENT_BARRIER:
	case EVENT_ALLREDUCE:
	case EVENT_POST:
		return choose_and_post(s, event);
	case EVENT_RUN:
		return run(s, NSEC_PER_USEC << fuzz_below(&s->in, 19));
	case EVENT_STEP:
		for (i = fuzz_below(&s->in, 8) + 1; i; i--)
			if (world_step(&s->world, s->world.now + STEP_NS))
				check_all(s);
		return;
	case EVENT_FAIL:
		return fail(s);
	case EVENT_JOIN_NOTICE:
		return notify_join(s);
	case EVENT_EXPIRE:
		return expire(s);
	case EVENT_RAW:
		return inject_raw(s);
	case EVENT_SEALED:
		return inject_sealed(s);
	case EVENT_CHANGED:
		return inject_changed(s);
	case EVENT_REPLAY:
		return inject_replay(s);
	case EVENT_DROP:
		return drop(s);
	case EVENT_LEAVE:
		return leave_or_join(s, fuzz_below(&s->in, s->ranks));
	}
	host = fuzz_below(&s->in, s->hosts);
	if (event == EVENT_CUT) {
		s->lossy = true;
		s->cut[host] = !s->cut[host];
	} else {
		restart(s, host);
	}
}

/* Is there a live rank that has not posted this operation? */
static bool may_wait(const struct siege *s, u64 number)
{
	u32 i;

	for (i = 0; i < s->ranks; i++) {
		const struct coll_group *g = &s->group.members[s->host_of_rank[i]].group;

		if (lives(s, i) && !coll_group_ended(g, s->local[i]) &&
		    !coll_before(number, g->ranks.local[s->local[i]].next))
			return true;
	}
	return false;
}

/* An attacker with the key can keep others waiting. */
static bool must_end(const struct siege *s, u32 host)
{
	return s->honest && joined(s, host);
}

/* An operation ends, or waits for a live rank. */
static void check_no_hang(const struct siege *s, u32 rank)
{
	const struct life *l;
	u32 i;

	if (!must_end(s, s->host_of_rank[rank]) || !s->lives[rank])
		return;
	l = &s->life[rank][s->lives[rank] - 1];
	for (i = 0; i < l->posted; i++)
		FUZZ_EXPECT(l->posts[i].done || may_wait(s, l->posts[i].number),
			    "rank %u waits for no rank in operation %llu", rank,
			    l->posts[i].number);
}

static void free_results(struct siege *s)
{
	u32 rank, life, i;

	for (rank = 0; rank < s->ranks; rank++)
		for (life = 0; life < s->lives[rank]; life++)
			for (i = 0; i < s->life[rank][life].posted; i++)
				free(s->life[rank][life].posts[i].result);
}

/* All faults end and all ranks leave: no host may linger indefinitely. */
static void end(struct siege *s)
{
	u32 i;

	s->world.link.loss = 0;
	s->drop = 0;
	memset(s->cut, 0, sizeof(s->cut));
	run(s, 3 * timing.join_timeout);
	check_all(s);
	for (i = 0; i < s->ranks; i++)
		check_no_hang(s, i);
	for (i = 0; i < s->ranks; i++)
		leave(s, i);
	run(s, 4 * timing.join_timeout);
	check_all(s);
	for (i = 0; i < s->hosts; i++)
		FUZZ_EXPECT(!must_end(s, i) || coll_group_quiet(&s->group.members[i].group),
			    "host %u has left and lingers indefinitely", i);
	world_group_free(&s->group);
	world_free(&s->world);
	free_results(s);
	FUZZ_EQUAL(world_memory, 0, "pieces of memory left");
}

int fuzz_target(const u8 *data, size_t bytes)
{
	struct siege *s = calloc(1, sizeof(*s));
	u32 events = 0;

	if (!s)
		abort();
	s->in = (struct fuzz_input){ data, data + bytes };
	begin(s);
	while (fuzz_left(&s->in) && events++ < MAX_EVENTS) {
		one_event(s);
		check_all(s);
	}
	end(s);
	free(s);
	return 0;
}
