// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "names.h"
#include "seed.h"
#include "shapes.h"

const struct coll_algorithm *next_algorithm(const struct coll_algorithm *a)
{
	u32 next = a ? coll_registry_position(a->operation, a->algorithm) + 1 : 0;

	return next < coll_registry_count ? coll_registry[next] : NULL;
}

/* Largest group for which the algorithm can be built */
static u32 shapes_limit(const struct coll_algorithm *a)
{
	return a->most_hosts ?: COLLSOCK_MAX_HOSTS;
}

/* Every number of hosts, then larger ones up to @most; 0 after the last. */
static u32 shapes_size(u32 i, u32 most)
{
	static const u32 larger[] = {
		767, 1000, 1024, COLLSOCK_MAX_KARY_HOSTS, 4097, COLLSOCK_MAX_HOSTS,
	};

	if (i < SHAPES_EACH_SIZE)
		return i < most ? i + 1 : 0;
	i -= SHAPES_EACH_SIZE;
	return i < ARRAY_SIZE(larger) && larger[i] <= most ? larger[i] : 0;
}

u32 shapes_degree(const struct coll_algorithm *a, u32 i, u32 hosts)
{
	if (i < 15 && i + 2 <= a->most_degree)
		return i + 2;
	if (i == 15 && a->most_degree > 16)
		return a->most_degree;
	return i == 16 && hosts > 17 && hosts <= a->most_degree ? hosts - 1 : 0;
}

/*
 * Every root of a small group; of a larger one both ends, the middle, and a random one.
 * With a degree the larger ones have one of these in turn, unless there is time for all.
 */
static bool shapes_root(struct shapes *s, u32 i)
{
	u32 hosts = s->shape.hosts;
	const u32 some[] = { 0, 1, hosts / 2, hosts - 1, seed_next(&s->random) % hosts };

	if (hosts <= SHAPES_EACH_ROOT) {
		s->shape.root = i;
		return i < hosts;
	}
	if (s->algorithm->most_degree && seed_soak() == 1) {
		s->shape.root = some[(hosts + s->degree) % ARRAY_SIZE(some)];
		return !i;
	}
	s->shape.root = some[i % ARRAY_SIZE(some)];
	return i < ARRAY_SIZE(some);
}

static bool shapes_first_root(struct shapes *s)
{
	s->root = 0;
	s->shape.root = 0;
	return !coll_algorithm_rooted(s->algorithm) || shapes_root(s, 0);
}

/* Another shape of the same size. */
static bool shapes_next_of_size(struct shapes *s)
{
	if (coll_algorithm_rooted(s->algorithm) && shapes_root(s, ++s->root))
		return true;
	if (!s->algorithm->most_degree)
		return false;
	s->shape.degree = shapes_degree(s->algorithm, ++s->degree, s->shape.hosts);
	return s->shape.degree && shapes_first_root(s);
}

static bool shapes_draw(struct shapes *s)
{
	const struct coll_algorithm *a = s->algorithm;

	if (a->most_degree)
		s->shape.degree = shapes_degree(a, seed_next(&s->random) %
						min(a->most_degree - 1, 16), s->shape.hosts);
	if (coll_algorithm_rooted(a))
		s->shape.root = seed_next(&s->random) % s->shape.hosts;
	return s->drawn++ < (a->most_degree || coll_algorithm_rooted(a) ? s->draws : 1);
}

/* With fewer sizes, the largest ones are not left out. */
static u32 shapes_next_size(struct shapes *s)
{
	u32 step = 1;

	if (s->fewer && seed_soak() == 1 && s->size + 1 >= SHAPES_EACH_DRAWN &&
	    s->size < SHAPES_EACH_SIZE)
		step = min(1 + (u32)(seed_next(&s->random) % SHAPES_MOST_STEP),
			   SHAPES_EACH_SIZE - s->size);
	return s->size + step;
}

bool shapes_next(struct shapes *s)
{
	const struct coll_algorithm *a = s->algorithm;

	if (s->shape.hosts) {
		if (s->draws ? shapes_draw(s) : shapes_next_of_size(s))
			return true;
		s->size = shapes_next_size(s);
	}
	s->shape.hosts = shapes_size(s->size, min(s->most_hosts, shapes_limit(a)));
	if (!s->shape.hosts)
		return false;
	s->degree = 0;
	s->drawn = 0;
	s->shape.degree = shapes_degree(a, 0, s->shape.hosts);
	return s->draws ? shapes_draw(s) : shapes_first_root(s);
}

u32 shapes_rounds(const struct coll_algorithm *a, const struct coll_shape *shape)
{
	struct coll_schedule s;

	return a->build(&s, shape) ? -1U : s.rounds;
}

const char *shapes_text(const struct coll_algorithm *a, const struct coll_shape *shape)
{
	static char text[200];

	snprintf(text, sizeof(text), "%s by %s, %u hosts, root %u, degree %u",
		 operation_name(a->operation), algorithm_name(a), shape->hosts, shape->root,
		 shape->degree);
	return text;
}
