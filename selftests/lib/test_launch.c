// SPDX-License-Identifier: GPL-2.0
/* What launchers say in the environment, and requests that they pass to programs */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_kernel.h"
#include "../harness.h"
#include "joining_options.h"
#include "launch_find.h"
#include "launch_multicast.h"
#include "launch_network.h"
#include "launch_port.h"
#include "launch_request.h"
#include "meeting_self.h"

#define MOST_VARIABLES 12

static const char * const variables[] = {
	"COLLSOCK_REQUEST", "COLLSOCK_RENDEZVOUS", "COLLSOCK_RANK", "COLLSOCK_RANKS",
	"COLLSOCK_JOB", "COLLSOCK_ATTEMPT", "COLLSOCK_KEY_FILE", "COLLSOCK_MEETING_TIMEOUT",
	"COLLSOCK_MEETING_PORTS", "RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
	"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "LOCAL_RANK", "SLURM_JOB_ID",
	"SLURM_STEP_ID", "SLURM_STEP_NODELIST", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID",
	"SLURM_RESTART_COUNT", "PMI_PORT", "PMI_ID", "PMI_FD", "PMI_RANK", "PMI_SIZE", "PMIX_RANK",
	"PMIX_NAMESPACE", "MPI_LOCALRANKID", "OMPI_COMM_WORLD_RANK",
};

static void set_environment(const char * const *settings)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(variables); i++)
		unsetenv(variables[i]);
	for (; *settings; settings++)
		putenv((char *)*settings);
}

TEST(the_environment_names_a_multicast_address_unless_the_options_do)
{
	static const __u8 ipv6[16] = { 0xff, 0x15, [15] = 7 }, ipv4[16] = { 239, 7, 7, 7 };
	struct collsock_options o;
	char text[200] = "";

	ASSERT_EQ(0, joining_options_complete(&o, NULL));
	ASSERT_EQ(0, launch_multicast(&o, text, sizeof(text)));
	EXPECT_FALSE(joining_options_multicast(&o));
	setenv("COLLSOCK_MULTICAST", "ff15::7", 1);
	ASSERT_EQ(0, launch_multicast(&o, text, sizeof(text)));
	EXPECT_EQ(0, memcmp(o.multicast, ipv6, sizeof(ipv6)));
	EXPECT_EQ(AF_INET6, o.family);
	setenv("COLLSOCK_MULTICAST", "239.7.7.7", 1);
	ASSERT_EQ(0, launch_multicast(&o, text, sizeof(text)));
	EXPECT_EQ(0, memcmp(o.multicast, ipv6, sizeof(ipv6)));
	ASSERT_EQ(0, joining_options_complete(&o, NULL));
	ASSERT_EQ(0, launch_multicast(&o, text, sizeof(text)));
	EXPECT_EQ(0, memcmp(o.multicast, ipv4, sizeof(ipv4)));
	EXPECT_EQ(AF_INET, o.family);
	setenv("COLLSOCK_MULTICAST", "10.0.0.1", 1);
	ASSERT_EQ(0, joining_options_complete(&o, NULL));
	EXPECT_EQ(-EINVAL, launch_multicast(&o, text, sizeof(text)));
	EXPECT_STREQ("COLLSOCK_MULTICAST: \"10.0.0.1\" is no multicast address", text);
	unsetenv("COLLSOCK_MULTICAST");
}

TEST(the_environment_names_a_port_unless_the_options_do)
{
	struct collsock_options o = { }, named = { .port = 7701 };
	struct collsock_options ethernet = { .bearer = COLLSOCK_BEARER_ETHERNET };
	char text[200] = "";

	unsetenv(LAUNCH_PORT);
	ASSERT_EQ(0, launch_port(&o, text, sizeof(text)));
	EXPECT_EQ(0, o.port);
	setenv(LAUNCH_PORT, "7700", 1);
	ASSERT_EQ(0, launch_port(&named, text, sizeof(text)));
	EXPECT_EQ(7701, named.port);
	ASSERT_EQ(0, launch_port(&ethernet, text, sizeof(text)));
	EXPECT_EQ(0, ethernet.port);
	ASSERT_EQ(0, launch_port(&o, text, sizeof(text)));
	EXPECT_EQ(7700, o.port);
	setenv(LAUNCH_PORT, "65536", 1);
	EXPECT_EQ(-EINVAL, launch_port(&o, text, sizeof(text)));
	EXPECT_STREQ("COLLSOCK_PORT: \"65536\" is not a whole number from 0 to 65535", text);
	unsetenv(LAUNCH_PORT);
}

