// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "table.h"
#include "text.h"

#define COLUMNS_MAX	16
#define GAP		2

static const char *cell(const struct table_column *column, struct json_object *row,
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

/* Characters, not bytes. */
static int width_of(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

static void print_cell(const struct table_column *column, const char *text, int width)
{
	int room = width - width_of(text);
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

void table_print(const struct table_column *columns, struct json_object *rows)
{
	size_t i, count = json_object_array_length(rows);
	const struct table_column *column;
	int widths[COLUMNS_MAX], *width;
	char text[TEXT_BYTES];

	if (!count)
		return;
	for (column = columns, width = widths; column->title; column++, width++) {
		*width = width_of(column->title);
		for (i = 0; i < count; i++) {
			int w = width_of(cell(column, json_object_array_get_idx(rows, i), text));

			if (w > *width)
				*width = w;
		}
	}
	fputs(text_color(COLOR_NAME), stdout);
	for (column = columns, width = widths; column->title; column++, width++)
		print_cell(column, column->title, *width);
	fputs(text_color(COLOR_PLAIN), stdout);
	for (i = 0; i < count; i++)
		for (column = columns, width = widths; column->title; column++, width++)
			print_cell(column, cell(column, json_object_array_get_idx(rows, i), text),
				   *width);
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
