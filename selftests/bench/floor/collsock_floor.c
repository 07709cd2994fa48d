// SPDX-License-Identifier: GPL-2.0
/*
 * The floor: a dissemination barrier in softirq with nothing around it. It has no sockets, no
 * schedules, no retransmissions, no acknowledgments and no MAC; a lost packet is a hang. What
 * collsock costs beyond it is what these cost (Documentation/performance.md).
 *
 * It trusts the process that opens the device, and is for a test machine only.
 */
#include <linux/etherdevice.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net/route.h>
#include <net/udp_tunnel.h>

#include "floor.h"

#define FLOOR_PORT	7799
#define FLOOR_TYPE	0x88b6
#define FLOOR_HEADROOM	96
#define FLOOR_ROUNDS	6	/* of FLOOR_HOSTS */

/**
 * struct floor_message - a packet
 * @barrier: number of the barrier
 * @round: of it
 */
struct floor_message {
	__be32	barrier;
	__be32	round;
};

/**
 * struct floor - one host
 * @join: what its program has written
 * @net: its namespace
 * @rounds: of a barrier
 * @lock: of the following
 * @barrier: number of the barrier that runs, or ran last
 * @round: for which it waits
 * @running: has it begun, and not ended?
 * @arrived: which rounds have come, a bit each, of barriers with even and with odd numbers: no
 *	host is ahead by more than one
 * @done: the last barrier that has ended
 * @wait: for that
 * @sock: its port
 * @route: to the host of each round
 * @dev: its device
 * @type: the EtherType there
 */
struct floor {
	struct floor_join	join;
	struct net		*net;
	u32			rounds;
	spinlock_t		lock;	/* the barrier */
	u32			barrier;
	u32			round;
	bool			running;
	u32			arrived[2];
	u32			done;
	wait_queue_head_t	wait;
	struct socket		*sock;
	struct rtable		*route[FLOOR_ROUNDS];
	struct net_device	*dev;
	struct packet_type	type;
};

/* Hosts that are ready: a packet to any other is lost. */
static atomic_t floor_ready;
static DECLARE_WAIT_QUEUE_HEAD(floor_all_ready);

/* ---- sending ---- */

static u32 floor_next(const struct floor *f, u32 round)
{
	return (f->join.rank + (1 << round)) % f->join.hosts;
}

static struct rtable *floor_route(struct floor *f, u32 round)
{
	struct flowi4 flow = {
		.saddr		= (__force __be32)f->join.ipv4[f->join.rank],
		.daddr		= (__force __be32)f->join.ipv4[floor_next(f, round)],
		.flowi4_proto	= IPPROTO_UDP,
	};
	struct rtable *route = f->route[round];

	if (likely(route))
		return route;
	route = ip_route_output_key(f->net, &flow);
	if (!IS_ERR(route))
		f->route[round] = route;
	return route;
}

static void floor_send_udp(struct floor *f, struct sk_buff *skb, u32 round)
{
	struct rtable *route = floor_route(f, round);

	if (IS_ERR(route)) {
		kfree_skb(skb);
		return;
	}
	dst_hold(&route->dst);
	udp_tunnel_xmit_skb(route, f->sock->sk, skb,
			    (__force __be32)f->join.ipv4[f->join.rank],
			    (__force __be32)f->join.ipv4[floor_next(f, round)], 0, 64, 0,
			    htons(FLOOR_PORT), htons(FLOOR_PORT), false, true);
}

static void floor_send_ethernet(struct floor *f, struct sk_buff *skb, u32 round)
{
	skb->dev = f->dev;
	skb->protocol = htons(FLOOR_TYPE);
	skb_reset_network_header(skb);
	dev_hard_header(skb, f->dev, FLOOR_TYPE, f->join.mac[floor_next(f, round)],
			f->dev->dev_addr, skb->len);
	dev_queue_xmit(skb);
}

/* BH disabled */
static void floor_send(struct floor *f, u32 barrier, u32 round)
{
	struct sk_buff *skb = alloc_skb(FLOOR_HEADROOM + sizeof(struct floor_message), GFP_ATOMIC);
	struct floor_message *message;

	if (!skb)
		return;
	skb_reserve(skb, FLOOR_HEADROOM);
	message = skb_put(skb, sizeof(*message));
	message->barrier = htonl(barrier);
	message->round = htonl(round);
	if (f->join.ethernet)
		floor_send_ethernet(f, skb, round);
	else
		floor_send_udp(f, skb, round);
}

/* ---- the barrier ---- */

/* Rounds whose messages are to be sent, a bit each. The lock is held. */
static u32 floor_advance(struct floor *f)
{
	u32 *arrived = &f->arrived[f->barrier & 1], send = 0;

	while (f->running && *arrived & BIT(f->round)) {
		*arrived &= ~BIT(f->round);
		if (++f->round < f->rounds) {
			send |= BIT(f->round);
		} else {
			f->running = false;
			WRITE_ONCE(f->done, f->barrier);
		}
	}
	return send;
}

static void floor_send_all(struct floor *f, u32 barrier, u32 rounds)
{
	u32 round;

	for (round = 0; rounds; round++, rounds >>= 1)
		if (rounds & 1)
			floor_send(f, barrier, round);
}