TEST(a_network_is_an_address_and_the_length_of_its_prefix)
{
	static const struct {
		const char *text;
		int family, prefix;
		__u8 network[16];
	} good[] = {
		{ "10.1.0.0/16", AF_INET, 16, { 10, 1 } },
		/* Hosts may write their own addresses. */
		{ "10.1.2.3/16", AF_INET, 16, { 10, 1 } },
		{ "10.1.255.3/20", AF_INET, 20, { 10, 1, 240 } },
		{ "10.1.2.3/32", AF_INET, 32, { 10, 1, 2, 3 } },
		{ "0.0.0.0/0", AF_INET, 0, { } },
		{ "fd00::7:1/64", AF_INET6, 64, { 0xfd } },
		{ "::1/128", AF_INET6, 128, { [15] = 1 } },
	};
	static const char *const bad[] = {
		"", "/", "/16", "eth0", "10.1.0.0", "10.1.0.0/", "10.1.0.0/33", "10.1.0.0/-1",
		"10.1.0.0/ 16", "10.1.0.0/16x", "10.1.0.0/16/16", "10.1/16", "fd00::/129",
		"fd00::", "[fd00::]/64", "0000:0000:0000:0000:0000:0000:255.255.255.2550/8",
	};
	struct collsock_options o, before = { .prefix = 9, .network = { 9 } };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		ASSERT_EQ(0, launch_network_parse(good[i].text, &o)) TH_LOG("%s", good[i].text);
		EXPECT_EQ(good[i].family, o.family);
		EXPECT_EQ(good[i].prefix, o.prefix);
		EXPECT_EQ(0, memcmp(good[i].network, o.network, sizeof(o.network)))
			TH_LOG("%s", good[i].text);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		o = before;
		EXPECT_EQ(-EINVAL, launch_network_parse(bad[i], &o)) TH_LOG("%s", bad[i]);
		EXPECT_EQ(0, memcmp(&before, &o, sizeof(o)));
	}
}

TEST(the_environment_names_a_network_unless_the_options_do)
{
	struct collsock_options named = { .family = AF_INET, .prefix = 8, .network = { 9 } };
	struct collsock_options same = { .family = AF_INET }, other = { .family = AF_INET6 };
	struct collsock_options o = { };
	char text[200] = "";

	unsetenv(LAUNCH_NETWORK);
	ASSERT_EQ(0, launch_network(&o, text, sizeof(text)));
	EXPECT_EQ(0, o.family);
	setenv(LAUNCH_NETWORK, "10.1.0.0/16", 1);
	ASSERT_EQ(0, launch_network(&o, text, sizeof(text)));
	EXPECT_EQ(AF_INET, o.family);
	EXPECT_EQ(16, o.prefix);
	EXPECT_EQ(10, o.network[0]);
	ASSERT_EQ(0, launch_network(&named, text, sizeof(text)));
	EXPECT_EQ(8, named.prefix);
	EXPECT_EQ(9, named.network[0]);
	ASSERT_EQ(0, launch_network(&same, text, sizeof(text)));
	EXPECT_EQ(16, same.prefix);
	ASSERT_EQ(0, launch_network(&other, text, sizeof(text)));
	EXPECT_EQ(AF_INET6, other.family);
	EXPECT_EQ(0, other.prefix);
	setenv(LAUNCH_NETWORK, "eth0", 1);
	EXPECT_EQ(-EINVAL, launch_network(&o, text, sizeof(text)));
	EXPECT_STREQ("COLLSOCK_NETWORK=eth0: not an address and a prefix length, as in 10.1.0.0/16",
		     text);
	unsetenv(LAUNCH_NETWORK);
}

