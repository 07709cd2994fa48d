/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Members: hosts by their addresses, as text or as other sockets have them */
#ifndef COLLSOCK_MEMBER_H
#define COLLSOCK_MEMBER_H

#include <net/ethernet.h>
#include <sys/socket.h>
#include <linux/collsock.h>

/**
 * member_from_text() - a host by its address as text
 * @m: out
 * @text: an address of IPv4, of IPv6, or a MAC address, of six pairs of hexadecimal digits. One of
 *	IPv6 or a MAC address may be followed by %, and the name of an interface of this host. That
 *	of a MAC address need not exist: it may be another host's
 * @port: UDP port, or EtherType; 0: the default
 *
 * Return: 0; -EINVAL if it is not an address, -EADDRNOTAVAIL if it cannot be a member's, -ENODEV if
 * this host has no such interface.
 */
int member_from_text(struct collsock_member *m, const char *text, __u16 port);

/**
 * member_parse_mac() - a MAC address, of six pairs of hexadecimal digits
 * @mac: out
 * @text: nothing else
 *
 * Return: is it one?
 */
int member_parse_mac(__u8 mac[ETH_ALEN], const char *text);

/**
 * member_from_sockaddr() - a host by its address as other sockets have it
 * @m: out
 * @address: a sockaddr_in, sockaddr_in6 or sockaddr_ll
 * @bytes: its length
 *
 * Return: 0; -EINVAL if it is too short, -EPFNOSUPPORT if it is of another family,
 * -EADDRNOTAVAIL if it cannot be a member's.
 */
int member_from_sockaddr(struct collsock_member *m, const struct sockaddr *address,
			 socklen_t bytes);

/**
 * member_is() - does the member have this address, with any port?
 * @m: the member
 * @address: from getifaddrs(3), of any family
 */
int member_is(const struct collsock_member *m, const struct sockaddr *address);

#endif
