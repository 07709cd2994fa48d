// SPDX-License-Identifier: GPL-2.0
/*
 * Packets into living groups. Two to four hosts of one group work on the virtual
 * network of the unit tests, and a script (events.h) makes them post, leave, fail
 * and restart, while an attacker drops, repeats, changes and invents packets. The
 * attacker either lacks the key, and changes nothing; or has it, for the harness
 * seals its packets, and breaks no memory, no count and no end.
 */
#define UNIT_MAX_OPS	48

#include "network.h"
#include "fuzz.h"
#include "events.h"
#include "invariants.h"

#define MAX_HOSTS	4
#define MAX_LIVES	4
#define MAX_CAPTURED	16
#define MAX_BYTES	96
#define MAX_EVENTS	300
#define STEP_NS		(20 * NSEC_PER_MSEC)
/* In the longest time that a script lets pass; one that never ends has more. */
#define STORM_STEPS	40000

static const struct coll_timing timing = {
	.rto_initial	= 2 * NSEC_PER_MSEC,
	.rto_floor	= NSEC_PER_MSEC,
	.rto_ceiling	= 10 * NSEC_PER_MSEC,
	.rto_unheard	= 20 * NSEC_PER_MSEC,
	.ack_delay	= 500 * NSEC_PER_USEC,
	.liveness	= 60 * NSEC_PER_MSEC,
	.join_timeout	= 200 * NSEC_PER_MSEC,
	.settle		= 2 * NSEC_PER_MSEC,
	.idle		= 150 * NSEC_PER_MSEC,
};

/**
 * struct life - what a host has done since it joined
 * @signature: of its operations, by number
 * @operations: number of them
 * @number: of the operation of each post; those in a group that has ended have none
 * @checked: posts whose completion has been looked at
 */
struct life {
	struct coll_signature	signature[UNIT_MAX_OPS];
	u32			operations;
	u32			number[UNIT_MAX_OPS];
	bool			checked[UNIT_MAX_OPS];
};

struct captured {
	u32	from;
	u32	to;
	u32	bytes;
	u8	data[COLL_WIRE_MIN + COLL_WIRE_OPERANDS + COLL_WIRE_ACK + MAX_BYTES];
};

/**
 * struct siege - the group, and what the attacker has seen
 * @n: the network
 * @in: what is left of the script
 * @secret: key of the group
 * @life: of each host, the present one last
 * @lives: number of them
 * @captured: packets sent, the latest ones
 * @captures: number of packets sent
 * @honest: nobody has misused the key, so results must be right
 * @late: the last host has not joined yet
 * @reset: has left, or forgotten all: may be blamed for ECONNRESET
 * @lossy: packets were lost, or hosts cut off: silence may be blamed on anyone
 * @broken: a group was told to fail: anything may be blamed on anyone
 */
struct siege {
	struct unit_network	n;
	struct fuzz_input	in;
	struct coll_secret	secret;
	struct life		life[MAX_HOSTS][MAX_LIVES];
	u32			lives[MAX_HOSTS];
	struct captured		captured[MAX_CAPTURED];
	u32			captures;
	bool			honest;
	bool			late;
	bool			reset[MAX_HOSTS];
	bool			lossy;
	bool			broken;
};

static void trace_packet(const struct siege *s, const char *what, u32 from, u32 to,
			 const u8 *data, u32 bytes)
{
	struct coll_prefix p = {};
	struct coll_body b = {};

	if (coll_wire_formed(data, bytes)) {
		coll_wire_read_prefix(data, &p);
		coll_wire_read_body(data, bytes, &b);
	}
	FUZZ_TRACE("%llu us: %u to %u %s: type %u, operation %u, round %u, seq %u, done %d, "
		   "credit %d, incarnation %u to %u, connection %u, count %u, root %u\n",
		   (unsigned long long)s->n.now / 1000, from, to, what, b.type, b.operation,
		   b.round, b.seq, b.done, b.credit, p.incarnation, p.known, p.connection,
		   b.signature.count, b.signature.root);
}

