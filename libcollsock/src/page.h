/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef COLLSOCK_PAGE_H
#define COLLSOCK_PAGE_H

#include "internal.h"

/* Unmap the page, if this process has mapped it; forks are held. */
void collsock_unmap_page(struct collsock *s);

#endif
