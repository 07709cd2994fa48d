/* SPDX-License-Identifier: GPL-2.0 */
/* Information from /proc about the process that holds a rank */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>

#define PROCESS_COMMAND_BYTES 64

/**
 * struct process - a process
 * @pid: its number, or 0
 * @command: name of its command, clean; empty if it is in another PID namespace, or gone
 * @state: the letter of its state, or '\0'
 */
struct process {
	uint64_t	pid;
	char		command[PROCESS_COMMAND_BYTES];
	char		state;
};

/* Read the state of a process. */
void process_read(struct process *process, uint64_t pid);

/* The same in JSON: adds "command" and "process" (the state) to an object. */
void process_put(struct json_object *object, const struct process *process);

/* Both, for a rank in a reply of the kernel, which has "pid" */
void process_describe(struct json_object *rank);

/* Write its state, and what continues it: "is stopped (T): kill -CONT 7 continues it". */
void process_write_state(FILE *file, const struct process *process);

#endif