static bool capture(struct unit_network *n, struct unit_packet *p)
{
	struct siege *s = container_of(n, struct siege, n);
	struct captured *c = &s->captured[s->captures++ % MAX_CAPTURED];

	trace_packet(s, "sent", p->from, p->to, p->data, p->bytes);
	FUZZ_EXPECT(coll_wire_formed(p->data, p->bytes), "%u bytes", p->bytes);
	FUZZ_EXPECT(p->bytes <= sizeof(c->data), "%u bytes", p->bytes);
	c->from = p->from;
	c->to = p->to;
	c->bytes = p->bytes;
	memcpy(c->data, p->data, p->bytes);
	return false;
}

static struct life *present_life(struct siege *s, u32 host)
{
	return &s->life[host][s->lives[host] - 1];
}

/* ---- what a result must be ---- */

/* The same in each life, so that it does not matter which of them was heard. */
static u64 contribution(u32 host, u32 number, u32 element)
{
	return (host * 31 + number * 7 + element * 3) % 1000;
}

static void fill_payload(u8 *payload, const struct coll_signature *sig, u32 host, u32 number)
{
	u32 i;

	for (i = 0; i < sig->count; i++) {
		u64 value = contribution(host, number, i);
		double real = value;

		memcpy(payload + 8 * i, sig->type == COLLSOCK_DOUBLE ? (void *)&real : &value, 8);
	}
}

static u64 expected_element(const struct siege *s, const struct coll_signature *sig, u32 number,
			    u32 element)
{
	u64 value = contribution(0, number, element);
	u32 host;

	for (host = 1; host < s->n.count; host++) {
		u64 other = contribution(host, number, element);

		value = sig->op == COLLSOCK_SUM ? value + other :
			sig->op == COLLSOCK_MIN ? min(value, other) : max(value, other);
	}
	return value;
}

static void check_result(const struct siege *s, const struct coll_signature *sig, u32 number,
			 const struct unit_completion *c)
{
	u32 i;

	FUZZ_EQUAL(c->bytes, 8 * sig->count, "bytes of the result");
	for (i = 0; i < sig->count; i++) {
		u64 value;
		double real;

		memcpy(&value, c->result + 8 * i, 8);
		memcpy(&real, c->result + 8 * i, 8);
		if (sig->type == COLLSOCK_DOUBLE)
			value = real;
		FUZZ_EQUAL(value, expected_element(s, sig, number, i), "element of the result");
	}
}

static bool has_posted(const struct siege *s, u32 host, u32 number,
		       const struct coll_signature *sig)
{
	u32 i;

	for (i = 0; i < s->lives[host]; i++) {
		const struct life *l = &s->life[host][i];

		if (number < l->operations && !memcmp(&l->signature[number], sig, sizeof(*sig)))
			return true;
	}
	return false;
}

/* No rank is blamed for what is not so. */
static void check_blame(const struct siege *s, const struct unit_completion *c)
{
	u32 rank = c->failed_rank;

	FUZZ_EXPECT(rank < s->n.count, "rank %u", rank);
	if (!s->honest || s->broken)
		return;
	if (c->error == ECONNRESET)
		FUZZ_EXPECT(s->reset[rank], "rank %u is said to have left", rank);
	else if (c->error == ETIMEDOUT)
		FUZZ_EXPECT(s->lossy || s->late || s->reset[rank], "rank %u is said to be silent",
			    rank);
	else
		FUZZ_EQUAL(c->error, EPROTO, "errno of an operation");
}

static void check_completion(struct siege *s, u32 host, u32 post)
{
	const struct unit_completion *c = &s->n.hosts[host].ops[post];
	const struct life *l = present_life(s, host);
	u32 number = l->number[post], other;
	const struct coll_signature *sig;

	FUZZ_TRACE("host %u: operation %d: error %u, rank %d\n", host, number, c->error,
		   c->failed_rank);
	if (c->error)
		return check_blame(s, c);
	FUZZ_EXPECT(number != COLL_NOTHING_DONE, "an operation in an ended group");
	if (!s->honest)
		return;
	sig = &l->signature[number];
	for (other = 0; other < s->n.count; other++)
		FUZZ_EXPECT(has_posted(s, other, number, sig),
			    "host %u completed operation %u, host %u has not posted it", host,
			    number, other);
	check_result(s, sig, number, c);
}

