// SPDX-License-Identifier: GPL-2.0
/*
 * Initial inputs of the fuzz targets, made from real packets, requests and scripts:
 *	seeds FOLDER
 * writes to FOLDER/wire, FOLDER/join, FOLDER/packets and FOLDER/user, which must exist. The
 * fuzzer starts from these; its findings are in corpus/.
 */
#include "../unit/network.h"
#include "fuzz.h"
#include "events.h"
#include "user_events.h"

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

/* ---- real packets ---- */

/* One of each type, flags and length; its MAC is recomputed with the target's key. */
static bool write_packet(struct unit_network *n, struct world_packet *p)
{
	const u8 *body = p->data + COLL_WIRE_PREFIX;
	char name[64];

	snprintf(name, sizeof(name), "type-%02x-%02x%02x-%u", body[0], body[2], body[3],
		 p->bytes);
	write_seed("wire", name, 0x80, p->data, p->bytes);
	return false;
}

/* Types and parts are added: a seed must not become a packet that is known. */
static void write_unknown(const char *name, const u8 *packet, u32 bytes)
{
	if (!coll_wire_unknown(packet, bytes)) {
		fprintf(stderr, "seed %s is no packet with an unknown type or part\n", name);
		exit(1);
	}
	write_seed("wire", name, 0x80, packet, bytes);
}

/* The least of another version, and what a later module may send. */
static void later_packets(void)
{
	u8 packet[COLL_WIRE_MIN] = { [0] = COLL_WIRE_VERSION + 1 };

	write_seed("wire", "other-version", 0x80, packet, COLL_WIRE_AT_TAG + 8 + COLL_WIRE_MAC);
	packet[0] = COLL_WIRE_VERSION;
	packet[COLL_WIRE_PREFIX] = COLL_PACKET_MULTICAST + 1;
	write_unknown("unknown-type", packet, sizeof(packet));
	packet[COLL_WIRE_PREFIX] = COLL_PACKET_MESSAGE;
	packet[COLL_WIRE_PREFIX + 3] = COLL_FLAG_POSITION << 1;
	write_unknown("unknown-part", packet, sizeof(packet));
}

static void real_packets(bool multicast)
{
	static struct unit_network n;
	s64 values[3] = { 1, 2, 3 };
	u32 op, i;

	unit_network_init(&n, 3, 1);
	n.tap = write_packet;
	n.world.link.loss = 50;
	n.world.link.duplication = 50;
	n.join.multicast[0] = multicast;
	if (unit_join_all(&n, NULL))
		exit(1);
	for (op = 0; op < 20; op++) {
		for (i = 0; i < n.count; i++) {
			if (op % 2)
				unit_barrier(&n, i);
			else
				unit_allreduce(&n, i, COLLSOCK_INT64, COLLSOCK_SUM, 1 + op % 3,
					       values);
		}
		unit_await_all(&n, NSEC_PER_SEC);
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

static u8 script[1024];
static u32 script_bytes;

#define ADD(...) ({ \
	static const u8 bytes[] = { __VA_ARGS__ }; \
	memcpy(script + script_bytes, bytes, sizeof(bytes)); \
	script_bytes += sizeof(bytes); \
})

/* Number of hosts - 2, window - 1, algorithm, faults */
static void begin(u8 hosts, u8 window, u8 algorithm, u8 faults)
{
	script[0] = hosts - 2;
	script[1] = window - 1;
	script[2] = algorithm;
	script[3] = faults;
	script_bytes = 4;
}

/* Two hosts with this number of consecutive ranks each */
static void begin_shared(u8 locals, bool segments)
{
	begin(2, 4, 0, 0);
	script[0] += 3 * (locals - 1 + 3);
	script[1] += segments ? 8 : 0;
}

static void write_script(const char *name, const char *how)
{
	char full[64];

	snprintf(full, sizeof(full), "%s-%s", name, how);
	write_seed("packets", full, script[0], script + 1, script_bytes - 1);
}

/* Once for each amount of work that an event may do, and once with multicast */
static void end(const char *name)
{
	static const char * const amounts[] = { "0", "1", "2", "3" };
	u8 work;

	for (work = 0; work < 4; work++) {
		script[3] = (script[3] & 0x3f) | work << 6;
		write_script(name, amounts[work]);
	}
	script[1] |= WITH_MULTICAST;
	script[3] &= 0x3f;
	write_script(name, "multicast");
}

/* The group has all algorithms: posts name the one of this number among those of the operation. */
static void with_algorithms(u8 automatic)
{
	script[1] |= WITH_ALGORITHMS;
	script[script_bytes++] = automatic;
}

static u8 algorithm;

