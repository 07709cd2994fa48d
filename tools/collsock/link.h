/* SPDX-License-Identifier: GPL-2.0 */
/* Network devices of this network namespace, of which /sys may show another one */
#ifndef LINK_H
#define LINK_H

#include <net/if.h>
#include <stdbool.h>

/**
 * link_find_master() - whose port is the device?
 * @index: of the device
 * @name: name of the bridge or bond
 *
 * Ports of a VRF receive their packets themselves, so they do not count.
 *
 * Return: is it a port?
 */
bool link_find_master(unsigned int index, char name[IF_NAMESIZE]);

#endif
