// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "firewall.h"

#define DIGITS	"0123456789"
#define BETWEEN	" \t\n;,{}"

/* Comments and prefixes of log messages have no effect. */
static void firewall_blank_quoted(char *line)
{
	bool quoted = false;

	for (; *line; line++) {
		if (quoted && *line == '\\' && line[1]) {
			*line++ = ' ';
			*line = ' ';
		} else if (*line == '"') {
			quoted = !quoted;
		} else if (quoted) {
			*line = ' ';
		}
	}
}

/*
 * Numbers and ranges, nft's with -, iptables' with :. Return: the end of the one with the
 * port
 */
static const char *firewall_find_port(const char *at, const char *end, unsigned long port)
{
	unsigned long first, last;
	bool number;
	char *behind;

	for (; (at += strcspn(at, DIGITS)) < end; at = behind) {
		number = strchr(BETWEEN, at[-1]);
		first = strtoul(at, &behind, 10);
		last = first;
		if ((*behind == '-' || *behind == ':') && isdigit(behind[1]))
			last = strtoul(behind + 1, &behind, 10);
		if (number && first <= port && port <= last)
			return behind;
	}
	return NULL;
}

/* With iptables the decision follows -j, with nft it is a separate word. */
static enum firewall_says firewall_decision(const char *text, const char *end)
{
	const char *jump = strstr(text, " -j ");
	size_t length;

	for (text = jump ? jump + 4 : text; text < end; text += length) {
		text += strspn(text, BETWEEN);
		length = strcspn(text, BETWEEN);
		if (length == 6 && !strncasecmp(text, "accept", length))
			return FIREWALL_ACCEPTS;
		if ((length == 4 && !strncasecmp(text, "drop", length)) ||
		    (length == 6 && !strncasecmp(text, "reject", length)))
			return FIREWALL_REFUSES;
		if (jump || !length)
			break;
	}
	return FIREWALL_NOTHING;
}

static bool firewall_stands_before(const char *word, const char *line, const char *at)
{
	size_t length = strlen(word);

	return (size_t)(at - line) >= length && !strncmp(at - length, word, length);
}

/* The UDP ports in the rule, or NULL */
static const char *firewall_find_ports(const char *line)
{
	const char *at = strstr(line, "dport");
	bool udp;

	if (!at)
		return NULL;
	/* For any protocol with ports, unless the rule names one before */
	if (firewall_stands_before("th ", line, at))
		udp = strstr(line, "udp") || !strstr(line, "tcp");
	else
		udp = firewall_stands_before("udp ", line, at) || strstr(line, "-p udp ");
	return udp ? at : NULL;
}

static enum firewall_says firewall_read_map(const char *at, unsigned long port)
{
	const char *end = at + strcspn(at, "}");

	at = firewall_find_port(at, end, port);
	return at ? firewall_decision(at, at + strcspn(at, ",}")) : FIREWALL_NOTHING;
}

/* Comparisons of nft: < <= > >= */
static bool firewall_compares(const char *at, unsigned long port)
{
	unsigned long bound = strtoul(at + strcspn(at, DIGITS), NULL, 10);

	if (port == bound)
		return at[1] == '=';
	return *at == '<' ? port < bound : port > bound;
}

static enum firewall_says firewall_read_ports(const char *line, const char *at, unsigned long port)
{
	bool negated = firewall_stands_before("! --", line, at), matches;
	const char *ports;

	at += strcspn(at, " ");
	at += strspn(at, " ");
	if (!strncmp(at, "vmap {", 6))
		return firewall_read_map(at + 5, port);
	if (!strncmp(at, "!= ", 3)) {
		negated = true;
		at += 3;
	}
	/* A named set, or ports combined with another key */
	if (*at == '@' || *at == '.' || !strncmp(at, "vmap", 4))
		return FIREWALL_UNCLEAR;
	ports = at;
	at += strspn(at, " {},-:" DIGITS);
	if (*ports == '<' || *ports == '>')
		matches = firewall_compares(ports, port);
	else
		matches = firewall_find_port(ports, at, port);
	return matches != negated ? firewall_decision(at, at + strlen(at)) : FIREWALL_NOTHING;
}

static bool firewall_has_one_of(const char *line, const char *const words[])
{
	while (*words && !strstr(line, *words))
		words++;
	return *words;
}

/* Does the rule match by sender only? Interface "lo" is ignored. */
static bool firewall_is_of_senders_alone(const char *line)
{
	static const char *const senders[] = {
		"saddr ", " -s ", "iifname ", "iif ", " -i ", NULL
	};
	static const char *const others[] = {
		"dport", "sport", "tcp", "icmp", "proto", "daddr", " -d ", " -p ", "state", "type",
		"oif", " -o ", "FORWARD", "OUTPUT", "\"lo\"", " -i lo ", NULL
	};

	return firewall_has_one_of(line, senders) && !firewall_has_one_of(line, others);
}

enum firewall_says firewall_reads(const char *line, unsigned long port)
{
	enum firewall_says says = FIREWALL_NOTHING;
	char *words = strdup(line);
	const char *ports;

	if (!words)
		err(EXIT_ERROR, "a rule");
	firewall_blank_quoted(words);
	ports = firewall_find_ports(words);
	if (ports)
		says = firewall_read_ports(words, ports, port);
	else if (firewall_is_of_senders_alone(line) &&
		 firewall_decision(words, words + strlen(words)) == FIREWALL_ACCEPTS)
		says = FIREWALL_ACCEPTS_SOME;
	free(words);
	return says;
}

/* An nft rule that matches every packet has only a counter before its verdict. */
static bool firewall_refuses_all(const char *rule)
{
	const char *counted = strncmp(rule, "counter ", 8) ? NULL : strstr(rule, " bytes ");

	if (counted)
		rule = counted + 7 + strspn(counted + 7, DIGITS);
	rule += strspn(rule, BETWEEN);
	return firewall_decision(rule, rule + strcspn(rule, BETWEEN)) == FIREWALL_REFUSES;
}

bool firewall_closes(const char *line, bool *input)
{
	const char *rule = line + strspn(line, BETWEEN);

	if (strstr(line, "hook input"))
		*input = true;
	else if (!*rule && strchr(line, '}'))
		*input = false;
	if (!strncmp(rule, "-A INPUT -j ", 12))
		return firewall_decision(line, line + strlen(line)) == FIREWALL_REFUSES;
	return strstr(line, ":INPUT DROP") ||
	       (*input && (strstr(line, "policy drop") || firewall_refuses_all(rule)));
}

enum firewall_keeper firewall_keeper_of(const char *line)
{
	if (strstr(line, "table inet firewalld") || strstr(line, ":INPUT_ZONES "))
		return FIREWALL_OF_FIREWALLD;
	return strstr(line, "ufw-user-input") ? FIREWALL_OF_UFW : FIREWALL_OF_NOBODY;
}