#define BY_HAND "COLLSOCK_RENDEZVOUS=node1:80", "COLLSOCK_RANK=3", "COLLSOCK_RANKS=4"
#define TORCHRUN "RANK=5", "WORLD_SIZE=6", "MASTER_ADDR=node2"
#define SLURM(step, nodes) "SLURM_JOB_ID=77", "SLURM_STEP_ID=" step, "SLURM_STEP_NODELIST=" nodes, \
	"SLURM_PROCID=7", "SLURM_STEP_NUM_TASKS=8"
#define PMI "PMI_PORT=node1:9", "PMI_ID=0"

TEST(launchers_are_found_the_innermost_first)
{
	static const struct {
		const char *settings[MOST_VARIABLES];
		const char *rendezvous, *job;
		__u32 rank, ranks, attempt;
	} good[] = {
		{ { BY_HAND }, "node1:80", "", 3, 4, 0 },
		{ { BY_HAND, "COLLSOCK_JOB=a b", "COLLSOCK_ATTEMPT=7" },
		  "node1:80", "a b", 3, 4, 7 },
		{ { BY_HAND, TORCHRUN, "LOCAL_RANK=0" }, "node1:80", "", 3, 4, 0 },
		{ { TORCHRUN, "LOCAL_RANK=0" }, "node2", "", 5, 6, 0 },
		{ { TORCHRUN, "TORCHELASTIC_RUN_ID=id", "TORCHELASTIC_RESTART_COUNT=2",
		    "MASTER_PORT=29500" }, "node2", "id", 5, 6, 2 },
		/* Jobs without a name of one user differ by torch's port. */
		{ { TORCHRUN, "TORCHELASTIC_RUN_ID=none", "MASTER_PORT=29500" },
		  "node2", "none, port 29500", 5, 6, 0 },
		{ { TORCHRUN, "LOCAL_RANK=0", "MASTER_PORT=29501" },
		  "node2", "none, port 29501", 5, 6, 0 },
		/* An empty variable is one that is not set. */
		{ { TORCHRUN, "LOCAL_RANK=0", "COLLSOCK_RANK=" }, "node2", "", 5, 6, 0 },
		{ { SLURM("0", "n[3-5,9],m1") }, "n3", "slurm 77.0", 7, 8, 0 },
		{ { SLURM("12", "rack[0-1,7]-n[08,10]"), "SLURM_RESTART_COUNT=2" },
		  "rack0-n08", "slurm 77.12", 7, 8, 2 },
		{ { SLURM("0", "node-1,node-2") }, "node-1", "slurm 77.0", 7, 8, 0 },
		{ { SLURM("0", "n1"), TORCHRUN, "LOCAL_RANK=0" }, "node2", "", 5, 6, 0 },
	};
	char text[MEETING_TEXT];
	struct launch launch;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		set_environment(good[i].settings);
		ASSERT_EQ(0, launch_find(&launch, text, sizeof(text)))
			TH_LOG("entry %u: %s", i, text);
		EXPECT_STREQ(good[i].rendezvous, launch.rendezvous);
		EXPECT_STREQ(good[i].job, launch.job);
		EXPECT_EQ(good[i].rank, launch.rank);
		EXPECT_EQ(good[i].ranks, launch.ranks);
		EXPECT_EQ(good[i].attempt, launch.attempt);
	}
}

