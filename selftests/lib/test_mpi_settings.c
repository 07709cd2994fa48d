// SPDX-License-Identifier: GPL-2.0
/* Settings of libcollsock-mpi from the environment, and messages for invalid ones */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <collsock.h>

#include "../../libcollsock/mpi/settings.h"
#include "../harness.h"

static const char *const variables[] = {
	"COLLSOCK_MPI", "COLLSOCK_MPI_AFTER", "COLLSOCK_MPI_MAX_BYTES", "COLLSOCK_MPI_WINDOW",
	"COLLSOCK_MPI_PORT", "COLLSOCK_MPI_LIVENESS", "COLLSOCK_MPI_SPIN", "COLLSOCK_MPI_VERBOSE",
	"COLLSOCK_MPI_SUMMARY", "COLLSOCK_MPI_ALGORITHM", "COLLSOCK_MPI_NETWORK",
	"COLLSOCK_MPI_BEARER", "COLLSOCK_MPI_MULTICAST", "COLLSOCK_NETWORK",
};

/* As in a program that is setuid */
static bool has_more_rights;

char *__wrap_secure_getenv(const char *name);

char *__wrap_secure_getenv(const char *name)
{
	return has_more_rights ? NULL : getenv(name);
}

FIXTURE(settings)
{
	struct cm_settings	got;
	char			error[512];
};

FIXTURE_SETUP(settings)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(variables); i++)
		unsetenv(variables[i]);
}

FIXTURE_TEARDOWN(settings)
{
}

#define READ(name, text) ({ \
	setenv(name, text, 1); \
	cm_settings_read(&self->got, self->error, sizeof(self->error)); \
})

/* The message names the variable and repeats its value. */
static bool refuses(const char *name, const char *text)
{
	struct cm_settings got;
	char error[512], said[512];
	int status;

	setenv(name, text, 1);
	status = cm_settings_read(&got, error, sizeof(error));
	unsetenv(name);
	snprintf(said, sizeof(said), "%s=%s", name, text);
	return status == -1 && strstr(error, said);
}

static const char *unknown_beside(const char *name, const char **meant)
{
	const char *found;

	setenv(name, "1", 1);
	found = cm_setting_unknown(meant);
	unsetenv(name);
	return found;
}

TEST_F(settings, what_looks_like_a_setting_and_is_none_is_found)
{
	const char *meant;
	size_t i;

	EXPECT_EQ(NULL, cm_setting_unknown(&meant));
	EXPECT_STREQ("COLLSOCK_MPI_AFTERR", unknown_beside("COLLSOCK_MPI_AFTERR", &meant));
	EXPECT_STREQ("COLLSOCK_MPI_AFTER", meant);
	EXPECT_STREQ("COLLSOCK_MPI_MAX_BYTE", unknown_beside("COLLSOCK_MPI_MAX_BYTE", &meant));
	EXPECT_STREQ("COLLSOCK_MPI_MAX_BYTES", meant);
	EXPECT_STREQ("COLLSOCK_MPI_QUICK", unknown_beside("COLLSOCK_MPI_QUICK", &meant));
	EXPECT_EQ(NULL, meant);
	EXPECT_STREQ("COLLSOCK_MPI_", unknown_beside("COLLSOCK_MPI_", &meant));
	EXPECT_EQ(NULL, unknown_beside("COLLSOCK_KEY", &meant));
	for (i = 0; i < ARRAY_SIZE(variables); i++)
		EXPECT_EQ(NULL, unknown_beside(variables[i], &meant));
}

TEST_F(settings, a_long_name_is_cut_off)
{
	const char *meant, *found;
	char name[200];

	snprintf(name, sizeof(name), "COLLSOCK_MPI_%0150d", 0);
	found = unknown_beside(name, &meant);
	ASSERT_NE(NULL, found);
	EXPECT_EQ(0, strncmp(found, name, strlen(found)));
}

TEST_F(settings, defaults)
{
	ASSERT_EQ(0, cm_settings_read(&self->got, self->error, sizeof(self->error)));
	EXPECT_EQ(CM_ON, self->got.mode);
	EXPECT_EQ(60000, self->got.liveness_ms);
	EXPECT_EQ(CM_SPIN_AUTO, self->got.spin_us);
	EXPECT_EQ(COLLSOCK_MAX_WINDOW, self->got.window);
	EXPECT_EQ(0, self->got.port);
	EXPECT_EQ(1024, self->got.max_bytes);
	EXPECT_EQ(0, self->got.network_family);
}

