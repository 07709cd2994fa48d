/* SPDX-License-Identifier: GPL-2.0 */
/* The command line, as far as collperf and hostbarrier share it. */
#ifndef COLLPERF_OPTIONS_H
#define COLLPERF_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>

#include <linux/collsock.h>

#include "hosts.h"

enum {
	EXIT_DONE	= 0,
	EXIT_FAILED	= 1,
	EXIT_USAGE	= 2,
};

/**
 * struct options - what to measure
 * @hosts: that take part
 * @rank: of this host
 * @algorithm: enum collsock_algorithm
 * @iterations: operations that are measured
 * @warm_up: operations before them
 * @spin_us: spin so long before sleeping
 * @mean_only: leave out what needs a clock around every single operation
 * @json: print one JSON object
 */
struct options {
	struct hosts	hosts;
	unsigned int	rank;
	unsigned int	algorithm;
	unsigned long	iterations;
	unsigned long	warm_up;
	unsigned int	spin_us;
	bool		mean_only;
	bool		json;
	/* private: pieces until options_end() */
	unsigned long	numbered;
	const char	*file;
	bool		ipv6;
	unsigned long	port;
	long		given_rank;
};

#define OPTIONS_LETTERS "H:f:6p:r:a:n:w:s:mjh"
#define OPTIONS_LONG								\
	{ "hosts",	required_argument,	NULL,	'H' },			\
	{ "hosts-file",	required_argument,	NULL,	'f' },			\
	{ "ipv6",	no_argument,		NULL,	'6' },			\
	{ "port",	required_argument,	NULL,	'p' },			\
	{ "rank",	required_argument,	NULL,	'r' },			\
	{ "algorithm",	required_argument,	NULL,	'a' },			\
	{ "iterations",	required_argument,	NULL,	'n' },			\
	{ "warm-up",	required_argument,	NULL,	'w' },			\
	{ "spin",	required_argument,	NULL,	's' },			\
	{ "mean-only",	no_argument,		NULL,	'm' },			\
	{ "json",	no_argument,		NULL,	'j' },			\
	{ "help",	no_argument,		NULL,	'h' }
#define OPTIONS_HELP								\
	"  -H, --hosts N         the hosts 10.1.0.1 to 10.1.0.N, which \"make vm\" makes\n" \
	"  -f, --hosts-file FILE instead: one host a line, ADDRESS [PORT], in the order\n" \
	"                        of ranks; what follows a # is a comment\n"	\
	"  -6, --ipv6            with --hosts: fd00:1::1 to fd00:1::N\n"	\
	"  -p, --port N          UDP port of hosts that name none\n"		\
	"  -r, --rank N          this host, counting from 0; found by its address\n" \
	"  -a, --algorithm NAME  auto, dissemination or pairwise (default dissemination)\n" \
	"  -n, --iterations N    operations that are measured (default 1000)\n"	\
	"  -w, --warm-up N       operations before them (default 100)\n"	\
	"  -s, --spin US         spin so long before sleeping (default 0)\n"	\
	"  -m, --mean-only       one clock around all operations, none around each\n" \
	"  -j, --json            one JSON object\n"				\
	"  -h, --help            this text\n"

void options_begin(struct options *options);

/* Take one option of OPTIONS_LETTERS but "h". Exits if its value is wrong. */
void options_take(struct options *options, int letter, const char *value);

/* Complete @options when all are taken. Exits if something is missing. */
void options_end(struct options *options, int argc, unsigned int default_port);

/* A whole number in a range. Exits if @text is none. */
unsigned long long options_number(const char *what, const char *text, unsigned long long min,
				  unsigned long long max);

const char *options_algorithm_name(unsigned int algorithm);

#endif