static void check_completions(struct siege *s, u32 host)
{
	struct life *l;
	u32 post;

	if (!s->lives[host])
		return;
	l = present_life(s, host);
	for (post = 0; post < s->n.hosts[host].posted; post++)
		if (s->n.hosts[host].ops[post].done && !l->checked[post]) {
			check_completion(s, host, post);
			l->checked[post] = true;
		}
}

static void check_all(struct siege *s)
{
	u32 host;

	for (host = 0; host < s->n.count; host++) {
		check_completions(s, host);
		if (s->n.hosts[host].joined)
			check_group(&s->n.hosts[host].group);
	}
}

/* ---- what hosts do ---- */

static void join(struct siege *s, u32 host)
{
	struct unit_host *h = &s->n.hosts[host];

	memset(&h->group, 0, sizeof(h->group));
	h->posted = 0;
	h->completed = 0;
	h->entombed = false;
	free(h->ops);
	FUZZ_EQUAL(unit_join_host(&s->n, host, &timing), 0, "join");
	/* It stands in packets only, and none was sent yet. */
	h->group.incarnation += 1000 * s->lives[host]++;
}

static void restart(struct siege *s, u32 host)
{
	struct unit_host *h = &s->n.hosts[host];

	if (s->lives[host] == MAX_LIVES)
		return;
	if (h->joined)
		coll_group_destroy(&h->group);
	s->reset[host] = s->lives[host];
	join(s, host);
}

static void post(struct siege *s, u32 host, const struct collsock_post *post)
{
	struct unit_host *h = &s->n.hosts[host];
	u32 bytes = post->count * 8, number = h->group.next;
	struct coll_signature sig;
	u8 payload[MAX_BYTES], *exact;
	struct life *l;
	int err;

	if (!h->joined || h->group.leaving || h->posted == UNIT_MAX_OPS)
		return;
	l = present_life(s, host);
	err = coll_group_signature(&h->group, post, bytes, &sig);
	if (err)
		return;
	FUZZ_EXPECT(bytes <= MAX_BYTES, "%u bytes", bytes);
	fill_payload(payload, &sig, host, number);
	exact = fuzz_exact(payload, bytes);
	err = coll_group_post(&h->group, &sig, exact, &h->ops[h->posted], s->n.now);
	free(exact);
	if (err) {
		FUZZ_EQUAL(-err, EAGAIN, "errno of a post");
		return;
	}
	l->number[h->posted++] = h->group.next == number ? COLL_NOTHING_DONE : number;
	if (h->group.next != number) {
		l->signature[number] = sig;
		l->operations = number + 1;
	}
	unit_after_event(h);
}

static void post_barrier(struct siege *s)
{
	struct collsock_post p = { .size = sizeof(p), .operation = COLLSOCK_BARRIER };
	u32 host = fuzz_below(&s->in, s->n.count);

	p.algorithm = fuzz_below(&s->in, 3);
	post(s, host, &p);
}

static void post_allreduce(struct siege *s)
{
	struct collsock_post p = { .size = sizeof(p), .operation = COLLSOCK_ALLREDUCE };
	u32 host = fuzz_below(&s->in, s->n.count);

	p.type = 1 + fuzz_below(&s->in, 3);
	p.op = 1 + fuzz_below(&s->in, 3);
	p.count = 1 + fuzz_below(&s->in, MAX_BYTES / 8);
	post(s, host, &p);
}

static void post_anything(struct siege *s)
{
	struct collsock_post p = { .size = sizeof(p) };
	u32 host = fuzz_below(&s->in, s->n.count);

	fuzz_copy(&s->in, &p, sizeof(p));
	post(s, host, &p);
}

static void fail(struct siege *s)
{
	struct unit_host *h = &s->n.hosts[fuzz_below(&s->in, s->n.count)];
	u32 reason = fuzz_below(&s->in, COLL_REASONS), rank = fuzz_below(&s->in, s->n.count);

	if (!h->joined)
		return;
	s->broken = true;
	coll_group_break(&h->group, reason, rank, s->n.now);
	unit_after_event(h);
}

