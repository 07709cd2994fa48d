/* SPDX-License-Identifier: GPL-2.0 */
/* What /proc says of the process that holds a rank. */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdint.h>

#include <json-c/json.h>

#define PROCESS_COMMAND_BYTES 64

/**
 * struct process - a process
 * @pid: its number, or 0
 * @command: what it runs; empty if the process is of another PID namespace, or gone
 * @state: the letter of its state, or '\0'
 */
struct process {
	uint64_t	pid;
	char		command[PROCESS_COMMAND_BYTES];
	char		state;
};

/* Look at a process. */
void process_read(struct process *process, uint64_t pid);

/* The same in JSON: adds "command" and "process", the state, to an object that has "pid". */
void process_put(struct json_object *object, const struct process *process);

/* Both, for a rank that the kernel has told. */
void process_describe(struct json_object *rank);

/* A state in words, by its letter. */
const char *process_state(char letter);

#endif
