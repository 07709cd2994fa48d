// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <netinet/ether.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "reply.h"
#include "text.h"

void replies_add(struct replies *all, const struct reply *reply)
{
	struct reply *grown, copy = *reply;

	grown = reallocarray(all->reply, all->count + 1, sizeof(*grown));
	copy.head = malloc(reply->bytes ? reply->bytes : 1);
	if (!grown || !copy.head)
		err(EXIT_ERROR, "a reply");
	memcpy(copy.head, reply->head, reply->bytes);
	grown[all->count++] = copy;
	all->reply = grown;
}

void replies_free(struct replies *all)
{
	size_t i;

	for (i = 0; i < all->count; i++)
		free(all->reply[i].head);
	free(all->reply);
	*all = (struct replies){ };
}

struct reply reply_message(const struct genlmsghdr *message)
{
	return (struct reply){
		.head = genlmsg_attrdata(message, 0), .bytes = genlmsg_attrlen(message, 0)
	};
}

struct reply reply_nest(const struct nlattr *nest)
{
	return (struct reply){ .head = nla_data(nest), .bytes = nla_len(nest) };
}

uint64_t reply_value(const struct nlattr *attribute)
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

uint64_t reply_number(const struct reply *reply, int type, uint64_t otherwise)
{
	const struct nlattr *attribute = nla_find(reply->head, reply->bytes, type);

	return attribute ? reply_value(attribute) : otherwise;
}

bool reply_has(const struct reply *reply, int type)
{
	return nla_find(reply->head, reply->bytes, type);
}

size_t reply_count(const struct reply *reply, int type)
{
	const struct nlattr *attribute;
	size_t count = 0;
	int left;

	nla_for_each_attr(attribute, reply->head, reply->bytes, left)
		count += nla_type(attribute) == type;
	return count;
}

static void reply_mac(char *text, const unsigned char *mac)
{
	snprintf(text, REPLY_ADDRESS_BYTES, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1],
		 mac[2], mac[3], mac[4], mac[5]);
}

void reply_address(char text[REPLY_ADDRESS_BYTES], const struct nlattr *attribute)
{
	*text = '\0';
	switch (nla_len(attribute)) {
	case sizeof(struct in_addr):
		inet_ntop(AF_INET, nla_data(attribute), text, REPLY_ADDRESS_BYTES);
		break;
	case sizeof(struct in6_addr):
		inet_ntop(AF_INET6, nla_data(attribute), text, REPLY_ADDRESS_BYTES);
		break;
	case sizeof(struct ether_addr):
		reply_mac(text, nla_data(attribute));
		break;
	}
}

void reply_add_scope(char text[REPLY_ADDRESS_BYTES], uint64_t index)
{
	size_t length = strlen(text);
	char name[IF_NAMESIZE];

	if (!if_indextoname(index, name))
		snprintf(name, sizeof(name), "%u", (unsigned int)index);
	text_clean(name);
	snprintf(text + length, REPLY_ADDRESS_BYTES - length, "%%%s", name);
}
