// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/collsock_netlink.h>

#include "../../kernel/core/report.h"
#include "../../kernel/udp_bearer.h"
#include "file_size.h"
#include "user_member.h"
#include "user_directory.h"
#include "user_report.h"

#define FIRST_ROOM	4096
#define SEALS		(F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* ---- messages and attributes ---- */

/* Zeros at the end of a report, or NULL */
static u8 *report_extend(struct user_report *r, size_t bytes)
{
	size_t room = r->room ? r->room : FIRST_ROOM;
	u8 *data;

	while (room < r->bytes + bytes)
		room *= 2;
	data = room == r->room ? r->data : realloc(r->data, room);
	if (!data) {
		r->failed = true;
		return NULL;
	}
	r->data = data;
	r->room = room;
	memset(data + r->bytes, 0, bytes);
	r->bytes += bytes;
	return data + r->bytes - bytes;
}

static void report_put(struct user_report *r, u16 type, const void *value, size_t bytes)
{
	const struct nlattr head = { .nla_len = NLA_HDRLEN + bytes, .nla_type = type };
	u8 *at = report_extend(r, NLA_ALIGN(head.nla_len));

	if (!at)
		return;
	memcpy(at, &head, sizeof(head));
	if (bytes)
		memcpy(at + NLA_HDRLEN, value, bytes);
}

static void report_put_u32(struct user_report *r, u16 type, u32 value)
{
	report_put(r, type, &value, sizeof(value));
}

static void report_put_u64(struct user_report *r, u16 type, u64 value)
{
	report_put(r, type, &value, sizeof(value));
}

static bool report_write_attribute(void *message, u16 type, const void *value, u32 bytes)
{
	struct user_report *r = message;

	report_put(r, type, value, bytes);
	return !r->failed;
}

static bool report_write_u64(void *message, u16 type, u64 value, u16 pad)
{
	return report_write_attribute(message, type, &value, sizeof(value));
}

static int report_nest(void *message, u16 type)
{
	struct user_report *r = message;
	int at = r->bytes;

	return report_write_attribute(r, type, NULL, 0) ? at : -ENOMEM;
}

static void report_nest_end(void *message, int at)
{
	struct user_report *r = message;
	u16 bytes = r->bytes - at;

	memcpy(r->data + at + offsetof(struct nlattr, nla_len), &bytes, sizeof(bytes));
}

static struct coll_report report_core(struct user_report *r)
{
	static const struct coll_report_writer writer = {
		.put		= report_write_attribute,
		.put_u64	= report_write_u64,
		.nest		= report_nest,
		.nest_end	= report_nest_end,
	};

	return (struct coll_report) { .writer = &writer, .message = r };
}

static size_t report_begin(struct user_report *r, u8 command)
{
	const struct nlmsghdr head = { .nlmsg_type = NLMSG_MIN_TYPE, .nlmsg_flags = NLM_F_MULTI };
	const struct genlmsghdr generic = { .cmd = command, .version = COLLSOCK_GENL_VERSION };
	size_t at = r->bytes;
	u8 *to = report_extend(r, NLMSG_HDRLEN + GENL_HDRLEN);

	if (to) {
		memcpy(to, &head, sizeof(head));
		memcpy(to + NLMSG_HDRLEN, &generic, sizeof(generic));
	}
	return at;
}

static void report_end(struct user_report *r, size_t at)
{
	u32 bytes = r->bytes - at;

	if (!r->failed)
		memcpy(r->data + at + offsetof(struct nlmsghdr, nlmsg_len), &bytes, sizeof(bytes));
}

/* ---- the group ---- */

static u32 report_handle(const struct user_member *m)
{
	return USER_HANDLE | (u32)getpid() << USER_HANDLE_PID_SHIFT | m->number;
}

static void report_group(struct user_report *r, const struct user_member *m, u64 now)
{
	size_t message = report_begin(r, COLLSOCK_CMD_GROUP_GET);
	struct coll_report core = report_core(r);

	report_put_u64(r, COLLSOCK_A_GROUP_AGE_MS, (now - m->joined_ns) / NSEC_PER_MSEC);
	report_put_u32(r, COLLSOCK_A_GROUP_HANDLE, report_handle(m));
	report_put_u32(r, COLLSOCK_A_GROUP_UID, geteuid());
	report_put(r, COLLSOCK_A_GROUP_KEYED, NULL, 0);
	coll_report_constants(&core, &m->group, &m->request.join);
	coll_report_state(&core, &m->group);
	coll_report_stats(&core, &m->group.stats);
	report_end(r, message);
}

/* ---- hosts, the rank, peers, operations ---- */

