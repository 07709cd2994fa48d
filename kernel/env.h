/* SPDX-License-Identifier: GPL-2.0 */
/* What the core's platform, env.c, needs as long as the module is loaded. */
#ifndef COLL_ENV_H
#define COLL_ENV_H

int coll_env_init(void);
void coll_env_uninit(void);

#endif