TEST(what_is_missing_or_not_valid_is_named)
{
	static const struct {
		const char *settings[MOST_VARIABLES];
		int error;
		const char *says;
	} bad[] = {
		{ { "COLLSOCK_RANK=1" }, -EINVAL, "COLLSOCK_RENDEZVOUS is not set" },
		{ { "COLLSOCK_RENDEZVOUS=a", "COLLSOCK_RANK=1" }, -EINVAL,
		  "COLLSOCK_RANKS is not set" },
		{ { "COLLSOCK_RENDEZVOUS=a", "COLLSOCK_RANKS=1" }, -EINVAL,
		  "COLLSOCK_RANK is not set" },
		{ { "COLLSOCK_RENDEZVOUS=a", "COLLSOCK_RANK=-1", "COLLSOCK_RANKS=2" }, -EINVAL,
		  "COLLSOCK_RANK: \"-1\" is not a whole number from 0 to 1048575" },
		{ { "COLLSOCK_RENDEZVOUS=a", "COLLSOCK_RANK=1", "COLLSOCK_RANKS=0x2" }, -EINVAL,
		  "COLLSOCK_RANKS: \"0x2\"" },
		{ { BY_HAND, "COLLSOCK_ATTEMPT=99999999999999999999" }, -EINVAL,
		  "COLLSOCK_ATTEMPT:" },
		{ { TORCHRUN, "LOCAL_RANK=0", "TORCHELASTIC_RESTART_COUNT=x" }, -EINVAL,
		  "TORCHELASTIC_RESTART_COUNT:" },
		{ { TORCHRUN, "LOCAL_RANK=0", "MASTER_PORT=65536" }, -EINVAL, "MASTER_PORT:" },
		/* Others than torchrun set these, too. */
		{ { TORCHRUN }, -ENOENT, "no launcher was found" },
		{ { TORCHRUN }, -ENOENT, "start with collsock run --local N" },
		{ { "RANK=1", "WORLD_SIZE=2", "LOCAL_RANK=0" }, -ENOENT, "MASTER_ADDR" },
		{ { SLURM("0", "n[1-2") }, -EINVAL, "SLURM_STEP_NODELIST" },
		{ { SLURM("0", "") }, -EINVAL, "SLURM_STEP_NODELIST" },
		{ { SLURM("0", "n1"), "SLURM_PROCID=x" }, -EINVAL, "SLURM_PROCID" },
		/* Batch scripts, shells of salloc: not a task of a step */
		{ { "SLURM_JOB_ID=77", "SLURM_PROCID=0", "SLURM_NTASKS=8" }, -ENOENT,
		  "job 77 of Slurm, but is no task of a step" },
		{ { SLURM("4294967291", "n1") }, -ENOENT, "start the program with srun" },
		{ { NULL }, -ENOENT, "COLLSOCK_REQUEST" },
	};
	char text[MEETING_TEXT];
	struct launch launch;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		set_environment(bad[i].settings);
		EXPECT_EQ(bad[i].error, launch_find(&launch, text, sizeof(text)))
			TH_LOG("entry %u", i);
		EXPECT_NE(NULL, strstr(text, bad[i].says)) TH_LOG("entry %u: %s", i, text);
	}
}

TEST(exchanges_of_launchers_come_before_slurm)
{
	static const struct {
		const char *settings[MOST_VARIABLES];
		enum launch_by by;
	} good[] = {
		{ { PMI }, LAUNCH_BY_PMI },
		{ { PMI, SLURM("0", "n1") }, LAUNCH_BY_PMI },
		{ { PMI, TORCHRUN, "LOCAL_RANK=0" }, LAUNCH_BY_MEETING },
		{ { PMI, BY_HAND }, LAUNCH_BY_MEETING },
		/* Neither is half of one. */
		{ { "PMI_PORT=node1:9", SLURM("0", "n1") }, LAUNCH_BY_MEETING },
		{ { "PMIX_RANK=0", SLURM("0", "n1") }, LAUNCH_BY_MEETING },
		/* mpiexec of MPICH, in a step that srun has begun with PMIx */
		{ { PMI, "MPI_LOCALRANKID=0", "PMIX_RANK=0", "PMIX_NAMESPACE=s" }, LAUNCH_BY_PMI },
	};
	char text[MEETING_TEXT];
	struct launch launch;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		set_environment(good[i].settings);
		ASSERT_EQ(0, launch_find(&launch, text, sizeof(text)))
			TH_LOG("entry %u: %s", i, text);
		EXPECT_EQ(good[i].by, launch.by) TH_LOG("entry %u", i);
	}
}

/* ---- the secret ---- */

