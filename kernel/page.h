/* SPDX-License-Identifier: GPL-2.0 */
/* The page of a socket that user space can map (struct collsock_page). */
#ifndef COLL_PAGE_H
#define COLL_PAGE_H

struct coll_sock;
struct vm_area_struct;

int coll_page_map(struct coll_sock *csk, struct vm_area_struct *area);
void coll_page_free(struct coll_sock *csk);

#endif