static void nudge(struct siege *s)
{
	u32 host = fuzz_below(&s->in, s->n.count), other = fuzz_below(&s->in, s->n.count);
	struct unit_host *h = &s->n.hosts[host];

	if (!h->joined || other == host)
		return;
	coll_group_nudge(&h->group, other, s->n.now);
	unit_after_event(h);
}

static void expire(struct siege *s)
{
	struct unit_host *h = &s->n.hosts[fuzz_below(&s->in, s->n.count)];

	if (!h->joined)
		return;
	/* As the kernel does it: the timer is not armed any more. */
	h->deadline = COLL_NEVER;
	coll_group_expire(&h->group, s->n.now);
	unit_after_event(h);
}

/* ---- what the attacker does ---- */

/* Everything of a group that a packet could change. */
struct snapshot {
	struct coll_group	group;
	struct coll_peer	peers[MAX_HOSTS];
	struct coll_op		slots[8];
	u64			sent;
};

static void take_snapshot(const struct siege *s, const struct unit_host *h, struct snapshot *t)
{
	const struct coll_peer *peer;
	u32 i = 0;

	memset(t, 0, sizeof(*t));
	t->sent = s->n.sent;
	if (!h->joined)
		return;
	t->group = h->group;
	for (peer = h->group.all_peers; peer; peer = peer->all)
		t->peers[i++] = *peer;
	memcpy(t->slots, h->group.slots, (h->group.slot_mask + 1) * sizeof(t->slots[0]));
}

/* By the other SipHash, the one of the C library of the core. */
static bool is_authentic(const struct siege *s, const u8 *data, u32 bytes)
{
	__be64 code;

	if (!coll_wire_formed(data, bytes))
		return false;
	memcpy(&code, data + bytes - sizeof(code), sizeof(code));
	return siphash(data, bytes - sizeof(code), &s->secret.mac) == be64_to_cpu(code);
}

static void inject(struct siege *s, u32 from, u32 to, const u8 *data, u32 bytes)
{
	static struct snapshot before, after;
	struct unit_packet *p = calloc(1, sizeof(*p) + bytes);
	struct unit_host *h = &s->n.hosts[to];

	if (!p)
		abort();
	p->from = from;
	p->to = to;
	p->bytes = bytes;
	memcpy(p->data, data, bytes);
	trace_packet(s, "injected", from, to, data, bytes);
	take_snapshot(s, h, &before);
	unit_deliver(&s->n, p);
	if (!is_authentic(s, data, bytes)) {
		take_snapshot(s, h, &after);
		FUZZ_EXPECT(!memcmp(&before, &after, sizeof(before)),
			    "a packet without the key changed host %u", to);
	}
	free(p);
}

static void inject_raw(struct siege *s)
{
	u8 data[COLL_WIRE_MIN + 64] = {};
	u32 from = fuzz_below(&s->in, s->n.count), to = fuzz_below(&s->in, s->n.count);
	u32 bytes = fuzz_below(&s->in, sizeof(data));

	fuzz_copy(&s->in, data, bytes);
	inject(s, from, to, data, bytes);
}

static u32 incarnation_of(struct siege *s, u32 host, u32 which)
{
	u32 known = s->n.hosts[host].group.incarnation;

	return which == 0 ? known : which == 1 ? 1000 + host : which == 2 ? 0 : fuzz_word(&s->in);
}

