/* SPDX-License-Identifier: GPL-2.0 */
/* collsock run: start a program as ranks of a group */
#ifndef RUN_H
#define RUN_H

/* As main(), from the word "run" on. Returns the program's exit status, see collsock(8). */
int run_command(int argc, char **argv);

#endif
