// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "text.h"

#define REPLACEMENT '?'

/* Length of the UTF-8 character at @at; 0 if it is not valid */
static size_t text_character_bytes(const unsigned char *at, size_t left)
{
	static const struct {
		unsigned char	mask, lead;
		uint32_t	least;
	} forms[] = {
		{ 0x80, 0x00, 0x20 },
		{ 0xe0, 0xc0, 0xa0 },	/* 0x80 to 0x9f are control characters, too */
		{ 0xf0, 0xe0, 0x800 },
		{ 0xf8, 0xf0, 0x10000 },
	};
	uint32_t code;
	size_t i, n;

	for (n = 0; n < 4; n++)
		if ((at[0] & forms[n].mask) == forms[n].lead)
			break;
	if (n == 4 || n >= left)
		return 0;
	code = at[0] & ~forms[n].mask;
	for (i = 1; i <= n; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	if (code < forms[n].least || code == 0x7f || code > 0x10ffff ||
	    (code >= 0xd800 && code < 0xe000))
		return 0;
	return n + 1;
}

void text_clean(char *text)
{
	size_t i, bytes, left = strlen(text);

	for (i = 0; left; i += bytes, left -= bytes) {
		bytes = text_character_bytes((unsigned char *)text + i, left);
		if (bytes)
			continue;
		text[i] = REPLACEMENT;
		bytes = 1;
	}
}

struct json_object *text_json(const char *text)
{
	char *clean = text_format("%s", text);
	struct json_object *json;

	text_clean(clean);
	json = json_object_new_string(clean);
	free(clean);
	return json;
}

const char *text_us(char text[TEXT_BYTES], uint64_t us)
{
	if (us < 1000)
		snprintf(text, TEXT_BYTES, "%ju us", (uintmax_t)us);
	else if (us < 1000000)
		snprintf(text, TEXT_BYTES, "%.*f ms", us < 100000 ? 1 : 0, us / 1e3);
	else if (us < 120000000)
		snprintf(text, TEXT_BYTES, "%.1f s", us / 1e6);
	else if (us < 7200000000)
		snprintf(text, TEXT_BYTES, "%ju min %02ju s", (uintmax_t)us / 60000000,
			 (uintmax_t)us / 1000000 % 60);
	else
		snprintf(text, TEXT_BYTES, "%ju h %02ju min", (uintmax_t)us / 3600000000,
			 (uintmax_t)us / 60000000 % 60);
	return text;
}

const char *text_ms(char text[TEXT_BYTES], uint64_t ms)
{
	if (ms < 1000) {
		snprintf(text, TEXT_BYTES, "%ju ms", (uintmax_t)ms);
		return text;
	}
	return text_us(text, ms * 1000);
}

const char *text_bytes(char text[TEXT_BYTES], uint64_t bytes)
{
	if (bytes < 1024)
		snprintf(text, TEXT_BYTES, "%ju B", (uintmax_t)bytes);
	else if (bytes < 1024 * 1024)
		snprintf(text, TEXT_BYTES, "%.1f KiB", bytes / 1024.);
	else
		snprintf(text, TEXT_BYTES, "%.1f MiB", bytes / 1048576.);
	return text;
}

const char *text_share(char text[TEXT_BYTES], uint64_t part, uint64_t whole)
{
	snprintf(text, TEXT_BYTES, "%.1f %%", whole ? 100. * part / whole : 0.);
	return text;
}

const char *text_color(enum text_color color)
{
	static const char *const codes[] = {
		[COLOR_PLAIN]	= "\033[0m",
		[COLOR_GOOD]	= "\033[32m",
		[COLOR_WARNING]	= "\033[33m",
		[COLOR_BAD]	= "\033[1;31m",
		[COLOR_NAME]	= "\033[36m",
	};

	return options.color ? codes[color] : "";
}

void text_print(struct json_object *json)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE;

	if (options.pretty)
		flags |= JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;
	puts(json_object_to_json_string_ext(json, flags));
	json_object_put(json);
}

bool text_has(struct json_object *object, const char *key)
{
	return json_object_object_get_ex(object, key, NULL);
}

uint64_t text_number(struct json_object *object, const char *key, uint64_t otherwise)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value))
		return otherwise;
	return json_object_get_uint64(value);
}

const char *text_string(struct json_object *object, const char *key, const char *otherwise)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value))
		return otherwise;
	return json_object_get_string(value);
}

bool text_flag(struct json_object *object, const char *key)
{
	return json_object_get_boolean(json_object_object_get(object, key));
}

void text_put(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

void text_put_string(struct json_object *object, const char *key, const char *value)
{
	json_object_object_add(object, key, text_json(value));
}

char *text_format(const char *form, ...)
{
	va_list arguments;
	char *text;
	int bytes;

	va_start(arguments, form);
	bytes = vasprintf(&text, form, arguments);
	va_end(arguments);
	if (bytes < 0)
		err(EXIT_ERROR, "a text");
	return text;
}
