/* SPDX-License-Identifier: GPL-2.0 */
/* The sub-command that makes the secret of a group. */
#ifndef KEYGEN_H
#define KEYGEN_H

int keygen_command(char **words);

#endif
