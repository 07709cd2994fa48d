/* SPDX-License-Identifier: GPL-2.0 */
/* For which rank an operation of this process waits */
#ifndef OVERDUE_H
#define OVERDUE_H

/*
 * The sentence of "collsock wait" about it. The text must be freed; NULL if nothing is found, as
 * when the operation is done meanwhile.
 */
char *overdue_sentence(void);

#endif
