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
};

/* What the line says of the port. */
enum firewall_says firewall_reads(const char *line, unsigned long port);

/* Is what no rule accepts refused? */
bool firewall_closes(const char *line);

#endif
