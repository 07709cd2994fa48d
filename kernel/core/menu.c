// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "menu.h"

/* Degrees are compared by their bit in a mask; 0, of an algorithm without one, has none. */
static bool menu_has_degree(u64 degrees, u32 degree)
{
	return degree && degrees & COLLSOCK_DEGREE(degree);
}

/*
 * The degree that 0 means in a post. An algorithm whose largest degree is lower has that one
 * instead.
 */
static u32 menu_usual_degree(const struct coll_menu *menu, const struct coll_algorithm *a)
{
	u32 usual = coll_algorithm_usual_degree(a, menu->hosts);

	return min_t(u32, menu->degree ?: usual, a->most_degree);
}

/* May posts name it? */
static bool menu_names(const struct coll_menu *menu, const struct coll_algorithm *a, u32 degree)
{
	return degree == menu_usual_degree(menu, a) || menu_has_degree(menu->degrees, degree);
}

/* What COLLSOCK_AUTO means together with a degree; a degree of 0 leaves that one unchanged */
static struct coll_choice menu_automatic(const struct coll_menu *menu, u32 operation, u32 degree,
					 enum coll_length length)
{
	if (menu->automatic[operation])
		return (struct coll_choice) { .algorithm = menu->automatic[operation] };
	if (menu->multicast && !degree && coll_operation_gathers(operation, menu->hosts, length))
		return (struct coll_choice) { .algorithm = COLLSOCK_KARY };
	return coll_operations[operation].choose(menu->hosts, degree, length);
}

static bool menu_has_length(const struct coll_menu *menu, u32 operation, enum coll_length length)
{
	return length != COLL_LONG || menu->medium_bytes[operation] != COLL_NEVER_LONG;
}

static enum coll_length menu_length(const struct coll_menu *menu, u32 operation, u32 bytes)
{
	if (bytes <= menu->short_bytes)
		return COLL_SHORT;
	return bytes <= menu->medium_bytes[operation] ? COLL_MEDIUM : COLL_LONG;
}

/* The algorithms that posts may name if the request names none */
static u64 menu_usual_algorithms(void)
{
	u64 algorithms = ~0ULL;
	u32 i;

	for (i = 0; i < coll_registry_count; i++)
		if (coll_registry[i]->by_name)
			algorithms &= ~BIT_ULL(coll_registry[i]->algorithm);
	return algorithms;
}

/*
 * Is it what COLLSOCK_AUTO means for an operation, together with a degree? A post that names no
 * degree gets the usual one. A post that names one gets an algorithm that has it.
 */
static bool menu_chooses(const struct coll_menu *menu, u32 operation,
			 const struct coll_algorithm *a, u32 degree, enum coll_length length)
{
	struct coll_choice usual = menu_automatic(menu, operation, menu->degree, length);

	if (degree && menu_names(menu, a, degree) &&
	    menu_automatic(menu, operation, degree, length).algorithm == a->algorithm)
		return true;
	return usual.algorithm == a->algorithm &&
	       degree == (usual.degree ?: menu_usual_degree(menu, a));
}

/* Is it what COLLSOCK_AUTO means for some operation with some vector? */
static bool menu_means(const struct coll_menu *menu, const struct coll_algorithm *a, u32 degree)
{
	u32 i, length;

	for (i = 0; i < COLL_MAX_OPERATIONS; i++) {
		if (coll_registry_find(i, a->algorithm) != a)
			continue;
		for (length = 0; length < COLL_LENGTHS; length++)
			if (menu_has_length(menu, i, length) &&
			    menu_chooses(menu, i, a, degree, length))
				return true;
	}
	return false;
}

/* Can a group whose ranks are placed like these have the operation? */
static bool menu_can(const struct coll_menu *menu, u32 operation)
{
	return !menu->scattered || !coll_operations[operation].prefix;
}

/**
 * coll_menu_offers() - may an operation use this algorithm with this degree?
 * @menu: of the group
 * @a: the algorithm
 * @degree: anything
 *
 * It may if posts may name both, or get it where they name no algorithm.
 */
bool coll_menu_offers(const struct coll_menu *menu, const struct coll_algorithm *a, u32 degree)
{
	if (!coll_algorithm_fits(a, menu->hosts, degree) || !menu_can(menu, a->operation))
		return false;
	return (menu->algorithms >> a->algorithm & 1 && menu_names(menu, a, degree)) ||
	       menu_means(menu, a, degree);
}