static int join_saying(char *text, size_t bytes)
{
	struct collsock_options options = { .size = sizeof(options) };
	struct collsock *socket;

	options.text = text;
	options.text_bytes = bytes;
	return collsock_join_env(&socket, &options);
}

TEST(without_a_secret_it_says_what_to_do)
{
	static const char * const settings[] = { BY_HAND, "COLLSOCK_KEY_FILE=/nowhere/key", NULL };
	static const char * const home[] = { BY_HAND, "HOME=/nowhere", NULL };
	char text[MEETING_TEXT];

	set_environment(settings);
	EXPECT_EQ(-ENOKEY, join_saying(text, sizeof(text)));
	EXPECT_NE(NULL, strstr(text, "no secret: /nowhere/key does not exist")) TH_LOG("%s", text);
	EXPECT_NE(NULL, strstr(text, "collsock keygen ")) TH_LOG("%s", text);
	set_environment(home);
	EXPECT_EQ(-ENOKEY, join_saying(text, sizeof(text)));
	EXPECT_NE(NULL, strstr(text, "/nowhere/.config/collsock/key")) TH_LOG("%s", text);
}

TEST(a_secret_that_others_may_read_is_refused)
{
	char path[] = "/tmp/collsock-secret-XXXXXX", setting[64], text[MEETING_TEXT];
	const char * const settings[] = { BY_HAND, setting, NULL };
	int fd = mkstemp(path);

	ASSERT_LE(0, fd);
	ASSERT_EQ(33, write(fd, "000102030405060708090a0b0c0d0e0f\n", 33));
	fchmod(fd, 0640);
	close(fd);
	snprintf(setting, sizeof(setting), "COLLSOCK_KEY_FILE=%s", path);
	set_environment(settings);
	EXPECT_EQ(-EPERM, join_saying(text, sizeof(text)));
	EXPECT_NE(NULL, strstr(text, "chmod 600")) TH_LOG("%s", text);
	unlink(path);
}

/* ---- requests ---- */

static const __u8 the_key[COLLSOCK_KEY_BYTES] = "fifteen letters";

FIXTURE(request)
{
	struct collsock_group	*group;
	char			setting[80];
	char			*value;
	char			text[MEETING_TEXT];
	int			fd;
};

