/* SPDX-License-Identifier: GPL-2.0 */
/* What lines of "nft list ruleset" and of iptables-save say of a UDP port. */
#ifndef FIREWALL_H
#define FIREWALL_H

#include <stdbool.h>

enum firewall_says {
	FIREWALL_NOTHING,
	FIREWALL_ACCEPTS,
	FIREWALL_REFUSES,	/* perhaps to some only */
	FIREWALL_UNCLEAR,	/* of UDP ports, which stand elsewhere */
	FIREWALL_ACCEPTS_SOME,	/* all ports, of some senders */
};

/* What the line says of the port. */
enum firewall_says firewall_reads(const char *line, unsigned long port);

/*
 * Does the line refuse what no rule accepts? @input: whether the line is in a chain of
 * nft for incoming packets, kept from one line to the next, false before the first.
 */
bool firewall_closes(const char *line, bool *input);

/* Whose rules are these, going by the names of tables and chains? */
enum firewall_keeper {
	FIREWALL_OF_NOBODY,	/* that the line would tell */
	FIREWALL_OF_UFW,
	FIREWALL_OF_FIREWALLD,
};

enum firewall_keeper firewall_keeper_of(const char *line);

#endif
