// SPDX-License-Identifier: GPL-2.0
/* What a rank in user space promises, under ThreadSanitizer */
#include "test_user.c"
