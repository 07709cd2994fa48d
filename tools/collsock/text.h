/* SPDX-License-Identifier: GPL-2.0 */
/* Texts: clean ones, times and amounts with units, JSON in and out. */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>

#define TEXT_BYTES 64

/* Of a number that the kernel did not tell */
#define NUMBER_UNKNOWN UINT64_MAX

enum text_color {
	COLOR_PLAIN,
	COLOR_GOOD,
	COLOR_WARNING,
	COLOR_BAD,
	COLOR_NAME,
};

/* A JSON string. What is no UTF-8, or would steer a terminal, becomes a question mark. */
struct json_object *text_json(const char *text);

/* A duration, an amount of memory, a share in per cent; all return @text. */
const char *text_us(char text[TEXT_BYTES], uint64_t us);
const char *text_ms(char text[TEXT_BYTES], uint64_t ms);
const char *text_bytes(char text[TEXT_BYTES], uint64_t bytes);
const char *text_share(char text[TEXT_BYTES], uint64_t part, uint64_t whole);

/* What begins and ends a color; empty without colors. */
const char *text_color(enum text_color color);

/* JSON on standard output, in one line unless it is to be pretty; it is freed. */
void text_print(struct json_object *json);

/* Members of an object; what is absent is the other value. */
bool text_has(struct json_object *object, const char *key);
uint64_t text_number(struct json_object *object, const char *key, uint64_t otherwise);
const char *text_string(struct json_object *object, const char *key, const char *otherwise);
bool text_flag(struct json_object *object, const char *key);

/* Put a member into an object. */
void text_put(struct json_object *object, const char *key, uint64_t value);
void text_put_string(struct json_object *object, const char *key, const char *value);

/* A string that grows; the end of the process without memory. */
[[gnu::format(printf, 1, 2)]]
char *text_format(const char *form, ...);

#endif