TEST_F(settings, an_empty_variable_is_not_set)
{
	ASSERT_EQ(0, READ("COLLSOCK_MPI", ""));
	EXPECT_EQ(CM_ON, self->got.mode);
	ASSERT_EQ(0, READ("COLLSOCK_MPI_WINDOW", ""));
	EXPECT_EQ(COLLSOCK_MAX_WINDOW, self->got.window);
}

TEST_F(settings, a_program_with_more_rights_than_its_user_ignores_them)
{
	has_more_rights = true;
	EXPECT_EQ(0, READ("COLLSOCK_MPI", "off"));
	EXPECT_EQ(CM_ON, self->got.mode);
	EXPECT_EQ(0, READ("COLLSOCK_MPI_WINDOW", "1"));
	EXPECT_EQ(COLLSOCK_MAX_WINDOW, self->got.window);
	has_more_rights = false;
}

TEST_F(settings, modes)
{
	ASSERT_EQ(0, READ("COLLSOCK_MPI", "off"));
	EXPECT_EQ(CM_OFF, self->got.mode);
	ASSERT_EQ(0, READ("COLLSOCK_MPI", "require"));
	EXPECT_EQ(CM_REQUIRE, self->got.mode);
	EXPECT_TRUE(refuses("COLLSOCK_MPI", "yes"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI", "ON"));
}

TEST_F(settings, numbers_have_bounds)
{
	ASSERT_EQ(0, READ("COLLSOCK_MPI_AFTER", "0"));
	EXPECT_EQ(0, self->got.after);
	ASSERT_EQ(0, READ("COLLSOCK_MPI_MAX_BYTES", "65536"));
	EXPECT_EQ(65536, self->got.max_bytes);
	ASSERT_EQ(0, READ("COLLSOCK_MPI_MAX_BYTES", "1001"));
	EXPECT_EQ(1001, self->got.max_bytes);
	ASSERT_EQ(0, READ("COLLSOCK_MPI_LIVENESS", "600"));
	EXPECT_EQ(600000, self->got.liveness_ms);
	ASSERT_EQ(0, READ("COLLSOCK_MPI_PORT", "65535"));
	EXPECT_EQ(65535, self->got.port);
	EXPECT_TRUE(refuses("COLLSOCK_MPI_PORT", "0"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_PORT", "65536"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_MAX_BYTES", "65537"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_MAX_BYTES", "7"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_WINDOW", "0"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_WINDOW", "65"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_LIVENESS", "601"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_AFTER", "-1"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_AFTER", "3x"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_AFTER", "99999999999999999999"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_SUMMARY", "2"));
}

TEST_F(settings, algorithms)
{
	ASSERT_EQ(0, READ("COLLSOCK_MPI_ALGORITHM", "barrier=dissemination,reduce=kary,degree=4"));
	EXPECT_EQ(COLLSOCK_DISSEMINATION, self->got.algorithm[COLLSOCK_BARRIER]);
	EXPECT_EQ(COLLSOCK_AUTO, self->got.algorithm[COLLSOCK_ALLREDUCE]);
	EXPECT_EQ(COLLSOCK_KARY, self->got.algorithm[COLLSOCK_REDUCE]);
	EXPECT_EQ(COLLSOCK_AUTO, self->got.algorithm[COLLSOCK_BROADCAST]);
	EXPECT_EQ(4, self->got.degree);
	EXPECT_TRUE(refuses("COLLSOCK_MPI_ALGORITHM", "barrier=fast"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_ALGORITHM", "barrier"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_ALGORITHM", "barrier="));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_ALGORITHM", "barrier=mcs,,allreduce=mcs"));
	EXPECT_EQ(-1, READ("COLLSOCK_MPI_ALGORITHM", "gather=kary"));
	EXPECT_STREQ("COLLSOCK_MPI_ALGORITHM=gather=kary: gather has only auto, binomial",
		     self->error);
	EXPECT_TRUE(refuses("COLLSOCK_MPI_ALGORITHM", "allreduce=dissemination"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_ALGORITHM", "broadcast=exchange"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_ALGORITHM", "reduce=mcs"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_ALGORITHM", "broadcast=mcs"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_ALGORITHM", "allreduce=hillis-steele"));
	EXPECT_FALSE(refuses("COLLSOCK_MPI_ALGORITHM", "barrier=mcs,allreduce=mcs,reduce=flat"));
	EXPECT_FALSE(refuses("COLLSOCK_MPI_ALGORITHM", "barrier=exchange,allreduce=exchange"));
	EXPECT_FALSE(refuses("COLLSOCK_MPI_ALGORITHM", "gather=auto,scan=hillis-steele"));
	EXPECT_FALSE(refuses("COLLSOCK_MPI_ALGORITHM", "reduce-scatter-block=halving"));
	/* JOIN knows its usual degree. */
	EXPECT_FALSE(refuses("COLLSOCK_MPI_ALGORITHM", "barrier=kary"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_ALGORITHM", "degree=1"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_ALGORITHM", "degree=65"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_ALGORITHM", "degree="));
}

TEST_F(settings, the_multicast_address_is_one)
{
	static const __u8 ipv4[16] = { 239, 7, 7, 7 }, mac[16] = { 3, [5] = 7 };

	ASSERT_EQ(0, READ("COLLSOCK_MPI_MULTICAST", "239.7.7.7"));
	EXPECT_EQ(0, memcmp(ipv4, self->got.multicast, sizeof(ipv4)));
	EXPECT_EQ(COLLSOCK_BEARER_UDP, self->got.bearer);
	ASSERT_EQ(0, READ("COLLSOCK_MPI_MULTICAST", "ff15::7:7"));
	EXPECT_EQ(COLLSOCK_BEARER_UDP, self->got.bearer);
	ASSERT_EQ(0, READ("COLLSOCK_MPI_MULTICAST", "03:00:00:00:00:07"));
	EXPECT_EQ(0, memcmp(mac, self->got.multicast, sizeof(mac)));
	EXPECT_EQ(COLLSOCK_BEARER_ETHERNET, self->got.bearer);
	EXPECT_TRUE(refuses("COLLSOCK_MPI_MULTICAST", "10.0.0.1"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_MULTICAST", "02:00:00:00:00:07"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_MULTICAST", "fd00::1"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_MULTICAST", "yes"));
}

TEST_F(settings, the_bearer_is_auto_udp_or_ethernet)
{
	ASSERT_EQ(0, READ("COLLSOCK_MPI_BEARER", ""));
	EXPECT_EQ(COLLSOCK_BEARER_AUTO, self->got.bearer);
	ASSERT_EQ(0, READ("COLLSOCK_MPI_BEARER", "ethernet"));
	EXPECT_EQ(COLLSOCK_BEARER_ETHERNET, self->got.bearer);
	ASSERT_EQ(0, READ("COLLSOCK_MPI_BEARER", "udp"));
	EXPECT_EQ(COLLSOCK_BEARER_UDP, self->got.bearer);
	ASSERT_EQ(0, READ("COLLSOCK_MPI_BEARER", "auto"));
	EXPECT_EQ(COLLSOCK_BEARER_AUTO, self->got.bearer);
	EXPECT_TRUE(refuses("COLLSOCK_MPI_BEARER", "ether"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_BEARER", "eth0"));
}

TEST_F(settings, a_network_is_an_address_and_a_prefix_length)
{
	ASSERT_EQ(0, READ("COLLSOCK_MPI_NETWORK", "10.1.0.0/16"));
	EXPECT_EQ(AF_INET, self->got.network_family);
	EXPECT_EQ(16, self->got.network_prefix);
	EXPECT_EQ(10, self->got.network[0]);
	ASSERT_EQ(0, READ("COLLSOCK_MPI_NETWORK", "fd00::/64"));
	EXPECT_EQ(AF_INET6, self->got.network_family);
	EXPECT_TRUE(refuses("COLLSOCK_MPI_NETWORK", "eth0"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_NETWORK", "10.1.0.0"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_NETWORK", "10.1.0.0/33"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_NETWORK", "10.1.0.0/"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_NETWORK", "10.1.0.0/16x"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_NETWORK", "10.1.0/16"));
	EXPECT_TRUE(refuses("COLLSOCK_MPI_NETWORK", "fd00::/129"));
}

TEST_F(settings, the_network_of_other_ranks_is_used_if_there_is_none_for_mpi)
{
	ASSERT_EQ(0, READ("COLLSOCK_NETWORK", "10.1.0.0/16"));
	EXPECT_EQ(AF_INET, self->got.network_family);
	EXPECT_EQ(16, self->got.network_prefix);
	EXPECT_EQ(10, self->got.network[0]);
	ASSERT_EQ(0, READ("COLLSOCK_MPI_NETWORK", ""));
	EXPECT_EQ(16, self->got.network_prefix);
	ASSERT_EQ(0, READ("COLLSOCK_MPI_NETWORK", "fd00::/64"));
	EXPECT_EQ(AF_INET6, self->got.network_family);
	unsetenv("COLLSOCK_MPI_NETWORK");
	EXPECT_TRUE(refuses("COLLSOCK_NETWORK", "eth0"));
}

TEST_HARNESS_MAIN