static void floor_arrive(struct floor *f, const struct floor_message *message)
{
	u32 barrier, round = ntohl(message->round), send;
	bool ends;

	if (round >= f->rounds)
		return;
	spin_lock_bh(&f->lock);
	f->arrived[ntohl(message->barrier) & 1] |= BIT(round);
	barrier = f->barrier;
	ends = f->running;
	send = floor_advance(f);
	ends = ends && !f->running;
	spin_unlock_bh(&f->lock);
	floor_send_all(f, barrier, send);
	if (ends && wq_has_sleeper(&f->wait))
		wake_up(&f->wait);
}

static int floor_receive_udp(struct sock *sk, struct sk_buff *skb)
{
	struct floor *f = rcu_dereference_sk_user_data(sk);
	struct floor_message message;

	if (f && !skb_copy_bits(skb, sizeof(struct udphdr), &message, sizeof(message)))
		floor_arrive(f, &message);
	consume_skb(skb);
	return 0;
}

static int floor_receive_ethernet(struct sk_buff *skb, struct net_device *dev,
				  struct packet_type *type, struct net_device *orig_dev)
{
	struct floor *f = container_of(type, struct floor, type);
	struct floor_message message;

	if (!skb_copy_bits(skb, 0, &message, sizeof(message)))
		floor_arrive(f, &message);
	consume_skb(skb);
	return 0;
}

static ssize_t floor_read(struct file *file, char __user *to, size_t bytes, loff_t *at)
{
	struct floor *f = file->private_data;
	u32 barrier, send;
	ktime_t begin;

	spin_lock_bh(&f->lock);
	barrier = ++f->barrier;
	f->round = 0;
	f->running = true;
	send = BIT(0) | floor_advance(f);
	spin_unlock_bh(&f->lock);
	local_bh_disable();
	floor_send_all(f, barrier, send);
	local_bh_enable();
	if (f->join.spin_us) {
		begin = ktime_get();
		while (READ_ONCE(f->done) != barrier &&
		       ktime_us_delta(ktime_get(), begin) < f->join.spin_us)
			cpu_relax();
	}
	return wait_event_interruptible(f->wait, READ_ONCE(f->done) == barrier);
}

/* ---- beginning and end ---- */

static int floor_open(struct inode *inode, struct file *file)
{
	struct floor *f = kzalloc(sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	f->net = get_net(current->nsproxy->net_ns);
	init_waitqueue_head(&f->wait);
	spin_lock_init(&f->lock);
	file->private_data = f;
	return 0;
}

static int floor_begin_udp(struct floor *f)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data	= f,
		.encap_type	= 1,
		.encap_rcv	= floor_receive_udp,
	};
	struct udp_port_cfg port = {
		.family		= AF_INET,
		.local_udp_port	= htons(FLOOR_PORT),
	};
	int err = udp_sock_create(f->net, &port, &f->sock);

	if (!err)
		setup_udp_tunnel_sock(f->net, f->sock, &tunnel);
	return err;
}

static int floor_begin_ethernet(struct floor *f)
{
	f->dev = dev_get_by_name(f->net, "eth0");
	if (!f->dev)
		return -ENODEV;
	f->type.type = htons(FLOOR_TYPE);
	f->type.dev = f->dev;
	f->type.func = floor_receive_ethernet;
	dev_add_pack(&f->type);
	return 0;
}

static ssize_t floor_write(struct file *file, const char __user *from, size_t bytes, loff_t *at)
{
	struct floor *f = file->private_data;
	int err;

	if (f->rounds || bytes != sizeof(f->join))
		return -EINVAL;
	if (copy_from_user(&f->join, from, bytes))
		return -EFAULT;
	if (f->join.hosts < 2 || f->join.hosts > FLOOR_HOSTS || f->join.rank >= f->join.hosts)
		return -EINVAL;
	f->rounds = order_base_2(f->join.hosts);
	err = f->join.ethernet ? floor_begin_ethernet(f) : floor_begin_udp(f);
	if (err)
		return err;
	if (atomic_inc_return(&floor_ready) == f->join.hosts)
		wake_up_all(&floor_all_ready);
	err = wait_event_killable(floor_all_ready, atomic_read(&floor_ready) >= f->join.hosts);
	return err ?: bytes;
}

static int floor_release(struct inode *inode, struct file *file)
{
	struct floor *f = file->private_data;
	u32 round;

	if (f->sock)
		udp_tunnel_sock_release(f->sock);
	if (f->dev) {
		dev_remove_pack(&f->type);
		dev_put(f->dev);
	}
	if (f->sock || f->dev)
		atomic_dec(&floor_ready);
	for (round = 0; round < FLOOR_ROUNDS; round++)
		if (f->route[round])
			ip_rt_put(f->route[round]);
	put_net(f->net);
	kfree(f);
	return 0;
}

static const struct file_operations floor_operations = {
	.owner		= THIS_MODULE,
	.open		= floor_open,
	.read		= floor_read,
	.write		= floor_write,
	.release	= floor_release,
};

static struct miscdevice floor_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= FLOOR_DEVICE,
	.fops	= &floor_operations,
};

module_misc_device(floor_device);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A barrier in softirq with nothing around it, to compare collsock with");
