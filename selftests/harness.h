/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's test harness. On a busy machine a test may take many times its usual seconds. */
#ifndef SELFTESTS_HARNESS_H
#define SELFTESTS_HARNESS_H

#include "kselftest_harness.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	600

#endif
