/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The settings, as rank 0 of MPI_COMM_WORLD has them: environment variables, or parameters of
 * the component.
 */
#ifndef COLLSOCK_MPI_SETTINGS_H
#define COLLSOCK_MPI_SETTINGS_H

#include <stddef.h>
#include <linux/collsock.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

enum cm_mode {
	CM_OFF,
	CM_ON,
	CM_REQUIRE,	/* abort the program if a communicator cannot join */
};

/* CM_SPIN_AUTO: spin if each rank has a processor of its own */
#define CM_SPIN_AUTO 0xffffffffU

/**
 * struct cm_settings - the same on all ranks of MPI_COMM_WORLD
 * @mode: enum cm_mode
 * @after: number of the collective at which a communicator joins; 0: MPI_COMM_WORLD joins
 *         in MPI_Init
 * @max_bytes: largest payload of a call that is handled
 * @window: operations under way at once
 * @liveness_ms: silence after which a host counts as dead
 * @port: UDP port of all hosts; 0: that of the module
 * @spin_us: how long a wait spins before it sleeps, or CM_SPIN_AUTO
 * @algorithm: enum collsock_algorithm, by operation number, as in JOIN
 * @degree: of all algorithms; 0: the usual one of each
 * @verbose: print which communicators have joined, and why others have not
 * @summary: print a summary in MPI_Finalize
 * @bearer: enum collsock_bearer; not COLLSOCK_BEARER_AUTO if @multicast is set
 * @network_family: AF_INET, AF_INET6, or 0 for any network
 * @network_prefix: length of the prefix of @network
 * @network: network over which hosts communicate
 * @multicast: multicast address of the groups; all zero: none
 */
struct cm_settings {
	__u32	mode;
	__u32	after;
	__u32	max_bytes;
	__u32	window;
	__u32	liveness_ms;
	__u32	port;
	__u32	spin_us;
	__u8		algorithm[COLLSOCK_MAX_OPERATIONS];
	__u8		degree;
	__u8		verbose;
	__u8		summary;
	__u8		bearer;
	__u8		network_prefix;
	__u8		reserved;
	__u16	network_family;
	__u8		network[16];
	__u8		multicast[16];
};

extern struct cm_settings cm_settings;

enum cm_setting {
	CM_SETTING_MODE,
	CM_SETTING_AFTER,
	CM_SETTING_MAX_BYTES,
	CM_SETTING_WINDOW,
	CM_SETTING_PORT,
	CM_SETTING_LIVENESS,
	CM_SETTING_SPIN,
	CM_SETTING_VERBOSE,
	CM_SETTING_SUMMARY,
	CM_SETTING_ALGORITHM,
	CM_SETTING_NETWORK,
	CM_SETTING_BEARER,
	CM_SETTING_MULTICAST,
	CM_SETTINGS,
};

/*
 * The names of settings for users, and their values; NULL or "" if one is not set. preload/ and
 * component/ supply them.
 */
extern const char *const cm_setting_names[CM_SETTINGS];
const char *cm_setting_text(enum cm_setting setting);

/*
 * A name that is set and resembles that of a setting, but is not one, for instance after a typing
 * error; or NULL. @meant: out: the setting that was probably meant, or NULL.
 */
const char *cm_setting_unknown(const char **meant);

/* Read all of them. Returns 0, or -1 with a message in @error. */
int cm_settings_read(struct cm_settings *settings, char *error, size_t bytes);

#endif
