// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The addresses that members may have, and the default port, by the kernel's own source: all hosts
 * of a group must check its members alike, and the descriptor's hash includes them.
 */
#include "../../kernel/udp_bearer.c"
