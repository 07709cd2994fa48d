// SPDX-License-Identifier: GPL-2.0
/*
 * The command believes the kernel alone: who administers a network namespace can send to the
 * netlink sockets of any process in it. The kernel's own family answers instead of the module's.
 * What it says of devices is of the namespace that it is in.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>

#include "../harness.h"
#include "../../tools/collperf/missing.h"
#include "link.h"
#include "netlink.h"
#include "userspace.h"

#define NAME "nlctrl"
#define FORGED_ID 99

static const struct decode_field answer[] = {
	{ "id", CTRL_ATTR_FAMILY_ID, DECODE_NUMBER },
	{ }
};

/* ---- there are no groups in user space ---- */

bool userspace_is_there(void)
{
	return false;
}

char *userspace_hidden(void)
{
	return NULL;
}

bool userspace_has(uint32_t handle)
{
	return false;
}

void userspace_dump(struct replies *all, uint8_t command, int group, uint32_t handle)
{
}

/* ---- the module's family is one that knows none of its commands ---- */

int genl_ctrl_resolve(struct nl_sock *socket, const char *name)
{
	return GENL_ID_CTRL;
}

/* ---- a command, and a process that forges ---- */

FIXTURE(command)
{
	struct netlink	n;
	struct nl_sock	*forger;
};

FIXTURE_SETUP(command)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		SKIP(return, "no user namespaces here");
	ASSERT_EQ(0, netlink_connect(&self->n));
	self->forger = nl_socket_alloc();
	ASSERT_EQ(0, genl_connect(self->forger));
	nl_socket_set_peer_port(self->forger, nl_socket_get_local_port(self->n.socket));
}

FIXTURE_TEARDOWN(command)
{
	nl_socket_free(self->forger);
	netlink_close(&self->n);
}

/* With the number of the next request; @count @bytes follow the head. */
static void forge(struct nl_sock *forger, struct netlink *n, int type, int flags,
		  const void *bytes, size_t count)
{
	struct nl_msg *message = nlmsg_alloc();

	nlmsg_put(message, nl_socket_get_local_port(forger), nl_socket_use_seq(n->socket) + 1,
		  type, 0, flags);
	nlmsg_append(message, (void *)bytes, count, NLMSG_ALIGNTO);
	if (nl_send(forger, message) < 0)
		abort();
	nlmsg_free(message);
}

/* A reply to a request for a family */
static void forge_reply(struct nl_sock *forger, struct netlink *n)
{
	struct {
		struct genlmsghdr	head;
		struct nlattr		attribute;
		__u16			id;
		__u16			padding;
	} reply = {
		.head = { .cmd = CTRL_CMD_NEWFAMILY, .version = 2 },
		.attribute = { sizeof(struct nlattr) + sizeof(__u16), CTRL_ATTR_FAMILY_ID },
		.id = FORGED_ID,
	};

	forge(forger, n, GENL_ID_CTRL, 0, &reply, sizeof(reply));
}

/* The id that the kernel's own family is said to have */
static __u64 ask(struct netlink *n)
{
	struct nl_msg *message = netlink_message(n, CTRL_CMD_GETFAMILY, 0);
	struct json_object *object;
	__u64 id;

	nla_put_string(message, CTRL_ATTR_FAMILY_NAME, NAME);
	object = netlink_do(n, message, answer);
	id = json_object_get_uint64(json_object_object_get(object, "id"));
	json_object_put(object);
	return id;
}

TEST_F(command, believes_no_reply_of_a_process)
{
	forge_reply(self->forger, &self->n);
	EXPECT_EQ(GENL_ID_CTRL, ask(&self->n));
	EXPECT_EQ(0, self->n.error);
}

TEST_F(command, believes_no_reply_without_contents)
{
	forge(self->forger, &self->n, GENL_ID_CTRL, 0, "", 0);
	EXPECT_EQ(GENL_ID_CTRL, ask(&self->n));
	EXPECT_EQ(0, self->n.error);
}

TEST_F(command, believes_no_error_of_a_process)
{
	struct {
		struct nlmsgerr	error;
		struct nlattr	attribute;
		char		text[8];
	} refusal = {
		.error = { .error = -EPERM },
		.attribute = { sizeof(struct nlattr) + 8, NLMSGERR_ATTR_MSG },
		.text = "\033[2J",
	};

	forge(self->forger, &self->n, NLMSG_ERROR, NLM_F_CAPPED | NLM_F_ACK_TLVS, &refusal,
	      sizeof(refusal));
	EXPECT_EQ(GENL_ID_CTRL, ask(&self->n));
	EXPECT_EQ(0, self->n.error);
	EXPECT_STREQ("", self->n.text);
}

static int count(struct nl_msg *message, void *context)
{
	++*(int *)context;
	return NL_OK;
}

/* As collsock monitor receives them */
TEST_F(command, believes_no_event_of_a_process)
{
	int events = 0;

	nl_socket_disable_seq_check(self->n.socket);
	nl_socket_modify_cb(self->n.socket, NL_CB_VALID, NL_CB_CUSTOM, count, &events);
	forge_reply(self->forger, &self->n);
	EXPECT_EQ(0, nl_recvmsgs_default(self->n.socket));
	EXPECT_EQ(0, events);
}

TEST_F(command, collperf_waits_on_where_the_module_refuses)
{
	struct hosts hosts = { };
	char *text = NULL;
	size_t bytes;
	FILE *usual = stderr;

	hosts_number(&hosts, 2, AF_INET);
	stderr = open_memstream(&text, &bytes);
	missing_print(1, &hosts, 1000);
	fclose(stderr);
	stderr = usual;
	EXPECT_TRUE(!strncmp("collperf: waiting for the other hosts; ", text, 39)) {
		TH_LOG("%s", text);
	}
	free(text);
	free(hosts.address);
}

/* ---- devices of another namespace than that of /sys ---- */

/* As root of it, as are programs that are started; with a master m0 of v0 */
static bool enter_namespace(const char *kind)
{
	char map[64], command[64];
	int length = snprintf(map, sizeof(map), "0 %u 1", geteuid()), fd;
	bool mapped;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return false;
	fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
	mapped = write(fd, map, length) == length;
	close(fd);
	setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	snprintf(command, sizeof(command), "ip link add m0 type %s", kind);
	return mapped && !system(command) && !system("ip link add v0 type veth peer v1") &&
	       !system("ip link set v0 master m0");
}

TEST(the_master_of_a_device_is_that_of_this_namespace)
{
	char master[IF_NAMESIZE];

	if (!enter_namespace("bridge"))
		SKIP(return, "no user namespaces, or bridges, here");
	EXPECT_TRUE(link_find_master(if_nametoindex("v0"), master));
	EXPECT_STREQ("m0", master);
	EXPECT_FALSE(link_find_master(if_nametoindex("v1"), master));
	EXPECT_FALSE(link_find_master(if_nametoindex("m0"), master));
	EXPECT_FALSE(link_find_master(9999, master));
}

TEST(ports_of_a_vrf_have_no_master)
{
	char master[IF_NAMESIZE];

	if (!enter_namespace("vrf table 10"))
		SKIP(return, "no user namespaces, or VRFs, here");
	EXPECT_FALSE(link_find_master(if_nametoindex("v0"), master));
}

TEST_HARNESS_MAIN
