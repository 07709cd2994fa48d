/* SPDX-License-Identifier: GPL-2.0 */
/* What /proc says of the process that holds a rank. */
#ifndef PROCESS_H
#define PROCESS_H

#include <json-c/json.h>

/**
 * process_describe() - add to a rank what its process is
 * @rank: an object with "pid"; gets "command" and "process", the letter of its state
 *
 * A process that is not seen here (of another PID namespace, or gone) adds nothing.
 */
void process_describe(struct json_object *rank);

/* A state in words, by its letter. */
const char *process_state(const char *letter);

#endif