static void name_algorithm(void)
{
	if (script[1] & WITH_ALGORITHMS)
		script[script_bytes++] = algorithm;
}

static void post(u8 event, u8 first, u8 last)
{
	u8 host;

	for (host = first; host <= last; host++) {
		script[script_bytes++] = event;
		script[script_bytes++] = host;
		script[script_bytes++] = 0;
		if (event == EVENT_ALLREDUCE) {
			script[script_bytes++] = 0;
			script[script_bytes++] = 3;
		}
		name_algorithm();
	}
}

/* Any operation: posts.h takes it from the cookie. */
static void post_chosen(u64 choice, u8 first, u8 last)
{
	struct collsock_post post = { .cookie = choice << 1 | 1 };
	u8 rank;

	for (rank = first; rank <= last; rank++) {
		script[script_bytes++] = EVENT_POST;
		script[script_bytes++] = rank;
		memcpy(script + script_bytes, &post, sizeof(post));
		script_bytes += sizeof(post);
		name_algorithm();
	}
}

/* An operation with a block for each rank */
static void post_blocks(u8 kind, u8 count, u8 root, u8 first, u8 last)
{
	post_chosen(1 << 15 | (kind | (count - 1) << 2 | root << 10) << 16, first, last);
}

static void post_scan(bool exclusive, u8 count, u8 first, u8 last)
{
	post_chosen(1ULL << 32 | exclusive | (count - 1) << 1, first, last);
}

static void post_rooted(bool reduce, u8 root, u8 first, u8 last)
{
	post_chosen(reduce | root << 2, first, last);
}

static void run(u8 logarithm)
{
	script[script_bytes++] = EVENT_RUN;
	script[script_bytes++] = logarithm;
}

#define ABOUT_1_MS	10
#define ABOUT_130_MS	17

/* Three hosts that have heard from each other */
static void begin_usual(void)
{
	begin(3, 4, 0, 0);
	post(EVENT_BARRIER, 0, 2);
	run(ABOUT_1_MS);
}

static void scripts_of_hosts(void)
{
	begin_usual();
	post(EVENT_ALLREDUCE, 0, 2);
	run(ABOUT_1_MS);
	post(EVENT_BARRIER, 0, 2);
	post(EVENT_ALLREDUCE, 0, 2);
	run(ABOUT_130_MS);
	end("operations");

	begin(4, 4, 1, 0x15);
	post(EVENT_BARRIER, 0, 3);
	post(EVENT_ALLREDUCE, 0, 3);
	run(ABOUT_130_MS);
	end("loss");

	begin_usual();
	post(EVENT_BARRIER, 0, 1);
	ADD(EVENT_LEAVE, 2);
	run(ABOUT_130_MS);
	post(EVENT_BARRIER, 1, 1);
	end("leave");

	begin_usual();
	ADD(EVENT_CUT, 1);
	post(EVENT_BARRIER, 0, 0);
	post(EVENT_BARRIER, 2, 2);
	run(ABOUT_130_MS);
	ADD(EVENT_CUT, 1);
	post(EVENT_BARRIER, 1, 1);
	run(ABOUT_130_MS);
	end("silence");

	begin(3, 4, 8, 0);
	post(EVENT_BARRIER, 0, 1);
	run(ABOUT_130_MS);
	run(ABOUT_130_MS);
	end("never-heard");

	begin(3, 4, 0, 0);
	post(EVENT_BARRIER, 0, 0);
	post(EVENT_ALLREDUCE, 1, 2);
	run(ABOUT_1_MS);
	end("disagree");

	begin_usual();
	ADD(EVENT_RESTART, 1);
	post(EVENT_BARRIER, 0, 2);
	run(ABOUT_130_MS);
	end("restart");

	begin_usual();
	post(EVENT_BARRIER, 0, 2);
	ADD(EVENT_STEP, 1, EVENT_FAIL, 0, 1, 2);
	run(ABOUT_1_MS);
	end("fail");

	begin(2, 1, 0, 0);
	post(EVENT_BARRIER, 0, 0);
	run(ABOUT_1_MS);
	post(EVENT_BARRIER, 1, 1);
	post(EVENT_BARRIER, 1, 1);
	run(ABOUT_1_MS);
	ADD(EVENT_JOIN_NOTICE, 0, 1, EVENT_EXPIRE, 0);
	run(ABOUT_130_MS);
	end("window");
}

