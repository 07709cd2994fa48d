// SPDX-License-Identifier: GPL-2.0
/*
 * First inputs of the fuzz targets, made of real packets, requests and scripts:
 *	seeds FOLDER
 * writes FOLDER/wire, FOLDER/join and FOLDER/packets, which exist. The fuzzer finds
 * its way from there; what it found is beside them in corpus/.
 */
#include "../unit/network.h"
#include "fuzz.h"
#include "events.h"

static const char *folder;

static void write_seed(const char *target, const char *name, u8 first, const void *data,
		       u32 bytes)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/seed-%s", folder, target, name);
	file = fopen(path, "wb");
	if (!file || fwrite(&first, 1, 1, file) != 1 || fwrite(data, 1, bytes, file) != bytes ||
	    fclose(file)) {
		perror(path);
		exit(1);
	}
}

/* ---- packets as they are sent ---- */

/* One of each type, flags and length; sealed anew with the target's key. */
static bool write_packet(struct unit_network *n, struct world_packet *p)
{
	char name[64];

	snprintf(name, sizeof(name), "type-%02x-%u", p->data[COLL_WIRE_PREFIX], p->bytes);
	write_seed("wire", name, 0x80, p->data, p->bytes);
	return false;
}

static void real_packets(void)
{
	static struct unit_network n;
	s64 values[3] = { 1, 2, 3 };
	u32 op, i;

	unit_network_init(&n, 3, 1);
	n.tap = write_packet;
	n.world.link.loss = 50;
	n.world.link.duplication = 50;
	if (unit_join_all(&n, NULL))
		exit(1);
	for (op = 0; op < 20; op++) {
		for (i = 0; i < n.count; i++) {
			if (op % 2)
				unit_barrier(&n, i);
			else
				unit_post(&n, i, COLLSOCK_ALLREDUCE, COLLSOCK_INT64, COLLSOCK_SUM,
					  1 + op % 3, COLLSOCK_AUTO, values);
		}
		unit_await_all(&n, op, NSEC_PER_SEC);
	}
	for (i = 0; i < n.count; i++)
		unit_leave(&n, i);
	unit_run(&n, 5 * (u64)NSEC_PER_SEC);
	unit_network_free(&n);
}

/* ---- requests ---- */

struct plain_request {
	struct collsock_join	join;
	struct collsock_member	members[3];
	u32			ranks[3];
	struct {
		u8			form;
		struct collsock_post	post;
	} __packed		posts[3];
} __packed;

static void requests(void)
{
	struct plain_request r = {
		.join = { .size = sizeof(r.join), .id = 1, .nonce = 2, .hosts = 3, .ranks = 3,
			  .rank = 1, .window = 4, .max_bytes = 96 },
		.members = { { .family = 2, .address = { 10, 1, 0, 1 } },
			     { .family = 2, .address = { 10, 1, 0, 2 } },
			     { .family = 2, .address = { 10, 1, 0, 3 }, .port = 7000 } },
		.ranks = { 0, 1, 2 },
		.posts = { { 7, { .size = 32, .operation = COLLSOCK_BARRIER } },
			   { 7, { .size = 32, .operation = COLLSOCK_ALLREDUCE, .type = 3, .op = 1,
				  .count = 5 } },
			   { 4, { .size = 32, .operation = COLLSOCK_BARRIER, .algorithm = 1,
				  .cookie = 9 } } },
	};
	u32 i;

	write_seed("join", "three-hosts", 0, &r, sizeof(r));
	for (i = 0; i < 3; i++) {
		r.members[i].family = 10;
		r.members[i].address[0] = 0xfe;
		r.members[i].address[1] = 0x80;
		r.members[i].address[15] = i;
		r.members[i].scope_id = 2;
	}
	write_seed("join", "ipv6", 0, &r, sizeof(r));
	r.join.hosts = 1;
	r.join.ranks = 1;
	r.join.rank = 0;
	memmove(&r.members[1], r.ranks, sizeof(r) - offsetof(struct plain_request, ranks));
	write_seed("join", "one-host", 0, &r, sizeof(r) - 2 * sizeof(r.members[0]));
}

