// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Reads the settings, which are texts. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <collsock.h>

#include "settings.h"
#include "../../kernel/core/registry.h"
#include "../src/launch_environment.h"
#include "../src/launch_network.h"

#define DEFAULT_AFTER		4
/* For larger payloads some MPIs are faster: Documentation/mpi-performance.md */
#define DEFAULT_MAX_BYTES	1024
/*
 * A stream of broadcasts or reductions is acknowledged late, because no messages go back to
 * the senders: with a smaller window programs wait for that.
 */
#define DEFAULT_WINDOW		COLLSOCK_MAX_WINDOW
#define DEFAULT_LIVENESS_S	60
#define MS_PER_S		1000

struct cm_settings cm_settings;

/**
 * struct settings_number - a setting that is a number
 * @setting: which
 * @least: smallest value
 * @most: largest value
 * @value: where to store it; unchanged if it is not set
 */
struct settings_number {
	enum cm_setting	setting;
	unsigned long	least;
	unsigned long	most;
	__u32	*value;
};

static int settings_read_number(const struct settings_number *v, char *error, size_t bytes)
{
	const char *text = cm_setting_text(v->setting);
	unsigned long number;
	char *end;

	if (!text || !*text)
		return 0;
	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno || *end || *text == '-' || number < v->least || number > v->most) {
		snprintf(error, bytes, "%s=%s: not a number from %lu to %lu",
			 cm_setting_names[v->setting], text, v->least, v->most);
		return -1;
	}
	*v->value = number;
	return 0;
}

static int settings_read_mode(struct cm_settings *s, char *error, size_t bytes)
{
	static const char *const names[] = {
		[CM_OFF] = "off", [CM_ON] = "on", [CM_REQUIRE] = "require",
	};
	const char *text = cm_setting_text(CM_SETTING_MODE);

	s->mode = CM_ON;
	if (!text || !*text)
		return 0;
	for (s->mode = 0; s->mode <= CM_REQUIRE; s->mode++)
		if (!strcmp(text, names[s->mode]))
			return 0;
	snprintf(error, bytes, "%s=%s: not on, off or require", cm_setting_names[CM_SETTING_MODE],
		 text);
	return -1;
}

/* ---- algorithms: barrier=dissemination,reduce=kary,degree=4 ---- */

static const char *const settings_operations[] = { COLLSOCK_OPERATION_LIST(COLLSOCK_NAME) };
static const char *const settings_algorithms[] = {
	"auto", COLLSOCK_ALGORITHM_LIST(COLLSOCK_NAME)
};

/* The position of a name among others, some of which may be NULL, or -1 */
static int settings_find(const char *name, const char *const *names, int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (names[i] && !strcmp(name, names[i]))
			return i;
	return -1;
}

static bool settings_has_algorithm(int operation, int algorithm)
{
	return algorithm == COLLSOCK_AUTO || coll_registry_find(operation, algorithm);
}

/* The algorithms of an operation, as "auto, kary"; those that do not fit are left out. */
static void settings_print_algorithms(int operation, char *text, size_t bytes)
{
	size_t used = 0, i;

	*text = '\0';
	for (i = 0; i < ARRAY_SIZE(settings_algorithms) && used < bytes; i++)
		if (settings_has_algorithm(operation, i))
			used += snprintf(text + used, bytes - used, "%s%s", used ? ", " : "",
					 settings_algorithms[i]);
}

static int settings_read_degree(struct cm_settings *s, const char *value)
{
	unsigned long degree;
	char *end;

	degree = strtoul(value, &end, 10);
	if (degree < 2 || degree > COLLSOCK_MAX_DEGREE || *end)
		return -1;
	s->degree = degree;
	return 0;
}

/* Read one of the words between the commas, which is changed; @error receives what is wrong. */
static int settings_read_word(struct cm_settings *s, char *word, char *error, size_t bytes)
{
	char *value = strchr(word, '='), has[160];
	int operation, algorithm;

	if (value)
		*value++ = '\0';
	if (value && !strcmp(word, "degree")) {
		snprintf(error, bytes, "degree is a number from 2 to %d", COLLSOCK_MAX_DEGREE);
		return settings_read_degree(s, value);
	}
	operation = settings_find(word, settings_operations, ARRAY_SIZE(settings_operations));
	if (operation < 0 || !value) {
		snprintf(error, bytes, "not of the form barrier=exchange,allreduce=kary,degree=4");
		return -1;
	}
	algorithm = settings_find(value, settings_algorithms, ARRAY_SIZE(settings_algorithms));
	if (algorithm < 0 || !settings_has_algorithm(operation, algorithm)) {
		settings_print_algorithms(operation, has, sizeof(has));
		snprintf(error, bytes, "%s has only %s", word, has);
		return -1;
	}
	s->algorithm[operation] = algorithm;
	return 0;
}

