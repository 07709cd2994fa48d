// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "table.h"
#include "text.h"

#define COLUMNS_MAX	16
#define GAP		2

static const char *table_cell(const struct table_column *column, struct json_object *row,
			      char text[TEXT_BYTES])
{
	struct json_object *value;

	if (!json_object_object_get_ex(row, column->key, &value))
		return "-";
	if (json_object_is_type(value, json_type_boolean))
		return json_object_get_boolean(value) ? "yes" : "no";
	switch (column->shape) {
	case TABLE_US:
		return text_us(text, json_object_get_uint64(value));
	case TABLE_MS:
		return text_ms(text, json_object_get_uint64(value));
	case TABLE_BYTES:
		return text_bytes(text, json_object_get_uint64(value));
	default:
		return json_object_get_string(value);
	}
}

/* Width in characters, not bytes */
static int table_width(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

static void table_print_cell(const struct table_column *column, const char *text, int width)
{
	int room = width - table_width(text);
	bool last = !column[1].title;

	if (column->shape == TABLE_PLAIN)
		printf("%s%*s", text, last ? 0 : room, "");
	else
		printf("%*s%s", room, "", text);
	if (last)
		putchar('\n');
	else
		printf("%*s", GAP, "");
}

/* The width of the widest cell */
static int table_column_width(const struct table_column *column, struct json_object *rows)
{
	int width = table_width(column->title), w;
	char text[TEXT_BYTES];
	size_t i;

	for (i = 0; i < json_object_array_length(rows); i++) {
		w = table_width(table_cell(column, json_object_array_get_idx(rows, i), text));
		if (w > width)
			width = w;
	}
	return width;
}

static void table_print_row(const struct table_column *columns, const int *widths,
			    struct json_object *row)
{
	const struct table_column *column;
	char text[TEXT_BYTES];

	for (column = columns; column->title; column++)
		table_print_cell(column, table_cell(column, row, text), *widths++);
}

/* An array of objects; prints nothing if it is empty. */
static void table_print(const struct table_column *columns, struct json_object *rows)
{
	size_t i, count = json_object_array_length(rows);
	const struct table_column *column;
	int widths[COLUMNS_MAX], *width;

	if (!count)
		return;
	for (column = columns, width = widths; column->title; column++, width++)
		*width = table_column_width(column, rows);
	fputs(text_color(COLOR_NAME), stdout);
	for (column = columns, width = widths; column->title; column++, width++)
		table_print_cell(column, column->title, *width);
	fputs(text_color(COLOR_PLAIN), stdout);
	for (i = 0; i < count; i++)
		table_print_row(columns, widths, json_object_array_get_idx(rows, i));
}

void table_show(const struct table_column *columns, struct json_object *rows)
{
	if (options.json) {
		text_print(rows);
		return;
	}
	table_print(columns, rows);
	json_object_put(rows);
}
