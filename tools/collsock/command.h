/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by all sub-commands. A sub-command is one function, which gets the words after its
 * name and returns the exit status; main.c lists them. An error ends the process with a
 * message on standard error (errx).
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#define EXIT_DONE	0
#define EXIT_ERROR	1
#define EXIT_PROBLEMS	2	/* doctor has found problems */
#define EXIT_WAITS	3	/* wait: some operation waits, or a process does not reply */

/**
 * struct options - options of the command line
 * @json: print JSON instead of text
 * @pretty: indented JSON
 * @statistics: more details
 * @color: coloured text
 * @timestamps: monitor: print times
 * @last: wait: statistics of past operations
 * @prometheus: stat: Prometheus' text exposition format
 * @interval_s: wait: time between two checks; 0: check once
 * @count: wait: number of checks; 0: no limit
 */
struct options {
	bool		json;
	bool		pretty;
	bool		statistics;
	bool		color;
	bool		timestamps;
	bool		last;
	bool		prometheus;
	double		interval_s;
	unsigned long	count;
};

extern struct options options;

/* Exits if there are more words. */
void command_no_more(char **words);

/* Parse a whole number; exits if it is invalid. */
uint64_t command_number(const char *what, const char *text, uint64_t most);

#endif