static int settings_read_algorithms(struct cm_settings *s, char *error, size_t bytes)
{
	const char *text = cm_setting_text(CM_SETTING_ALGORITHM);
	char wrong[256] = "no memory", *copy, *rest, *word;
	int err = 0;

	if (!text || !*text)
		return 0;
	copy = strdup(text);
	rest = copy;
	while (!err && (word = strsep(&rest, ",")))
		err = settings_read_word(s, word, wrong, sizeof(wrong));
	free(copy);
	if (copy && !err)
		return 0;
	snprintf(error, bytes, "%s=%s: %s", cm_setting_names[CM_SETTING_ALGORITHM], text, wrong);
	return -1;
}

/* ---- the network: 10.1.0.0/16 ---- */

/* If it is not set, that of other ranks is used. */
static int settings_read_network(struct cm_settings *s, char *error, size_t bytes)
{
	const char *text = cm_setting_text(CM_SETTING_NETWORK);
	const char *name = cm_setting_names[CM_SETTING_NETWORK];
	struct collsock_options o;

	if (!text || !*text) {
		text = launch_variable(LAUNCH_NETWORK);
		name = LAUNCH_NETWORK;
	}
	if (!text)
		return 0;
	if (launch_network_parse(text, &o)) {
		snprintf(error, bytes, "%s=%s: not " LAUNCH_NETWORK_FORM, name, text);
		return -1;
	}
	s->network_family = o.family;
	s->network_prefix = o.prefix;
	memcpy(s->network, o.network, sizeof(s->network));
	return 0;
}

/* ---- the bearer ---- */

static int settings_read_bearer(struct cm_settings *s, char *error, size_t bytes)
{
	static const char *const names[] = {
		[COLLSOCK_BEARER_UDP] = "udp", [COLLSOCK_BEARER_ETHERNET] = "ethernet",
		[COLLSOCK_BEARER_AUTO] = "auto",
	};
	const char *text = cm_setting_text(CM_SETTING_BEARER);

	s->bearer = COLLSOCK_BEARER_AUTO;
	if (!text || !*text)
		return 0;
	for (s->bearer = 0; s->bearer < ARRAY_SIZE(names); s->bearer++)
		if (!strcmp(text, names[s->bearer]))
			return 0;
	snprintf(error, bytes, "%s=%s: not auto, udp or ethernet",
		 cm_setting_names[CM_SETTING_BEARER], text);
	return -1;
}

/* ---- the multicast address ---- */

static bool settings_is_ip(const char *text)
{
	__u8 address[16];

	return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1;
}

/* It is an address of one bearer. */
static int settings_read_multicast(struct cm_settings *s, char *error, size_t bytes)
{
	const char *text = cm_setting_text(CM_SETTING_MULTICAST);

	if (!text || !*text)
		return 0;
	if (!collsock_multicast_from_text(text, s->multicast)) {
		if (s->bearer == COLLSOCK_BEARER_AUTO)
			s->bearer = settings_is_ip(text) ? COLLSOCK_BEARER_UDP :
							   COLLSOCK_BEARER_ETHERNET;
		return 0;
	}
	snprintf(error, bytes, "%s=%s: no multicast address, as 239.7.7.7",
		 cm_setting_names[CM_SETTING_MULTICAST], text);
	return -1;
}

int cm_settings_read(struct cm_settings *s, char *error, size_t bytes)
{
	__u32 liveness_s = DEFAULT_LIVENESS_S, verbose = 0, summary = 0;
	const struct settings_number numbers[] = {
		{ CM_SETTING_AFTER, 0, INT32_MAX, &s->after },
		{ CM_SETTING_MAX_BYTES, 8, COLLSOCK_MAX_PAYLOAD, &s->max_bytes },
		{ CM_SETTING_WINDOW, 1, COLLSOCK_MAX_WINDOW, &s->window },
		{ CM_SETTING_PORT, 1, UINT16_MAX, &s->port },
		{ CM_SETTING_LIVENESS, 1, COLLSOCK_MAX_LIVENESS_MS / MS_PER_S, &liveness_s },
		{ CM_SETTING_SPIN, 0, INT32_MAX, &s->spin_us },
		{ CM_SETTING_VERBOSE, 0, 1, &verbose },
		{ CM_SETTING_SUMMARY, 0, 1, &summary },
	};
	size_t i;

	memset(s, 0, sizeof(*s));
	s->after = DEFAULT_AFTER;
	s->max_bytes = DEFAULT_MAX_BYTES;
	s->window = DEFAULT_WINDOW;
	s->spin_us = CM_SPIN_AUTO;
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (settings_read_number(&numbers[i], error, bytes))
			return -1;
	s->liveness_ms = liveness_s * MS_PER_S;
	s->verbose = verbose;
	s->summary = summary;
	if (settings_read_mode(s, error, bytes) || settings_read_algorithms(s, error, bytes) ||
	    settings_read_bearer(s, error, bytes) ||
	    settings_read_multicast(s, error, bytes))
		return -1;
	return settings_read_network(s, error, bytes);
}
