/* SPDX-License-Identifier: GPL-2.0 */
/* Interpreting lines of "nft list ruleset" and iptables-save for a UDP port */
#ifndef FIREWALL_H
#define FIREWALL_H

#include <stdbool.h>

enum firewall_says {
	FIREWALL_NOTHING,
	FIREWALL_ACCEPTS,
	FIREWALL_REFUSES,	/* perhaps for some senders only */
	FIREWALL_UNCLEAR,	/* names UDP ports in a set that is elsewhere */
	FIREWALL_ACCEPTS_SOME,	/* all ports, from some senders */
};

/* What does the line do with the port? */
enum firewall_says firewall_reads(const char *line, unsigned long port);

/*
 * Does the line refuse packets that no rule accepts? @input: whether the line is in an nft
 * chain for incoming packets; kept from one line to the next, initially false.
 */
bool firewall_closes(const char *line, bool *input);

/* The program that manages the rules, by the names of tables and chains */
enum firewall_keeper {
	FIREWALL_OF_NOBODY,	/* not known from this line */
	FIREWALL_OF_UFW,
	FIREWALL_OF_FIREWALLD,
};

enum firewall_keeper firewall_keeper_of(const char *line);

#endif
