// SPDX-License-Identifier: GPL-2.0
/*
 * An attacker who sees every packet but lacks the key: it changes packets, and replays
 * recorded ones.
 */
#include <stdlib.h>

#include "sim.h"

/* Passes over the packets of a dead host, and packets in each pass to each other host */
#define PASSES		120
#define PASS_PACKETS	4

static struct world_packet *copy_of(const struct world_packet *p)
{
	struct world_packet *copy = world_packet_new(p->bytes);

	memcpy(copy, p, sizeof(*p) + p->bytes);
	return copy;
}

static void inject(struct world *w, void *packet)
{
	world_inject(w, packet);
	sim_acted(w->owner);
}

/* ---- at any time ---- */

/* Write something that looks like a packet of a member, without the key. */
static void forge(struct sim *s, struct world_packet *p)
{
	struct sim_group *g = &s->groups[world_below(&s->random, s->group_count)];
	u32 i, bytes = 1 + world_below(&s->random, 8);
	__be64 tag = cpu_to_be64(g->common.secret.tag);
	u32 self = world_below(&s->random, g->hosts), other = world_below(&s->random, g->hosts);
	__be16 ends[2] = { cpu_to_be16(other), cpu_to_be16(self) };

	memcpy(p->data + 4, ends, sizeof(ends));
	memcpy(p->data + 8, &tag, sizeof(tag));
	p->from = g->common.host_of[other];
	p->to = g->common.host_of[self];
	for (i = 0; i < bytes; i++)
		p->data[16 + world_below(&s->random, p->bytes - 16)] ^=
			1 + world_below(&s->random, 255);
	p->damaged = true;
}

/* Forged, or unchanged; a little later or much later. */
static void send_again(struct sim *s, const struct world_packet *p)
{
	struct world_packet *copy = copy_of(p);
	u64 delay;

	s->replays--;
	if (world_chance(&s->random, 500))
		forge(s, copy);
	delay = world_chance(&s->random, 500) ? NSEC_PER_MSEC : 20 * (u64)NSEC_PER_SEC;
	sim_at(s, world_below(&s->random, delay), inject, copy);
}

/* ---- when a host has died ---- */

static void record(struct sim *s, const struct world_packet *p)
{
	struct world_packet **place = &s->recorded[s->recorded_count++ % SIM_RECORDED];

	free(*place);
	*place = copy_of(p);
}

/*
 * Try to make the dead host look alive. All packets arrive at once, so that none arrives
 * for the first time long after it was sent.
 */
static void replay_dead(struct world *w, void *what)
{
	struct sim *s = w->owner;
	struct world_host *dead = what;
	u32 i, sent[SIM_MAX_HOSTS] = {};

	for (i = 0; i < SIM_RECORDED; i++) {
		const struct world_packet *p = s->recorded[i];

		if (p && p->from == dead->id && sent[p->to]++ < PASS_PACKETS)
			world_inject(w, copy_of(p));
	}
	if (dead->down && s->passes) {
		s->passes--;
		sim_at(s, s->groups[0].common.timing.liveness / 6, replay_dead, dead);
	}
	sim_acted(s);
}

/**
 * sim_attacker_crashed() - a host has died: replaying its packets may now have an effect
 * @s: the simulation
 * @h: the host
 */
void sim_attacker_crashed(struct sim *s, struct world_host *h)
{
	if (!(s->trouble & SIM_REPLAY))
		return;
	s->passes = PASSES;
	sim_at(s, 0, replay_dead, h);
}

/**
 * sim_attacker_sent() - a packet is sent, which the attacker may record or forge
 * @s: the simulation
 * @p: the packet
 *
 * The attacker's own packets are excluded.
 */
void sim_attacker_sent(struct sim *s, const struct world_packet *p)
{
	if (s->trouble & SIM_REPLAY)
		record(s, p);
	if (s->replays && world_chance(&s->random, 100))
		send_again(s, p);
}

void sim_attacker_free(struct sim *s)
{
	u32 i;

	for (i = 0; i < SIM_RECORDED; i++)
		free(s->recorded[i]);
}