/* ---- scripts ---- */

#define SCRIPT(name, ...) ({ \
	static const u8 script[] = { __VA_ARGS__ }; \
	write_seed("packets", name, script[0], script + 1, sizeof(script) - 1); \
})

/* Hosts less two, window less one, algorithm, faults. */
#define THREE_HOSTS	1, 3, 0, 0
#define BARRIER(host)	EVENT_BARRIER, host, 0
#define SUM(host)	EVENT_ALLREDUCE, host, 0, 0, 3
#define RUN_1_MS	EVENT_RUN, 10
#define RUN_130_MS	EVENT_RUN, 17
#define EVERYONE(post)	post(0), post(1), post(2)

static void scripts(void)
{
	SCRIPT("operations", THREE_HOSTS, EVERYONE(BARRIER), RUN_1_MS, EVERYONE(SUM), RUN_1_MS,
	       EVERYONE(BARRIER), EVERYONE(SUM), RUN_130_MS);
	SCRIPT("loss", 2, 3, 1, 0x15, BARRIER(0), BARRIER(1), BARRIER(2), BARRIER(3), SUM(0),
	       SUM(1), SUM(2), SUM(3), RUN_130_MS);
	SCRIPT("leave", THREE_HOSTS, EVERYONE(BARRIER), RUN_1_MS, BARRIER(0), BARRIER(1),
	       EVENT_LEAVE, 2, RUN_130_MS, BARRIER(1));
	SCRIPT("silence", THREE_HOSTS, EVERYONE(BARRIER), RUN_1_MS, EVENT_CUT, 1, BARRIER(0),
	       BARRIER(2), RUN_130_MS, EVENT_CUT, 1, BARRIER(1), RUN_130_MS);
	SCRIPT("never-heard", THREE_HOSTS, EVENT_CUT, 1, BARRIER(0), RUN_130_MS, RUN_130_MS);
	SCRIPT("disagree", THREE_HOSTS, BARRIER(0), SUM(1), SUM(2), RUN_1_MS);
	SCRIPT("restart", THREE_HOSTS, EVERYONE(BARRIER), RUN_1_MS, EVENT_RESTART, 1,
	       EVERYONE(BARRIER), RUN_130_MS);
	SCRIPT("fail", THREE_HOSTS, EVERYONE(BARRIER), EVENT_STEP, 1, EVENT_FAIL, 0, 1, 2,
	       RUN_1_MS);
	SCRIPT("window", 0, 0, 0, 0, BARRIER(0), RUN_1_MS, BARRIER(1), BARRIER(1), RUN_1_MS,
	       EVENT_NUDGE, 0, 1, EVENT_EXPIRE, 0, RUN_130_MS);
	SCRIPT("changed", THREE_HOSTS, EVERYONE(SUM), EVENT_CHANGED, 0, 0x10, 70, 1, EVENT_CHANGED,
	       0, CHANGE_RESEAL | 0x20, 33, 1, 51, 2, EVENT_REPLAY, 0, 0,
	       EVENT_CHANGED, 0, CHANGE_LENGTH | CHANGE_RESEAL, 0xf8, EVENT_DROP, 0, RUN_1_MS);
	SCRIPT("sealed", THREE_HOSTS, EVERYONE(BARRIER), EVENT_SEALED, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1,
	       0, 0, 1, EVENT_SEALED, 1, 0, 0, 2, 0, 3, 0, 0, 0, 0, 0, 0, 0, EVENT_RAW, 0, 1, 64, 1,
	       0, 0, 0, RUN_1_MS);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: seeds FOLDER\n");
		return 2;
	}
	folder = argv[1];
	real_packets();
	requests();
	scripts();
	return 0;
}
