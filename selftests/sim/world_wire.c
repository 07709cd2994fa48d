// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>

#include "world.h"

/* Greatest delay of a packet: the time-outs of the core are longer. */
#define LONGEST_DELAY	(200 * NSEC_PER_MSEC)

struct world_packet *world_packet_new(u32 bytes)
{
	struct world_packet *p = calloc(1, sizeof(*p) + bytes);

	p->bytes = bytes;
	return p;
}

static double uniform(struct world *w)
{
	return (double)((world_random(&w->random) >> 11) + 1) / (1ULL << 53);
}

static u64 link_delay(struct world *w, const struct world_link *l)
{
	double random = 0;

	switch (l->kind) {
	case WORLD_UNIFORM:
		random = l->spread_ns * uniform(w);
		break;
	case WORLD_EXPONENTIAL:
		random = l->spread_ns * -log(uniform(w));
		break;
	case WORLD_HEAVY_TAIL:
		random = l->spread_ns * (pow(uniform(w), -1 / 1.5) - 1);
		break;
	default:
		break;
	}
	if (world_chance(&w->random, l->reordering))
		random += 4 * (l->delay_ns + l->spread_ns) * uniform(w);
	return l->delay_ns + (u64)min_t(double, random, LONGEST_DELAY);
}

/* Ethernet, IP and UDP around a packet */
#define PORT_HEADERS	66

struct world_member *world_find(const struct world_host *h, u64 tag, u32 index)
{
	struct world_member *m = h->members;

	while (m && (m->common->secret.tag != tag || m->index != index))
		m = m->next;
	return m;
}

/* The sender learns that a queue of its own had no room. */
static void port_tells(struct world *w, const struct world_packet *p)
{
	struct world_member *m;

	if (p->stream) {
		p->stream->no_room(w, p);
		return;
	}
	m = world_find(&w->hosts[p->from], coll_wire_tag(p->data), coll_wire_source(p->data));
	if (m && m->state == WORLD_JOINED)
		coll_group_send_congested(&m->group, coll_wire_destination(p->data));
}

static void port_count(struct world *w, const struct world_packet *p, int change)
{
	struct world_port *port = &w->hosts[p->to].port;

	port->queued += change;
	if (port->local && !p->stream)
		w->hosts[p->from].queued += change;
}

static void port_sends(struct world *w, void *what)
{
	struct world_packet *p = what;

	port_count(w, p, -1);
	world_packet_arrives(w, p);
}

static void port_takes(struct world *w, void *what)
{
	struct world_packet *p = what;
	struct world_port *port = &w->hosts[p->to].port;

	if (port->queued >= port->room) {
		port->lost++;
		if (w->trace)
			world_trace_packet(w, "no room for", p);
		if (port->local)
			port_tells(w, p);
		free(p);
		return;
	}
	if (port->mark && port->queued >= port->mark) {
		port->marked++;
		p->ce = true;
	}
	port_count(w, p, 1);
	port->free_ns = max(port->free_ns, w->now) +
			(PORT_HEADERS + p->bytes) * port->byte_ps / 1000;
	world_at(w, port->free_ns, port_sends, p);
}

static void link_damage(struct world *w, struct world_packet *p)
{
	u32 i, flips = 1 + world_below(&w->random, 3);

	/* Two flips of one bit cancel out */
	for (i = 0; i < flips; i++) {
		u32 bit = (world_below(&w->random, p->bytes * 8) / flips) * flips + i;

		bit %= p->bytes * 8;
		p->data[bit / 8] ^= 1 << bit % 8;
	}
	p->damaged = true;
}

static void link_carry(struct world *w, const struct world_link *l, struct world_packet *p,
		       u64 at)
{
	at += link_delay(w, l) + (p->header_bytes + p->bytes) * l->byte_ps / 1000;
	if (world_chance(&w->random, l->corruption))
		link_damage(w, p);
	world_at(w, at, w->hosts[p->to].port.byte_ps ? port_takes : world_packet_arrives, p);
}

static void link_send(struct world *w, struct world_packet *p, u64 at)
{
	const struct world_link *l = world_link(w, p->from, p->to);
	const char *fate = NULL;

	w->sent++;
	if (w->user->tap && w->user->tap(w, p))
		fate = "dropped";
	else if (l->cut)
		fate = "cut";
	else if (l->most_bytes && p->bytes > l->most_bytes && !p->fragments)
		fate = "too long";
	else if (world_chance(&w->random, l->loss))
		fate = "lost";
	if (w->trace)
		world_trace_packet(w, fate ? fate : "sent", p);
	if (fate) {
		free(p);
		return;
	}
	if (world_chance(&w->random, l->duplication)) {
		struct world_packet *copy = world_packet_new(p->bytes);

		memcpy(copy, p, sizeof(*p) + p->bytes);
		link_carry(w, l, copy, at);
	}
	link_carry(w, l, p, at);
}

/* The CPU passes it to the NIC, which accepts the next one only after a gap. */
static void host_send(struct world *w, struct world_host *h, struct world_packet *p)
{
	u64 at;

	world_work(w, h, h->send_ns);
	at = max(h->busy_ns, h->nic_ns);
	h->nic_ns = at + h->gap_ns;
	link_send(w, p, max(at, w->now));
}

void world_copy(struct world *w, struct world_packet *p)
{
	const struct world_link *l = world_link(w, p->from, p->to);
	struct world_host *h = &w->hosts[p->from];

	if (world_chance(&w->random, l->copy_loss)) {
		if (w->trace)
			world_trace_packet(w, "lost", p);
		free(p);
		return;
	}
	link_send(w, p, max(h->busy_ns, w->now) + world_below(&w->random, l->copy_late_ns));
}

void world_inject(struct world *w, struct world_packet *p)
{
	if (w->trace)
		world_trace_packet(w, "injected", p);
	world_at(w, w->now + link_delay(w, world_link(w, p->from, p->to)), world_packet_arrives, p);
}

void world_send(struct world *w, struct world_packet *p)
{
	host_send(w, &w->hosts[p->from], p);
}

bool world_is_packet(const struct world_event *e)
{
	return e->run == world_packet_arrives || e->run == port_takes || e->run == port_sends;
}

void world_make_links(struct world *w)
{
	size_t i, pairs = (size_t)w->count * w->count;

	w->links = calloc(pairs, sizeof(*w->links));
	for (i = 0; i < pairs; i++)
		w->links[i] = w->link;
}