/* A packet of a member that says anything. */
static void inject_sealed(struct siege *s)
{
	u8 data[COLL_WIRE_MIN + COLL_WIRE_OPERANDS + COLL_WIRE_ACK + 255], payload[255] = {};
	u32 from = fuzz_below(&s->in, s->n.count), to = fuzz_below(&s->in, s->n.count);
	const struct coll_group *g = &s->n.hosts[to].group;
	struct coll_prefix prefix = { .tag = s->secret.tag, .source = from, .destination = to };
	struct coll_body body = { .payload = payload };
	struct coll_wire_side side;
	u8 who = fuzz_byte(&s->in), what = fuzz_byte(&s->in);

	if (from == to)
		return;
	prefix.descriptor = g->descriptor ^ (who >> 7);
	prefix.incarnation = incarnation_of(s, from, who & 3);
	prefix.known = incarnation_of(s, to, who >> 2 & 3);
	prefix.connection = who >> 4 & 1 ? fuzz_near(&s->in, 1) : 1;
	body.type = 1 + (what & 7);
	body.acknowledges = what & 0x10;
	body.round = fuzz_byte(&s->in);
	body.segment = what & 0x20 ? fuzz_byte(&s->in) : 0;
	body.seq = fuzz_near(&s->in, 0);
	body.operation = fuzz_near(&s->in, g->oldest);
	body.done = fuzz_near(&s->in, g->oldest);
	body.credit = fuzz_near(&s->in, g->oldest + g->window);
	body.signature.operation = fuzz_byte(&s->in);
	body.signature.type = fuzz_byte(&s->in);
	body.signature.op = fuzz_byte(&s->in);
	body.signature.schedule = fuzz_byte(&s->in);
	if (what & 0x40) {
		body.signature.count = fuzz_near(&s->in, 0);
		body.signature.root = fuzz_near(&s->in, 0);
	}
	if (body.acknowledges) {
		body.ack_connection = fuzz_near(&s->in, 1);
		body.ack_seq = fuzz_near(&s->in, 0);
		body.ack_bits = fuzz_word(&s->in) | (u64)fuzz_word(&s->in) << 32;
	}
	if (what & 0x80) {
		body.payload_bytes = fuzz_byte(&s->in);
		fuzz_copy(&s->in, payload, body.payload_bytes);
	}
	coll_wire_side_set(&side, &prefix, &s->secret.mac);
	coll_wire_write(data, &side, &body);
	s->honest = false;
	inject(s, from, to, data, coll_wire_bytes(&body));
}

/* The packet under way that stands at that place of the queue, taken out if @take. */
static bool pick(struct siege *s, u32 place, struct captured *c, bool take)
{
	struct unit_packet **at = &s->n.packets, *p;

	while (*at && (*at)->next && place--)
		at = &(*at)->next;
	p = *at;
	if (!p)
		return false;
	c->from = p->from;
	c->to = p->to;
	c->bytes = p->bytes;
	memcpy(c->data, p->data, p->bytes);
	if (take) {
		*at = p->next;
		free(p);
	}
	return true;
}

static bool pick_captured(const struct siege *s, u32 place, struct captured *c)
{
	if (!s->captures)
		return false;
	*c = s->captured[place % min_t(u32, s->captures, MAX_CAPTURED)];
	return true;
}

static void reseal(const struct siege *s, struct captured *c)
{
	__be64 code = cpu_to_be64(siphash(c->data, c->bytes - COLL_WIRE_MAC, &s->secret.mac));

	memcpy(c->data + c->bytes - COLL_WIRE_MAC, &code, sizeof(code));
}

