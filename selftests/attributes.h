/* SPDX-License-Identifier: GPL-2.0 */
/* Attributes by the kernel's names, for tests; the core needs none of these. */
#ifndef COLL_ATTRIBUTES_H
#define COLL_ATTRIBUTES_H

#define __printf(a, b)		__attribute__((format(printf, a, b)))
#define fallthrough		__attribute__((fallthrough))

#endif
