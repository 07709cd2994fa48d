/* SPDX-License-Identifier: GPL-2.0 */
#ifndef COLLPERF_NUMBER_H
#define COLLPERF_NUMBER_H

/* Parse a whole number in a range. Exits if @text is not one; @what is its name in the message. */
unsigned long long number_parse(const char *what, const char *text, unsigned long long min,
				unsigned long long max);

/* Parse 1 to @most such numbers between commas; returns how many there are. */
unsigned int number_parse_list(const char *what, const char *text, unsigned int max,
			       unsigned int *numbers, unsigned int most);

#endif
