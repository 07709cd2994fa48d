// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Which addresses members may have, and what a port of 0 is, by the kernel's own source: all hosts
 * of a group must check its members alike, and the descriptor's hash includes them.
 */
#include "../../kernel/udp_bearer.c"
