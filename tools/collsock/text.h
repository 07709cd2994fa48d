/* SPDX-License-Identifier: GPL-2.0 */
/* Text: sanitised strings, times and sizes with units, JSON */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>

#define TEXT_BYTES 64

/* For numbers that the kernel did not report */
#define NUMBER_UNKNOWN UINT64_MAX

enum text_color {
	COLOR_PLAIN,
	COLOR_GOOD,
	COLOR_WARNING,
	COLOR_BAD,
	COLOR_NAME,
};

/* Bytes of control characters and of invalid UTF-8 become question marks. */
void text_clean(char *text);

/* A JSON string of clean text */
struct json_object *text_json(const char *text);

/* Format a duration, a size in memory, a share in per cent; all return @text. */
const char *text_us(char text[TEXT_BYTES], uint64_t us);
const char *text_ms(char text[TEXT_BYTES], uint64_t ms);
const char *text_bytes(char text[TEXT_BYTES], uint64_t bytes);
const char *text_share(char text[TEXT_BYTES], uint64_t part, uint64_t whole);

/* Escape sequences that begin and end a colour; empty without colours */
const char *text_color(enum text_color color);

/* Print JSON on standard output, in one line unless --pretty is given, and free it. */
void text_print(struct json_object *json);

/* Read members of an object; @otherwise if absent. */
bool text_has(struct json_object *object, const char *key);
uint64_t text_number(struct json_object *object, const char *key, uint64_t otherwise);
const char *text_string(struct json_object *object, const char *key, const char *otherwise);
bool text_flag(struct json_object *object, const char *key);

/* Add a member to an object. */
void text_put(struct json_object *object, const char *key, uint64_t value);
void text_put_string(struct json_object *object, const char *key, const char *value);

/* A formatted string in new memory; exits if there is none. */
[[gnu::format(printf, 1, 2)]]
char *text_format(const char *form, ...);

#endif