static void scripts_of_siblings(void)
{
	begin_shared(3, true);
	post(EVENT_BARRIER, 0, 5);
	ADD(EVENT_ALLREDUCE, 3, 0, 0, 25, EVENT_ALLREDUCE, 1, 0, 0, 25);
	ADD(EVENT_ALLREDUCE, 0, 0, 0, 25, EVENT_ALLREDUCE, 5, 0, 0, 25);
	ADD(EVENT_ALLREDUCE, 2, 0, 0, 25, EVENT_ALLREDUCE, 4, 0, 0, 25);
	run(ABOUT_1_MS);
	end("segments");

	begin_shared(2, false);
	post(EVENT_BARRIER, 0, 3);
	post(EVENT_BARRIER, 0, 2);
	ADD(EVENT_LEAVE, 3);
	run(ABOUT_130_MS);
	post(EVENT_BARRIER, 2, 2);
	ADD(EVENT_LEAVE, 2);
	run(ABOUT_130_MS);
	end("sibling-leaves");

	begin_shared(2, false);
	script[2] = 8;
	post(EVENT_BARRIER, 0, 2);
	run(ABOUT_130_MS);
	ADD(EVENT_LEAVE, 3);
	post(EVENT_BARRIER, 3, 3);
	run(ABOUT_130_MS);
	end("sibling-late");

	begin_shared(2, false);
	post(EVENT_BARRIER, 0, 2);
	post(EVENT_ALLREDUCE, 3, 3);
	run(ABOUT_1_MS);
	end("siblings-disagree");
}

/* Two hosts with two ranks each, in turn; then with vectors of several segments */
static void scripts_of_blocks(void)
{
	u8 kind;

	begin(2, 4, 0, 0);
	script[0] += 3;
	for (kind = 0; kind < 4; kind++)
		post_blocks(kind, 1 + kind, kind, 0, 3);
	run(ABOUT_130_MS);
	end("blocks");

	begin(2, 4, 0, 0x15);
	script[0] += 3;
	script[1] += 8;
	for (kind = 0; kind < 4; kind++)
		post_blocks(kind, 50, 3 - kind, 0, 3);
	run(ABOUT_130_MS);
	end("blocks-in-segments");
}

/* Three hosts with two ranks each, in their order; then four with vectors of several segments */
static void scripts_of_scans(void)
{
	u8 exclusive;

	begin(3, 4, 0, 0);
	script[0] += 3 * (1 + 3);
	for (exclusive = 0; exclusive < 2; exclusive++)
		post_scan(exclusive, 3, 0, 5);
	run(ABOUT_130_MS);
	end("scans");

	begin(4, 4, 0, 0x15);
	script[1] += 8;
	for (exclusive = 0; exclusive < 2; exclusive++)
		post_scan(exclusive, 50, 0, 3);
	run(ABOUT_130_MS);
	end("scans-in-segments");
}

/* Four hosts, by all algorithms; those with a root by one each, as scripts may not be long */
static void scripts_of_algorithms(void)
{
	static const char * const names[] = { "auto", "first", "second", "third" };
	u8 reduce;

	begin(4, 4, 0, 0);
	with_algorithms(5);
	for (algorithm = 1; algorithm <= 6; algorithm++) {
		post(EVENT_BARRIER, 0, 3);
		run(ABOUT_1_MS);
	}
	end("barriers-by-name");

	begin(4, 4, 0, 0);
	script[1] |= 8;
	with_algorithms(6);
	for (algorithm = 1; algorithm <= 6; algorithm++) {
		post(EVENT_ALLREDUCE, 0, 3);
		run(ABOUT_1_MS);
	}
	end("allreduces-by-name");

	for (algorithm = 0; algorithm < ARRAY_SIZE(names); algorithm++)
		for (reduce = 0; reduce < 2; reduce++) {
			begin(4, 4, 0, 0);
			with_algorithms(3);
			post_rooted(reduce, 2, 0, 3);
			run(ABOUT_1_MS);
			write_script(reduce ? "reduce-by-name" : "broadcast-by-name",
				     names[algorithm]);
		}
}

static void scripts_of_attackers(void)
{
	begin(3, 4, 0, 0);
	post(EVENT_ALLREDUCE, 0, 2);
	ADD(EVENT_CHANGED, 0, 0x10, 70, 1);
	/* round and operation; number of the packet */
	ADD(EVENT_CHANGED, 0, CHANGE_RESEAL | 0x20, 58, 1, 55, 2);
	ADD(EVENT_CHANGED, 0, CHANGE_RESEAL | 0x10, 46, 1);
	ADD(EVENT_REPLAY, 0, 0, EVENT_REPLAY, 1, 3);
	ADD(EVENT_CHANGED, 0, CHANGE_LENGTH | CHANGE_RESEAL, 0xf8);
	ADD(EVENT_DROP, 0);
	run(ABOUT_1_MS);
	end("changed");

	begin_usual();
	ADD(EVENT_SEALED, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 1);
	ADD(EVENT_SEALED, 1, 0, 0, 2, 0, 3, 0, 0, 0, 0, 0, 0, 0);
	ADD(EVENT_RAW, 0, 1, COLL_WIRE_MIN, COLL_WIRE_VERSION, 0, 0, 0);
	run(ABOUT_1_MS);
	end("sealed");
}