/* A packet that was sent arrives as another one. */
static void inject_changed(struct siege *s)
{
	u32 place = fuzz_byte(&s->in), how = fuzz_byte(&s->in), i;
	struct captured c = {}, original;

	if (!(how & CHANGE_CAPTURED ? pick_captured(s, place, &c) :
				      pick(s, place, &c, how & CHANGE_CONSUME)))
		return;
	original = c;
	s->lossy |= how & CHANGE_CONSUME;
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

/* An earlier packet comes again, perhaps to another host, or to its sender. */
static void inject_replay(struct siege *s)
{
	u32 place = fuzz_byte(&s->in), route = fuzz_byte(&s->in);
	struct captured c;

	if (!pick_captured(s, place, &c))
		return;
	if (route & 1)
		inject(s, (route >> 1) % s->n.count, (route >> 4) % s->n.count, c.data, c.bytes);
	else
		inject(s, c.from, c.to, c.data, c.bytes);
}

static void drop(struct siege *s)
{
	struct captured c;

	s->lossy |= pick(s, fuzz_byte(&s->in), &c, true);
}

/* ---- the script ---- */

/* As unit_run(), but a storm of packets is a broken promise. */
static void run(struct siege *s, u64 ns)
{
	u64 until = s->n.now + ns;
	u32 steps = 0;

	while (unit_step(&s->n, until))
		FUZZ_EXPECT(++steps < STORM_STEPS, "%u events in %llu us", steps,
			    (unsigned long long)ns / 1000);
}

static void begin(struct siege *s)
{
	u32 hosts = 2 + fuzz_below(&s->in, MAX_HOSTS - 1), window = 1 + fuzz_below(&s->in, 8), i;
	u8 choice = fuzz_byte(&s->in), faults = fuzz_byte(&s->in);

	unit_network_init(&s->n, hosts, 1 + (choice >> 4));
	s->n.join.window = window;
	s->n.join.max_bytes = MAX_BYTES;
	s->n.join.barrier_algorithm = choice % 3;
	s->n.loss = (faults & 3) * 100;
	s->n.duplication = (faults >> 2 & 3) * 100;
	s->n.reordering = (faults >> 4 & 3) * 200;
	s->n.tap = capture;
	s->honest = true;
	coll_wire_derive(&s->secret, s->n.join.key, s->n.join.id, s->n.join.nonce);
	s->lossy = s->n.loss;
	s->late = choice & 8;
	for (i = 0; i < hosts - s->late; i++)
		join(s, i);
}

static void one_event(struct siege *s)
{
	u32 event = fuzz_below(&s->in, EVENTS), host, i;

	FUZZ_TRACE("%llu us: event %u, operand %u\n", (unsigned long long)s->n.now / 1000, event,
		   s->in.at < s->in.end ? *s->in.at : 0);
	switch (event) {
	case EVENT_BARRIER:
		return post_barrier(s);
	case EVENT_ALLREDUCE:
		return post_allreduce(s);
	case EVENT_POST:
		return post_anything(s);
	case EVENT_RUN:
		return run(s, NSEC_PER_USEC << fuzz_below(&s->in, 19));
	case EVENT_STEP:
		for (i = fuzz_below(&s->in, 8) + 1; i && unit_step(&s->n, s->n.now + STEP_NS); i--)
			check_all(s);
		return;
	case EVENT_FAIL:
		return fail(s);
	case EVENT_NUDGE:
		return nudge(s);
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
	}
	host = fuzz_below(&s->in, s->n.count);
	if (event == EVENT_LEAVE && s->n.hosts[host].joined) {
		s->reset[host] = true;
		unit_leave(&s->n, host);
	} else if (event == EVENT_CUT) {
		s->lossy = true;
		s->n.hosts[host].cut = !s->n.hosts[host].cut;
	} else if (event == EVENT_RESTART) {
		restart(s, host);
	}
}

/* Is there a rank that lives and has not posted that operation? */
static bool may_wait(const struct siege *s, u32 number)
{
	u32 host;

	for (host = 0; host < s->n.count; host++) {
		const struct unit_host *h = &s->n.hosts[host];

		if (h->joined && !h->group.leaving && !coll_group_ended(&h->group) &&
		    !coll_before(number, h->group.next))
			return true;
	}
	return false;
}

/* An operation ends, or waits for a rank that lives. */
static void check_no_hang(const struct siege *s, u32 host)
{
	const struct unit_host *h = &s->n.hosts[host];
	u32 post;

	if (!h->joined)
		return;
	for (post = 0; post < h->posted; post++) {
		u32 number = s->life[host][s->lives[host] - 1].number[post];

		FUZZ_EXPECT(h->ops[post].done || may_wait(s, number),
			    "host %u waits for nobody in operation %u", host, number);
	}
}

/* All faults end and everyone leaves: nothing may be owed for ever. */
static void end(struct siege *s)
{
	u32 host;

	s->n.loss = 0;
	for (host = 0; host < s->n.count; host++)
		s->n.hosts[host].cut = false;
	run(s, 3 * timing.join_timeout);
	check_all(s);
	/* Whoever has the key can keep others waiting. */
	for (host = 0; s->honest && host < s->n.count; host++)
		check_no_hang(s, host);
	for (host = 0; host < s->n.count; host++)
		if (s->n.hosts[host].joined) {
			s->reset[host] = true;
			unit_leave(&s->n, host);
		}
	run(s, 4 * timing.join_timeout);
	check_all(s);
	for (host = 0; s->honest && host < s->n.count; host++)
		FUZZ_EXPECT(!s->n.hosts[host].joined, "host %u has left and does not end", host);
	unit_network_free(&s->n);
	FUZZ_EQUAL(unit_memory, 0, "pieces of memory left");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
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
