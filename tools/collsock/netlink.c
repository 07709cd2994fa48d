// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>

#include <linux/collsock_netlink.h>

#include "command.h"
#include "netlink.h"
#include "text.h"
#include "userspace.h"

#define RECEIVE_BYTES	1048576
#define DUMP_ATTEMPTS	10
#define BUSY_ATTEMPTS	100
#define BETWEEN_ATTEMPTS_US 20000

/**
 * struct exchange - a request, and what is received
 * @n: the connection
 * @sequence: number of the request
 * @awaits_reply: not only an acknowledgment
 * @answered: by the kernel
 * @replies: the replies
 */
struct exchange {
	struct netlink	*n;
	uint32_t	sequence;
	bool		awaits_reply;
	bool		answered;
	struct replies	replies;
};

/* ---- the connection ---- */

/* Processes that administer the namespace can send to any socket in it. */
static bool netlink_is_from_kernel(struct nl_msg *message)
{
	return !nlmsg_get_src(message)->nl_pid;
}

/* Any message, also of those that libnl reads by itself, and of events */
static int netlink_on_any(struct nl_msg *message, void *context)
{
	(void)context;
	return netlink_is_from_kernel(message) ? NL_OK : NL_SKIP;
}

int netlink_connect(struct netlink *n)
{
	int on = 1;

	*n = (struct netlink){ .socket = nl_socket_alloc() };
	if (!n->socket)
		err(EXIT_ERROR, "netlink");
	nl_socket_modify_cb(n->socket, NL_CB_MSG_IN, NL_CB_CUSTOM, netlink_on_any, NULL);
	if (genl_connect(n->socket)) {
		n->error = errno;
		return n->error;
	}
	/*
	 * A large buffer, since dump messages that do not fit would be lost. Older kernels
	 * report only an errno.
	 */
	nl_socket_set_buffer_size(n->socket, RECEIVE_BYTES, 0);
	nl_socket_set_msg_buf_size(n->socket, RECEIVE_BYTES);
	setsockopt(nl_socket_get_fd(n->socket), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	n->family = genl_ctrl_resolve(n->socket, COLLSOCK_GENL_NAME);
	n->error = n->family < 0 ? ENOENT : 0;
	return n->error;
}

void netlink_connect_lenient(struct netlink *n)
{
	netlink_connect(n);
	n->lenient = true;
}

void netlink_open(struct netlink *n)
{
	static const char about_user_space[] =
		"your groups in user space have no settings or events; collsock group shows them";

	switch (netlink_connect(n)) {
	case 0:
		return;
	case ENOENT:
		errx(EXIT_ERROR, "the module is not loaded: modprobe collsock (%s)",
		     userspace_is_there() ? about_user_space : "collsock doctor says more");
	default:
		errno = n->error;
		err(EXIT_ERROR, "generic netlink");
	}
}

noreturn static void netlink_nobody_is_there(void)
{
	const char *hidden = userspace_hidden();

	if (hidden)
		errx(EXIT_ERROR,
		     "the module is not loaded (modprobe collsock), and ranks in user space cannot be seen: %s: "
		     USERSPACE_HIDDEN_ADVICE, hidden);
	errx(EXIT_ERROR,
	     "the module is not loaded (modprobe collsock), and no rank of yours is in a group in user space: collsock doctor says more; ranks that have not joined yet say themselves whom they wait for");
}

void netlink_open_to_look(struct netlink *n)
{
	if (netlink_connect(n) && !userspace_is_there()) {
		if (n->error == ENOENT)
			netlink_nobody_is_there();
		netlink_close(n);
		netlink_open(n);
	}
}

void netlink_close(struct netlink *n)
{
	nl_socket_free(n->socket);
}

struct nl_msg *netlink_message(struct netlink *n, uint8_t command, int flags)
{
	struct nl_msg *message = nlmsg_alloc();

	if (!message || !genlmsg_put(message, NL_AUTO_PORT, NL_AUTO_SEQ, n->family, 0, flags,
				     command, COLLSOCK_GENL_VERSION))
		errx(EXIT_ERROR, "no memory for a request");
	return message;
}

/* ---- replies ---- */

static void netlink_take_text(struct netlink *n, const void *attributes, int bytes)
{
	const struct nlattr *text = nla_find(attributes, bytes, NLMSGERR_ATTR_MSG);

	if (text)
		nla_strlcpy(n->text, text, sizeof(n->text));
	text_clean(n->text);
}

/* A negative acknowledgment, which may contain the request, followed by attributes */
static int netlink_on_error(struct sockaddr_nl *from, struct nlmsgerr *error, void *context)
{
	const struct nlmsghdr *head = (const struct nlmsghdr *)error - 1;
	size_t skip = sizeof(*head) + sizeof(*error);
	struct exchange *x = context;

	(void)from;
	x->n->error = -error->error;
	if (!(head->nlmsg_flags & NLM_F_CAPPED))
		skip += NLMSG_ALIGN(error->msg.nlmsg_len - sizeof(error->msg));
	if (head->nlmsg_flags & NLM_F_ACK_TLVS && head->nlmsg_len > skip)
		netlink_take_text(x->n, (const char *)head + skip, head->nlmsg_len - skip);
	return NL_STOP;
}

/* The end of a dump has its error. */
static int netlink_on_finish(struct nl_msg *message, void *context)
{
	const struct nlmsghdr *head = nlmsg_hdr(message);
	struct exchange *x = context;
	int status = 0;

	if (nlmsg_datalen(head) >= (int)sizeof(status))
		memcpy(&status, nlmsg_data(head), sizeof(status));
	if (status < 0) {
		x->n->error = -status;
		if (head->nlmsg_flags & NLM_F_ACK_TLVS)
			netlink_take_text(x->n, (const char *)nlmsg_data(head) + sizeof(status),
					  nlmsg_datalen(head) - sizeof(status));
	}
	return NL_STOP;
}

/* Before all others: messages of processes, and those about an earlier request, are ignored. */
static int netlink_on_message(struct nl_msg *message, void *context)
{
	struct exchange *x = context;

	if (!netlink_is_from_kernel(message) || nlmsg_hdr(message)->nlmsg_seq != x->sequence)
		return NL_SKIP;
	x->answered = true;
	return NL_OK;
}

/* libnl counts only requests that are acknowledged. */
static int netlink_on_sequence(struct nl_msg *message, void *context)
{
	(void)message;
	(void)context;
	return NL_OK;
}

static int netlink_on_acknowledgment(struct nl_msg *message, void *context)
{
	(void)message;
	(void)context;
	return NL_STOP;
}

static int netlink_on_reply(struct nl_msg *message, void *context)
{
	struct genlmsghdr *head = nlmsg_data(nlmsg_hdr(message));
	struct exchange *x = context;
	struct reply reply;

	if (!genlmsg_valid_hdr(nlmsg_hdr(message), 0))
		return NL_SKIP;
	reply = reply_message(head);
	if (x->awaits_reply && head->cmd != COLLSOCK_CMD_DUMP_BEGUN)
		replies_add(&x->replies, &reply);
	return NL_OK;
}

/* Send, and receive the reply. Return: libnl's status; the kernel's error is in @n. */
static int netlink_exchange(struct netlink *n, struct nl_msg *message, struct exchange *x)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int status;

	if (!cb)
		errx(EXIT_ERROR, "no memory for a request");
	x->n = n;
	x->answered = false;
	replies_free(&x->replies);
	n->error = 0;
	*n->text = '\0';
	nl_cb_err(cb, NL_CB_CUSTOM, netlink_on_error, x);
	nl_cb_set(cb, NL_CB_MSG_IN, NL_CB_CUSTOM, netlink_on_message, x);
	nl_cb_set(cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, netlink_on_sequence, NULL);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, netlink_on_reply, x);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, netlink_on_finish, x);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, netlink_on_acknowledgment, x);
	status = nl_send_auto(n->socket, message);
	x->sequence = nlmsg_hdr(message)->nlmsg_seq;
	while (status >= 0 && !x->answered)
		status = nl_recvmsgs(n->socket, cb);
	nl_cb_put(cb);
	return status;
}

