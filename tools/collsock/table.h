/* SPDX-License-Identifier: GPL-2.0 */
/* Printing objects as a table, one per line */
#ifndef TABLE_H
#define TABLE_H

#include <json-c/json.h>

enum table_shape {
	TABLE_PLAIN,	/* left-aligned */
	TABLE_NUMBER,	/* right-aligned, like all that follow */
	TABLE_US,
	TABLE_MS,
	TABLE_BYTES,
};

/**
 * struct table_column - one member of the objects
 * @title: title of the column; NULL ends the columns
 * @key: key of the member; an absent one is shown as a dash
 * @shape: how to format it
 */
struct table_column {
	const char		*title;
	const char		*key;
	enum table_shape	shape;
};

/* Print JSON or a table, according to the options, and free @rows. */
void table_show(const struct table_column *columns, struct json_object *rows);

#endif