/* ---- choices ---- */

/**
 * coll_menu_search() - find out how the operation of a post is carried out
 * @menu: of the group
 * @post: its operation exists, all else may be anything
 * @bytes: of the operation's vector
 * @choice: out
 *
 * Return: 0; -EINVAL if there is no such algorithm, posts may not name it, or it cannot have
 * this degree; -ERANGE if it could, but JOIN has not reserved for this degree; -EOPNOTSUPP if the
 * operation wants ranks placed on hosts in their order, and they are not. Context: any.
 */
int coll_menu_search(const struct coll_menu *menu, const struct collsock_post *post, u32 bytes,
		     struct coll_choice *choice)
{
	struct coll_choice meant = { .algorithm = post->algorithm };
	const struct coll_algorithm *a;
	u32 degree;

	if (!menu_can(menu, post->operation))
		return -EOPNOTSUPP;
	if (!meant.algorithm)
		meant = menu_automatic(menu, post->operation, post->degree ?: menu->degree,
				       menu_length(menu, post->operation, bytes));
	a = coll_registry_find(post->operation, meant.algorithm);
	if (!a || (post->algorithm && !(menu->algorithms >> a->algorithm & 1)))
		return -EINVAL;
	degree = post->degree ?: meant.degree ?: menu_usual_degree(menu, a);
	if (!coll_algorithm_fits(a, menu->hosts, degree))
		return -EINVAL;
	if (!coll_menu_offers(menu, a, degree) || (post->degree && !menu_names(menu, a, degree)))
		return -ERANGE;
	choice->algorithm = meant.algorithm;
	choice->degree = degree;
	return 0;
}

/* Set which vectors of an operation are long, if the group has vectors of that length. */
static void menu_init_medium(struct coll_menu *menu, u32 operation, const struct collsock_join *j)
{
	u32 max_bytes = coll_operation_moves(operation) ? j->max_result_bytes : j->max_bytes;
	u32 medium = coll_operation_medium(operation, menu->hosts);

	menu->medium_bytes[operation] = medium < max_bytes ? medium : COLL_NEVER_LONG;
}

/* Set what posts of an operation get that name no degree. */
static void menu_init_usual(struct coll_menu *menu, u32 operation)
{
	struct collsock_post post = { .operation = operation };

	coll_menu_search(menu, &post, menu->short_bytes, &menu->usual_short[operation]);
	if (menu_has_length(menu, operation, COLL_LONG))
		coll_menu_search(menu, &post, menu->medium_bytes[operation] + 1,
				 &menu->usual_long[operation]);
	for (; post.algorithm < COLL_MAX_ALGORITHMS; post.algorithm++)
		coll_menu_search(menu, &post, menu->short_bytes + 1,
				 &menu->usual[operation][post.algorithm]);
}

/**
 * coll_menu_scatter() - the ranks of the group are not placed on hosts in their order
 * @menu: of the group
 *
 * Posts of operations that need that order are refused on all hosts, and nothing is reserved
 * for these operations.
 */
void coll_menu_scatter(struct coll_menu *menu)
{
	u32 i;

	menu->scattered = true;
	for (i = 0; i < COLL_MAX_OPERATIONS; i++)
		if (!menu_can(menu, i)) {
			memset(menu->usual[i], 0, sizeof(menu->usual[i]));
			menu->usual_short[i] = (struct coll_choice) {};
			menu->usual_long[i] = (struct coll_choice) {};
		}
}

/**
 * coll_menu_init() - the menu that a request to join describes
 * @menu: out
 * @j: the request, with its @max_bytes and @max_result_bytes filled in; what is meaningless in it
 *	makes a menu that coll_menu_valid() refuses
 */
void coll_menu_init(struct coll_menu *menu, const struct collsock_join *j)
{
	u32 i;

	memset(menu, 0, sizeof(*menu));
	menu->algorithms = j->algorithms ?: menu_usual_algorithms();
	menu->degrees = j->degrees;
	menu->hosts = j->hosts;
	menu->multicast = coll_menu_multicasts(j);
	menu->short_bytes = coll_operation_short(j->hosts);
	menu->degree = j->degree;
	memcpy(menu->automatic, j->algorithm, sizeof(menu->automatic));
	for (i = 0; i < COLL_MAX_OPERATIONS; i++)
		if (coll_operation_find(i)) {
			menu_init_medium(menu, i, j);
			menu_init_usual(menu, i);
		}
}