/*
 * The same, again and again for a while if this user looks too often, or if the namespace is
 * busy. The message is freed.
 */
static int netlink_converse(struct netlink *n, struct nl_msg *message, struct exchange *x)
{
	int attempt, status;

	for (attempt = 0; attempt < BUSY_ATTEMPTS; attempt++) {
		if (attempt)
			usleep(BETWEEN_ATTEMPTS_US);
		status = netlink_exchange(n, message, x);
		if (n->error != EAGAIN && (!x->awaits_reply || n->error != EBUSY))
			break;
	}
	nlmsg_free(message);
	return status;
}

/* ---- requests ---- */

/* A failure of the exchange itself counts as one of the request. */
static void netlink_take_status(struct netlink *n, int status)
{
	if (status >= 0 || n->error)
		return;
	n->error = EIO;
	snprintf(n->text, sizeof(n->text), "netlink: %s", nl_geterror(status));
}

struct json_object *netlink_do(struct netlink *n, struct nl_msg *message,
			       const struct decode_field *set)
{
	struct exchange x = { .awaits_reply = set };
	struct json_object *object = NULL;
	int status;

	/* Read one message: the reply, or else the acknowledgment */
	if (set)
		nl_socket_disable_auto_ack(n->socket);
	else
		nl_socket_enable_auto_ack(n->socket);
	status = netlink_converse(n, message, &x);
	netlink_take_status(n, status);
	if (x.replies.count)
		object = decode(set, &x.replies.reply[x.replies.count - 1]);
	replies_free(&x.replies);
	return object;
}

