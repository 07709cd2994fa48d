/* SPDX-License-Identifier: GPL-2.0 */
/* Objects as a table: a line each, columns as wide as they must be. */
#ifndef TABLE_H
#define TABLE_H

#include <json-c/json.h>

enum table_shape {
	TABLE_PLAIN,	/* left */
	TABLE_NUMBER,	/* right, as are all that follow */
	TABLE_US,
	TABLE_MS,
	TABLE_BYTES,
};

/**
 * struct table_column - one member of the objects
 * @title: above it; NULL ends the columns
 * @key: of the member; where it is absent stands a dash
 * @shape: how it looks
 */
struct table_column {
	const char		*title;
	const char		*key;
	enum table_shape	shape;
};

/* Print an array of objects. Nothing if there are none. */
void table_print(const struct table_column *columns, struct json_object *rows);

/* JSON or table, as it was asked for; @rows is freed. */
void table_show(const struct table_column *columns, struct json_object *rows);

#endif
