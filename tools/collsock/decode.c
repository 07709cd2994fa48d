// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/collsock.h>

#include "decode.h"
#include "text.h"

static struct json_object *decode_string(const struct nlattr *attribute)
{
	char *text = strndup(nla_data(attribute), nla_len(attribute));
	struct json_object *json = text_json(text ? text : "");

	free(text);
	return json;
}

static struct json_object *decode_address(const struct nlattr *attribute)
{
	char text[REPLY_ADDRESS_BYTES];

	reply_address(text, attribute);
	return text_json(text);
}

static struct json_object *decode_scope(struct json_object *address, uint64_t index)
{
	char text[REPLY_ADDRESS_BYTES];

	snprintf(text, sizeof(text), "%s", json_object_get_string(address));
	reply_add_scope(text, index);
	return text_json(text);
}

/* A number without a name here, from a newer kernel, is shown as a number. */
static struct json_object *decode_name(const char *const *names, uint64_t number)
{
	char text[TEXT_BYTES];
	uint64_t i;

	for (i = 0; names[i]; i++)
		if (i == number && *names[i])
			return text_json(names[i]);
	snprintf(text, sizeof(text), "%ju", (uintmax_t)number);
	return text_json(text);
}

static struct json_object *decode_errno(uint64_t number)
{
	const char *name = strerrorname_np(number);
	char text[TEXT_BYTES];

	snprintf(text, sizeof(text), "%ju", (uintmax_t)number);
	return text_json(name ? name : text);
}

static struct json_object *decode_hex(uint64_t number)
{
	char text[TEXT_BYTES];

	snprintf(text, sizeof(text), "0x%016jx", (uintmax_t)number);
	return text_json(text);
}

static struct json_object *decode_nest(const struct decode_field *set,
				       const struct nlattr *attribute)
{
	struct reply nest = reply_nest(attribute);

	return decode(set, &nest);
}

/* NULL if the attribute is to be omitted. @object: what was decoded before */
static struct json_object *decode_attribute(const struct decode_field *field,
					    const struct nlattr *attribute,
					    struct json_object *object)
{
	uint64_t number = reply_value(attribute);

	switch (field->kind) {
	case DECODE_HEX:
		return decode_hex(number);
	case DECODE_RANK:
		return number == COLLSOCK_NO_RANK ? NULL : json_object_new_uint64(number);
	case DECODE_ERRNO:
		return number ? decode_errno(number) : NULL;
	case DECODE_NAME:
		return decode_name(field->names, number);
	case DECODE_STRING:
		return decode_string(attribute);
	case DECODE_FLAG:
		return json_object_new_boolean(1);
	case DECODE_ADDRESS:
		return decode_address(attribute);
	case DECODE_SCOPE:
		return decode_scope(json_object_object_get(object, field->name), number);
	case DECODE_NEST:
	case DECODE_NESTS:
		return decode_nest(field->set, attribute);
	default:
		return json_object_new_uint64(number);
	}
}

static bool decode_is_array(const struct decode_field *field)
{
	return field->kind == DECODE_NUMBERS || field->kind == DECODE_NESTS;
}

struct json_object *decode(const struct decode_field *set, const struct reply *reply)
{
	struct json_object *object = json_object_new_object(), *array, *value;
	const struct decode_field *field;
	struct nlattr *attribute;
	int left;

	/* In the order of the set, whatever the order of the kernel */
	for (field = set; field->name; field++) {
		array = decode_is_array(field) ? json_object_new_array() : NULL;
		if (array)
			json_object_object_add(object, field->name, array);
		if (field->kind == DECODE_FLAG)
			json_object_object_add(object, field->name, json_object_new_boolean(0));
		nla_for_each_attr(attribute, reply->head, reply->bytes, left) {
			if (nla_type(attribute) != field->type)
				continue;
			value = decode_attribute(field, attribute, object);
			if (array)
				json_object_array_add(array, value);
			else if (value)
				json_object_object_add(object, field->name, value);
		}
	}
	if (reply->pid)
		text_put(object, "pid", reply->pid);
	return object;
}

struct json_object *decode_all(const struct decode_field *set, const struct replies *replies)
{
	struct json_object *all = json_object_new_array();
	size_t i;

	for (i = 0; i < replies->count; i++)
		json_object_array_add(all, decode(set, &replies->reply[i]));
	return all;
}
