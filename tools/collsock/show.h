/* SPDX-License-Identifier: GPL-2.0 */
/* The sub-commands that list groups, hosts, ranks, peers, operations and users. */
#ifndef SHOW_H
#define SHOW_H

int show_group(char **words);
int show_host(char **words);
int show_rank(char **words);
int show_peer(char **words);
int show_operation(char **words);
int show_user(char **words);

#endif