struct json_object *netlink_try_get(struct netlink *n, uint8_t command,
				    const struct decode_field *set)
{
	return netlink_do(n, netlink_message(n, command, 0), set);
}

struct json_object *netlink_get(struct netlink *n, uint8_t command,
				const struct decode_field *set)
{
	struct json_object *object = netlink_try_get(n, command, set);

	if (n->error || !object)
		netlink_fail(n, "the module's answer");
	return object;
}

/* Has the group ended during the dump? */
static bool netlink_is_gone(const struct netlink *n, int attribute)
{
	return attribute && (n->error == ENOENT || n->error == ESRCH);
}

static struct replies netlink_dump_module(struct netlink *n, uint8_t command, int attribute,
					  uint32_t handle)
{
	struct exchange x = { .awaits_reply = true };
	struct nl_msg *message;
	int attempt, status;

	for (attempt = 0; attempt < DUMP_ATTEMPTS; attempt++) {
		message = netlink_message(n, command, NLM_F_DUMP);
		if (attribute && nla_put_u32(message, attribute, handle))
			errx(EXIT_ERROR, "no memory for a request");
		nl_socket_disable_auto_ack(n->socket);
		status = netlink_converse(n, message, &x);
		if (netlink_is_gone(n, attribute)) {
			n->error = 0;
			return x.replies;
		}
		if (status != -NLE_DUMP_INTR)
			netlink_take_status(n, status);
		if (n->error || status >= 0)
			return x.replies;
		usleep(BETWEEN_ATTEMPTS_US);
	}
	warnx("groups changed while they were listed: the list may be incomplete");
	return x.replies;
}

struct replies netlink_try_dump(struct netlink *n, uint8_t command, int attribute,
				uint32_t handle)
{
	struct replies all = { };

	n->error = 0;
	if (netlink_has_module(n) && !userspace_has(handle))
		all = netlink_dump_module(n, command, attribute, handle);
	if (!attribute || userspace_has(handle))
		userspace_dump(&all, command, attribute, handle);
	return all;
}

struct replies netlink_dump(struct netlink *n, uint8_t command, int attribute, uint32_t handle)
{
	struct replies all = netlink_try_dump(n, command, attribute, handle);

	if (n->error && !n->lenient)
		netlink_fail(n, "the module's answer");
	return all;
}

struct json_object *netlink_list(struct netlink *n, uint8_t command, int attribute,
				 uint32_t handle, const struct decode_field *set)
{
	struct replies all = netlink_dump(n, command, attribute, handle);
	struct json_object *list = decode_all(set, &all);

	replies_free(&all);
	return list;
}

noreturn void netlink_fail(const struct netlink *n, const char *what)
{
	const char *said = *n->text ? n->text : strerror(n->error);

	switch (n->error) {
	case EPERM:
	case EACCES:
		errx(EXIT_ERROR, "%s: %s%s", what, said,
		     *n->text ? "" : ": needs CAP_NET_ADMIN in this network namespace (sudo)");
	case EOPNOTSUPP:
		errx(EXIT_ERROR,
		     "%s: %s: the module is older than this command (collsock doctor)", what, said);
	default:
		errx(EXIT_ERROR, "%s: %s", what, said);
	}
}