/* ---- requests to join ---- */

/* Is there a choice for posts that name neither an algorithm nor a degree? */
static bool menu_has_usual(const struct coll_menu *menu, u32 operation)
{
	return menu->usual[operation][COLLSOCK_AUTO].algorithm &&
	       menu->usual_short[operation].algorithm &&
	       (!menu_has_length(menu, operation, COLL_LONG) ||
		menu->usual_long[operation].algorithm);
}

/* Is there a row with this algorithm, or any with COLLSOCK_AUTO, that has one of @degrees? */
static bool menu_offers_any(const struct coll_menu *menu, u32 algorithm, u64 degrees)
{
	const struct coll_algorithm *a;
	u32 i, degree;

	for (i = 0; i < coll_registry_count; i++) {
		a = coll_registry[i];
		if (algorithm && a->algorithm != algorithm)
			continue;
		for (degree = 0; degree <= a->most_degree; degree++)
			if ((!degrees || menu_has_degree(degrees, degree)) &&
			    coll_menu_offers(menu, a, degree))
				return true;
	}
	return false;
}

/**
 * coll_menu_valid() - can a group have this menu?
 * @menu: what coll_menu_init() made of
 * @j: this request
 *
 * Each operation needs an algorithm, and what the request names must exist for some
 * operation of a group of this size.
 */
bool coll_menu_valid(const struct coll_menu *menu, const struct collsock_join *j)
{
	u32 i;

	if (j->degree == 1 || j->degree > COLLSOCK_MAX_DEGREE)
		return false;
	for (i = 0; i < COLL_MAX_OPERATIONS; i++)
		if (coll_operation_find(i) ? !menu_has_usual(menu, i) : j->algorithm[i])
			return false;
	for (i = 0; i < 64; i++)
		if (j->algorithms & BIT_ULL(i) && (!i || !menu_offers_any(menu, i, 0)))
			return false;
	for (i = 0; i < 64; i++)
		if (j->degrees & BIT_ULL(i) && !menu_offers_any(menu, COLLSOCK_AUTO, BIT_ULL(i)))
			return false;
	return true;
}

/* ---- needs ---- */

static void menu_need_hosts(struct coll_needs *needs, const struct coll_schedule *s)
{
	u32 i;

	for (i = 0; i < s->sends; i++)
		coll_hosts_add(needs->hosts, s->send[i].host);
	for (i = 0; i < s->folds; i++)
		if (s->fold[i].host != s->self)
			coll_hosts_add(needs->hosts, s->fold[i].host);
}

/* @scratch has room for any schedule. */
static int menu_need_shape(struct coll_needs *needs, const struct coll_algorithm *a,
			   const struct coll_shape *shape, struct coll_schedule *scratch)
{
	struct coll_room *room = coll_operation_moves(a->operation) ? &needs->moves : &needs->room;
	int err;

	if (coll_algorithm_rooted(a)) {
		a->peers(shape, needs->hosts);
		a->room(shape, room);
		return 0;
	}
	err = a->build(scratch, shape);
	if (err)
		return err;
	menu_need_hosts(needs, scratch);
	coll_schedule_room(scratch, room);
	return 0;
}

/**
 * coll_menu_need() - what a host must reserve for any post
 * @menu: of the group
 * @self: the host
 * @scratch: room for a schedule, overwritten
 * @needs: grown to what any operation with any choice and any root needs
 *
 * Return: 0, or the error of an algorithm that cannot be built. Context: any.
 */
int coll_menu_need(const struct coll_menu *menu, u32 self, struct coll_schedule *scratch,
		   struct coll_needs *needs)
{
	struct coll_shape shape = { .hosts = menu->hosts, .self = self };
	const struct coll_algorithm *a;
	u32 i;
	int err = 0;

	for (i = 0; i < coll_registry_count; i++) {
		a = coll_registry[i];
		for (shape.degree = 0; !err && shape.degree <= a->most_degree; shape.degree++)
			if (coll_menu_offers(menu, a, shape.degree))
				err = menu_need_shape(needs, a, &shape, scratch);
	}
	return err;
}
