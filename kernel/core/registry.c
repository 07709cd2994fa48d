// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Alone in its file, so that a test can be linked with another registry. */
#include "registry.h"

COLL_REGISTRY(COLL_ALGORITHM_LIST);