FIXTURE_SETUP(request)
{
	memset(&fake, 0, sizeof(fake));
	ASSERT_EQ(0, collsock_group_new(&self->group, 1, 2, the_key));
	ASSERT_EQ(0, collsock_group_add_host(self->group, "127.0.0.1", 0));
	ASSERT_EQ(0, collsock_group_add_host(self->group, "127.0.0.1", 0));
	strcpy(self->setting, LAUNCH_REQUEST "=");
	self->value = self->setting + strlen(self->setting);
	self->fd = launch_request_write(self->group, 1, self->value);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(request)
{
	collsock_group_free(self->group);
}

static int join_requested_with(FIXTURE_DATA(request) * self, struct collsock_options options)
{
	const char * const settings[] = { self->setting, BY_HAND, NULL };
	struct collsock *socket;
	int err;

	options.size = sizeof(options);
	options.text = self->text;
	options.text_bytes = sizeof(self->text);
	set_environment(settings);
	err = collsock_join_env(&socket, &options);
	if (!err)
		collsock_close(socket);
	return err;
}

static int join_requested(FIXTURE_DATA(request) * self)
{
	return join_requested_with(self, (struct collsock_options){ });
}

TEST_F(request, is_what_join_receives)
{
	struct collsock *socket;
	__u8 expected[FAKE_BYTES];
	size_t bytes;

	ASSERT_EQ(0, collsock_open(&socket, 0));
	ASSERT_EQ(0, collsock_join(socket, self->group, 1));
	bytes = fake.sent_bytes;
	memcpy(expected, fake.sent, bytes);
	collsock_close(socket);
	memset(&fake, 0, sizeof(fake));
	ASSERT_EQ(0, join_requested(self)) TH_LOG("%s", self->text);
	ASSERT_EQ(bytes, fake.sent_bytes);
	EXPECT_EQ(0, memcmp(expected, fake.sent, bytes));
}

TEST_F(request, leaves_to_the_program_what_does_not_depend_on_who_the_ranks_are)
{
	struct collsock_options options = {
		.key = "another", .port = 7, .window = 8, .max_bytes = 65536,
		.algorithm = { [COLLSOCK_ALLREDUCE] = COLLSOCK_MCS },
	};
	const struct collsock_join *sent = (const struct collsock_join *)fake.sent;
	const struct collsock_member *member = (const struct collsock_member *)(sent + 1);

	collsock_group_request(self->group)->liveness_ms = 700;
	self->fd = launch_request_write(self->group, 1, self->value);
	ASSERT_EQ(0, join_requested_with(self, options)) TH_LOG("%s", self->text);
	EXPECT_EQ(65536, sent->max_bytes);
	EXPECT_EQ(8, sent->window);
	EXPECT_EQ(COLLSOCK_MCS, sent->algorithm[COLLSOCK_ALLREDUCE]);
	EXPECT_EQ(0, sent->algorithm[COLLSOCK_BARRIER]);
	EXPECT_EQ(700, sent->liveness_ms);
	EXPECT_EQ(0, memcmp(sent->key, the_key, sizeof(the_key)));
	EXPECT_EQ(COLLSOCK_PORT, member->port);
}

TEST_F(request, stays_open_across_exec_and_is_for_one_rank)
{
	EXPECT_EQ(0, fcntl(self->fd, F_GETFD) & FD_CLOEXEC);
	EXPECT_EQ(0, join_requested(self));
	EXPECT_EQ(-1, fcntl(self->fd, F_GETFD));
	EXPECT_EQ(-EBADMSG, join_requested(self));
	EXPECT_NE(NULL, strstr(self->text, "joins once")) TH_LOG("%s", self->text);
}

TEST_F(request, cannot_be_changed)
{
	EXPECT_EQ(-1, pwrite(self->fd, "x", 1, 0));
	EXPECT_EQ(-1, ftruncate(self->fd, 0));
}

TEST_F(request, another_file_is_refused)
{
	char value[LAUNCH_REQUEST_BYTES];
	struct stat status;
	int fd = memfd_create("other", 0);

	/* The number is that of another file by now. */
	strcpy(value, self->value);
	ASSERT_EQ(self->fd, dup2(fd, self->fd));
	EXPECT_EQ(-EBADMSG, join_requested(self));
	/* It could be changed between the check and the use. */
	ASSERT_EQ(0, fstat(fd, &status));
	sprintf(self->value, "%d:%llu", fd, (unsigned long long)status.st_ino);
	ASSERT_EQ(0, ftruncate(fd, sizeof(struct collsock_join)));
	EXPECT_EQ(-EBADMSG, join_requested(self));
}

TEST_F(request, a_value_that_is_none_is_refused)
{
	static const char * const bad[] = { "x", "3", "3:", "3:4x", ":4", "-1:4", "999999:4" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		strcpy(self->value, bad[i]);
		EXPECT_EQ(-EBADMSG, join_requested(self)) TH_LOG("entry %u", i);
	}
}

static unsigned int open_files(void)
{
	DIR *files = opendir("/proc/self/fd");
	unsigned int count = 0;

	while (readdir(files))
		count++;
	closedir(files);
	return count;
}

/* As collsock run passes them to a rank in user space */
TEST_F(request, the_socket_of_a_bad_request_is_closed)
{
	static const struct collsock_options options;
	char socket_value[LAUNCH_REQUEST_BYTES];
	struct collsock *s;
	unsigned int before;
	int ends[2];

	ASSERT_EQ(0, collsock_open(&s, 0));
	before = open_files();
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
	close(ends[1]);
	ASSERT_EQ(0, launch_request_pass_socket(ends[0], socket_value));
	EXPECT_EQ(before + 1, open_files());
	EXPECT_EQ(-EBADMSG, launch_request_join(s, &options, "x", socket_value));
	EXPECT_EQ(before, open_files());
	collsock_close(s);
}

TEST_HARNESS_MAIN
