/* SPDX-License-Identifier: GPL-2.0 */
/* Set-up of the core's platform, env.c, as long as the module is loaded. */
#ifndef COLL_ENV_H
#define COLL_ENV_H

int coll_env_init(void);
void coll_env_uninit(void);

#endif
