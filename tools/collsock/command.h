/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all sub-commands share. A sub-command is one function, which gets the words
 * behind its name and returns the exit status; main.c lists them. An error ends the process
 * with a sentence on standard error (errx).
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#define EXIT_DONE	0
#define EXIT_ERROR	1
#define EXIT_PROBLEMS	2	/* doctor has found some */
#define EXIT_WAITS	3	/* wait: somebody waits */

/**
 * struct options - what the command line says before and after the words
 * @json: print JSON instead of text
 * @pretty: indented JSON
 * @statistics: more details
 * @color: colored text
 * @timestamps: monitor: print times
 * @last: wait: past operations instead of the present ones
 * @prometheus: stat: Prometheus' text exposition format
 * @interval_s: wait: time between two looks; 0: look once
 * @count: wait: number of looks; 0: no limit
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

/* Ends the process if there are more words. */
void command_no_more(char **words);

/* A whole number, or the end of the process. */
uint64_t command_number(const char *what, const char *text, uint64_t most);

#endif
