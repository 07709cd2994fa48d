/* SPDX-License-Identifier: GPL-2.0 */
/* The MAC of a packet, computed once more from its description in Documentation/protocol.md. */
#ifndef UNIT_MAC_H
#define UNIT_MAC_H

#include "wire.h"

/* The one that a packet of this length should have; @packet may be of any version. */
__be64 mac_of(const u8 *packet, u32 bytes, const struct coll_mac *mac);

#endif