/* ---- ranks in user space ---- */

static void user_requests(void)
{
	struct {
		struct collsock_join	join;
		struct collsock_member	members[2];
		u32			host_of_rank[2];
	} __packed r = {
		.join = { .size = sizeof(r.join), .id = 1, .nonce = 2, .key = { 3 }, .hosts = 2,
			  .ranks = 2, .window = 4, .max_bytes = 96 },
		.members = { { .family = 2, .address = { 127, 0, 0, 1 } },
			     { .family = 2, .address = { 127, 0, 0, 1 }, .port = 7609 } },
		.host_of_rank = { 0, 1 },
	};

	write_seed("user", "two-hosts", USER_JOINS, &r, sizeof(r));
	write_seed("user", "cut", USER_JOINS, &r, sizeof(r) - sizeof(u32));
	r.host_of_rank[1] = 0;
	write_seed("user", "host-without-rank", USER_JOINS, &r, sizeof(r));
	r.join.size += 8;
	write_seed("user", "longer", USER_JOINS, &r, sizeof(r));
}

static void begin_user(void)
{
	script_bytes = 0;
	ADD(0, 3);
}

static void end_user(const char *name)
{
	write_seed("user", name, script[0], script + 1, script_bytes - 1);
}

static void scripts_of_users(void)
{
	begin_user();
	ADD(USER_EVENT_POST, 0, 0, 0, USER_EVENT_POST, 0, 1, 0, USER_EVENT_TIME, 10);
	ADD(USER_EVENT_RECEIVE, 0, 0, USER_EVENT_RECEIVE, 1, 1);
	ADD(USER_EVENT_POST, 1, 0, 3, USER_EVENT_ARRIVE, 1, USER_EVENT_POST, 2, 0, 0);
	ADD(USER_EVENT_POST, 1, 1, 3, USER_EVENT_POST, 2, 1, 0, USER_EVENT_TIME, 20);
	ADD(USER_EVENT_RECEIVE, 0, 2, 2, USER_EVENT_RECEIVE, 0, 2, 1, USER_EVENT_RECEIVE, 1, 0);
	end_user("operations");

	begin_user();
	ADD(USER_EVENT_POST, 0, 0, 0, USER_EVENT_CLOSE, 1, USER_EVENT_TIME, 23);
	ADD(USER_EVENT_RECEIVE, 0, 0, USER_EVENT_POST, 0, 0, 0);
	end_user("close");

	begin_user();
	ADD(USER_EVENT_POST, 0, 1, 1, USER_EVENT_SHUTDOWN, 1, USER_EVENT_TIME, 16);
	ADD(USER_EVENT_POST, 0, 0, 2, USER_EVENT_RECEIVE, 0, 1, USER_EVENT_RECEIVE, 0, 1);
	end_user("disagree");

	begin_user();
	ADD(USER_EVENT_MESSAGE, 0, 33, 1, 32, 0, 0, 0, 1, USER_EVENT_RECEIVE, 0, 0);
	ADD(USER_EVENT_MESSAGE, 0, 0, 0, USER_EVENT_MESSAGE, 1, 255, 7, 32, USER_EVENT_TIME, 9);
	end_user("messages");

	begin_user();
	ADD(USER_EVENT_PACKET, 0, COLL_WIRE_MIN, 0, COLL_WIRE_VERSION, 0, 0, 0);
	ADD(USER_EVENT_ARRIVE, 0, USER_EVENT_PACKET, 0, 0, 1, USER_EVENT_TIME, 1);
	end_user("raw");

	begin_user();
	ADD(USER_EVENT_SEALED, 0, 32, 0, COLL_PACKET_MESSAGE, 0, 0, 0, 0x7f, 0xff, 0x7f, 0xff);
	ADD(0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0);
	ADD(USER_EVENT_ARRIVE, 0, USER_EVENT_SEALED, 1, 0, 1, 0, 1, USER_EVENT_TIME, 8);
	end_user("sealed");
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: seeds FOLDER\n");
		return 2;
	}
	folder = argv[1];
	real_packets(false);
	real_packets(true);
	later_packets();
	requests();
	scripts_of_hosts();
	scripts_of_siblings();
	scripts_of_blocks();
	scripts_of_scans();
	scripts_of_algorithms();
	scripts_of_attackers();
	user_requests();
	scripts_of_users();
	return 0;
}
