// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdio.h>

#include "announce.h"
#include "fatal.h"
#include "progress.h"
#include "settings.h"
#include "underlying.h"
#include "variant.h"

/*
 * Version of all that ranks must do alike: the settings here, the exchange when joining
 * (joining.h), and which calls are handled
 */
#define VERSION 0xc0110006U
#define ANNOUNCEMENT_BYTES 256	/* in all versions */

/**
 * union announcement - sent by rank 0
 * @version: VERSION, at the same offset in all versions
 * @valid: the settings are valid
 * @settings: for all ranks
 * @bytes: as it is sent
 */
union announcement {
	struct {
		__u32			version;
		__u32			valid;
		struct cm_settings	settings;
	};
	__u8			bytes[ANNOUNCEMENT_BYTES];
};

_Static_assert(sizeof(union announcement) == ANNOUNCEMENT_BYTES, "settings do not fit");

static void announce_warn_of_unknown(void)
{
	const char *meant, *name = cm_setting_unknown(&meant);

	if (name)
		fprintf(stderr, "collsock: %s is ignored: it is no setting of %s%s%s%s\n", name,
			cm_variant.name, meant ? "; is " : "", meant ?: "", meant ? " meant?" : "");
}

static void announce_read_settings(union announcement *a)
{
	char error[512];

	announce_warn_of_unknown();

	a->version = VERSION;
	a->valid = !cm_settings_read(&a->settings, error, sizeof(error));
	if (!a->valid)
		cm_fatal_say("collsock: %s\n", error);
}

int cm_announce(const struct cm_comm *world)
{
	union announcement a = { };
	MPI_Request request;
	int err;

	if (!world->rank)
		announce_read_settings(&a);
	err = cm_underlying_broadcast(world, &a, sizeof(a), &request);
	if (!err)
		err = cm_progress_await(&request, "settings", world->rank, world->size);
	if (err)
		return err;
	if (a.version != VERSION)
		cm_fatal_abort(MPI_COMM_WORLD, 2,
			       "collsock: %s of rank %d has another version than that of rank 0: install the same one on all hosts\n",
			       cm_variant.name, world->rank);
	/* Rank 0 has printed why. */
	if (!a.valid)
		cm_underlying_abort(MPI_COMM_WORLD, 2);
	cm_settings = a.settings;
	return MPI_SUCCESS;
}
