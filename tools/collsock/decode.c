// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/collsock.h>

#include "decode.h"
#include "text.h"

/* An unsigned number of any valid width; 0 for other lengths */
static uint64_t decode_number(const struct nlattr *attribute)
{
	switch (nla_len(attribute)) {
	case sizeof(uint8_t):
		return nla_get_u8(attribute);
	case sizeof(uint16_t):
		return nla_get_u16(attribute);
	case sizeof(uint32_t):
		return nla_get_u32(attribute);
	case sizeof(uint64_t):
		return nla_get_u64(attribute);
	default:
		return 0;
	}
}

static struct json_object *decode_string(const struct nlattr *attribute)
{
	char *text = nla_strdup(attribute);
	struct json_object *json = text_json(text ? text : "");

	free(text);
	return json;
}

static void decode_mac(char *text, size_t bytes, const unsigned char *mac)
{
	snprintf(text, bytes, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
		 mac[4], mac[5]);
}

/* By its length: a MAC address, or one of IPv4 or IPv6 */
static struct json_object *decode_address(const struct nlattr *attribute)
{
	char text[INET6_ADDRSTRLEN] = "";

	switch (nla_len(attribute)) {
	case sizeof(struct in_addr):
		inet_ntop(AF_INET, nla_data(attribute), text, sizeof(text));
		break;
	case sizeof(struct in6_addr):
		inet_ntop(AF_INET6, nla_data(attribute), text, sizeof(text));
		break;
	case sizeof(struct ether_addr):
		decode_mac(text, sizeof(text), nla_data(attribute));
		break;
	}
	return text_json(text);
}

/* In the form that getaddrinfo(3) accepts: fe80::1%eth0, or with the index of the interface */
static struct json_object *decode_scope(struct json_object *address, uint64_t index)
{
	char text[INET6_ADDRSTRLEN + 1 + IF_NAMESIZE], name[IF_NAMESIZE];

	if (!if_indextoname(index, name))
		snprintf(name, sizeof(name), "%u", (unsigned int)index);
	snprintf(text, sizeof(text), "%s%%%s", json_object_get_string(address), name);
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
	return decode(set, nla_data(attribute), nla_len(attribute));
}

/* NULL if the attribute is to be omitted. @object: what was decoded before */
static struct json_object *decode_attribute(const struct decode_field *field,
					    const struct nlattr *attribute,
					    struct json_object *object)
{
	uint64_t number = decode_number(attribute);

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

struct json_object *decode(const struct decode_field *set, struct nlattr *head, int bytes)
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
		nla_for_each_attr(attribute, head, bytes, left) {
			if (nla_type(attribute) != field->type)
				continue;
			value = decode_attribute(field, attribute, object);
			if (array)
				json_object_array_add(array, value);
			else if (value)
				json_object_object_add(object, field->name, value);
		}
	}
	return object;
}