static void report_host(struct user_report *r, const struct user_member *m, u32 host)
{
	const struct collsock_member *address = &m->request.members[host];
	size_t message = report_begin(r, COLLSOCK_CMD_HOST_GET);
	struct coll_report core = report_core(r);

	report_put_u32(r, COLLSOCK_A_HOST_GROUP, report_handle(m));
	coll_report_host(&core, &m->group, host, address, coll_udp_bearer.address_bytes(address));
	report_end(r, message);
}

static void report_rank(struct user_report *r, const struct user_member *m)
{
	size_t message = report_begin(r, COLLSOCK_CMD_RANK_GET);
	struct coll_report core = report_core(r);

	report_put_u32(r, COLLSOCK_A_RANK_GROUP, report_handle(m));
	report_put_u32(r, COLLSOCK_A_RANK_PID, getpid());
	coll_report_rank(&core, &m->group.ranks.local[0]);
	report_end(r, message);
}

static void report_peer(struct user_report *r, const struct user_member *m,
			const struct coll_peer *peer, u64 now)
{
	size_t message = report_begin(r, COLLSOCK_CMD_PEER_GET);
	struct coll_report core = report_core(r);

	report_put_u32(r, COLLSOCK_A_PEER_GROUP, report_handle(m));
	coll_report_peer(&core, peer, now);
	report_end(r, message);
}

static void report_operation(struct user_report *r, const struct user_member *m,
			     const struct coll_op *op, u64 now)
{
	size_t message = report_begin(r, COLLSOCK_CMD_OPERATION_GET);
	struct coll_report core = report_core(r);

	report_put_u32(r, COLLSOCK_A_OPERATION_GROUP, report_handle(m));
	coll_report_operation(&core, &m->group, op, now);
	report_end(r, message);
}

static void report_operations(struct user_report *r, const struct user_member *m, u64 now)
{
	const struct coll_group *g = &m->group;
	const struct coll_op *op;
	u64 number;

	for (number = g->window.oldest; number - g->window.oldest <= g->window.size; number++) {
		op = coll_group_slot(g, number);
		if (op->head.number == number && op->state != COLL_OP_FREE)
			report_operation(r, m, op, now);
	}
}

/* ---- the counters of the process, as far as this member sees it ---- */

#define REPORT_NET_COUNTER(name, IDENTIFIER, meaning) \
	report_put_u64(r, COLLSOCK_A_NET_##IDENTIFIER, m->net.name);

static void report_net(struct user_report *r, const struct user_member *m)
{
	size_t message = report_begin(r, COLLSOCK_CMD_NET_GET);

	report_put(r, COLLSOCK_A_NET_VERSION, COLLSOCK_VERSION, sizeof(COLLSOCK_VERSION));
	report_put_u32(r, COLLSOCK_A_NET_GROUPS, 1);
	report_put_u32(r, COLLSOCK_A_NET_PEERS, m->group.stats.peers);
	COLLSOCK_NET_COUNTER_LIST(REPORT_NET_COUNTER)
	report_end(r, message);
}

/* ---- all of it ---- */

void user_report_member(struct user_report *r, struct user_member *m)
{
	const struct coll_group *g = &m->group;
	const struct coll_peer *peer;
	u64 now = user_clock_ns();
	u32 host;

	report_net(r, m);
	report_group(r, m, now);
	for (host = 0; host < g->hosts; host++)
		report_host(r, m, host);
	report_rank(r, m);
	for (peer = g->peers.all; peer; peer = peer->all)
		report_peer(r, m, peer, now);
	report_operations(r, m, now);
}

void user_report_add(struct user_report *r, const void *messages, size_t bytes)
{
	u8 *at = report_extend(r, NLMSG_ALIGN(bytes));

	if (at)
		memcpy(at, messages, bytes);
}

static int report_write(int fd, const struct user_report *r)
{
	ssize_t written;
	size_t done;

	for (done = 0; done < r->bytes; done += written) {
		written = write(fd, r->data + done, r->bytes - done);
		if (written < 0)
			return -errno;
	}
	return lseek(fd, 0, SEEK_SET) || fcntl(fd, F_ADD_SEALS, SEALS) ? -errno : 0;
}

int user_report_file(struct user_report *r)
{
	int err = r->failed ? -ENOMEM : 0, fd = -1;
	struct file_size before;

	if (!err) {
		fd = memfd_create("collsock-report", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		file_size_begin(&before);
		err = file_size_end(&before, fd < 0 ? -errno : report_write(fd, r));
	}
	free(r->data);
	memset(r, 0, sizeof(*r));
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}
