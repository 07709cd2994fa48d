// SPDX-License-Identifier: GPL-2.0
/* What a process says to its launcher by PMI, and what it makes of any answer */
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../harness.h"
#include "meeting_self.h"
#include "pmi.h"

/* What the process asks, and what it is answered; NULL: the connection ends */
struct line {
	const char *ask, *answer;
};

FIXTURE(pmi)
{
	pid_t	server;
	char	text[MEETING_TEXT];
};

FIXTURE_SETUP(pmi)
{
	setenv("PMI_RANK", "1", 1);
	setenv("PMI_SIZE", "2", 1);
	unsetenv("PMI_JOBID");
}

FIXTURE_TEARDOWN(pmi)
{
}

/* The lengths of messages of version 2, which do not end with a line, come first. */
static size_t write_line(char *line, const char *text, const char *length)
{
	size_t bytes = 0;

	if (!strncmp(text, "cmd=", 4) && !strchr(text, '\n'))
		bytes = sprintf(line, length, strlen(text));
	return bytes + sprintf(line + bytes, "%s", text);
}

/* Ends with 1 if it is asked anything else. Spaces of its lengths are behind them, as Slurm's. */
static void serve(int fd, const struct line *line)
{
	char asked[8192], wanted[8192];
	ssize_t got, bytes;

	for (; line->ask; line++) {
		bytes = write_line(wanted, line->ask, "%6zu");
		got = recv(fd, asked, bytes, MSG_WAITALL);
		if (got != bytes || memcmp(asked, wanted, bytes)) {
			fprintf(stderr, "# wanted %s\n# found  %.*s\n", wanted, (int)got, asked);
			_exit(1);
		}
		if (!line->answer)
			_exit(0);
		bytes = write_line(wanted, line->answer, "%-6zu");
		send(fd, wanted, bytes, MSG_NOSIGNAL);
	}
	_exit(recv(fd, asked, 1, 0) > 0);
}

static void start_server(FIXTURE_DATA(pmi) * self, const struct line *lines)
{
	char number[16];
	int pair[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	fflush(stdout);
	self->server = fork();
	if (!self->server) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pair[0]);
		serve(pair[1], lines);
	}
	close(pair[1]);
	snprintf(number, sizeof(number), "%d", pair[0]);
	setenv("PMI_FD", number, 1);
}

/* The connection stays open after pmi_close(). */
static void end_server(struct __test_metadata *_metadata, FIXTURE_DATA(pmi) * self)
{
	int status;

	close(atoi(getenv("PMI_FD")));
	waitpid(self->server, &status, 0);
	EXPECT_EQ(0, status);
}

#define ASKS_1	"cmd=init pmi_version=1 pmi_subversion=1\n"
#define SAYS_1	"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
#define ASKS_2	"cmd=init pmi_version=2 pmi_subversion=0\n"
#define SAYS_2	"cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n"
#define KEY(rank) "kvsname=kvs_1 key=collsock-1-" rank "-0"

static void exchange(struct __test_metadata *_metadata, FIXTURE_DATA(pmi) * self,
		     const struct line *lines)
{
	char all[4] = "";
	struct pmi *pmi;

	start_server(self, lines);
	ASSERT_EQ(0, pmi_find(self->text, sizeof(self->text))) TH_LOG("%s", self->text);
	ASSERT_EQ(0, pmi_open(&pmi, 100000, 100000, self->text, sizeof(self->text)))
		TH_LOG("%s", self->text);
	EXPECT_EQ(1, pmi_rank(pmi));
	EXPECT_EQ(2, pmi_ranks(pmi));
	EXPECT_EQ(0, pmi_exchange(pmi, "\xff\x01", all, 2)) TH_LOG("%s", pmi_text(pmi));
	EXPECT_EQ(0, memcmp(all, "\x12\xab\xff\x01", 4));
	pmi_close(pmi);
	end_server(_metadata, self);
}

static const struct line version_1[] = {
	{ ASKS_1, SAYS_1 },
	{ "cmd=get_my_kvsname\n", "cmd=my_kvsname kvsname=kvs_1\n" },
	{ "cmd=put " KEY("1") " value=ff01\n", "cmd=put_result rc=0 msg=success\n" },
	{ "cmd=barrier_in\n", "cmd=barrier_out\n" },
	{ "cmd=get " KEY("0") "\n", "cmd=get_result rc=0 msg=success value=12ab\n" },
	{ "cmd=get " KEY("1") "\n", "cmd=get_result rc=0 msg=success value=ff01\n" },
	{ "cmd=finalize\n", "cmd=finalize_ack\n" },
	{ }
};

TEST_F(pmi, speaks_version_1)
{
	exchange(_metadata, self, version_1);
}

TEST_F(pmi, speaks_version_2)
{
	static const struct line lines[] = {
		{ ASKS_2, SAYS_2 },
		{ "cmd=fullinit;pmijobid=7.0;pmirank=1;threaded=FALSE;",
		  "cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=1;size=2;" },
		{ "cmd=kvs-put;key=collsock-1-1-0;value=ff01;", "cmd=kvs-put-response;rc=0;" },
		{ "cmd=kvs-fence;", "cmd=kvs-fence-response;rc=0;errmsg=success;" },
		{ "cmd=kvs-get;jobid=7.0;srcid=-1;key=collsock-1-0-0;",
		  "cmd=kvs-get-response;rc=0;flag=TRUE;value=12ab;" },
		{ "cmd=kvs-get;jobid=7.0;srcid=-1;key=collsock-1-1-0;",
		  "cmd=kvs-get-response;rc=0;flag=TRUE;value=ff01;" },
		{ "cmd=finalize;", "cmd=finalize-response;rc=0;" },
		{ }
	};

	setenv("PMI_JOBID", "7.0", 1);
	exchange(_metadata, self, lines);
}

/* ---- any answer ---- */

enum { INIT, NAME, PUT, FENCE, GET };

static int exchange_with(FIXTURE_DATA(pmi) * self, const struct line *lines)
{
	struct pmi *pmi;
	char all[4];
	int err;

	start_server(self, lines);
	err = pmi_open(&pmi, 100000, 100000, self->text, sizeof(self->text));
	if (err)
		return err;
	err = pmi_exchange(pmi, "\xff\x01", all, 2);
	strcpy(self->text, pmi_text(pmi));
	pmi_close(pmi);
	return err;
}

TEST_F(pmi, refuses_answers_that_no_launcher_gives)
{
	static const struct {
		unsigned int at;
		const char *answer;
		int error;
		const char *says;
	} bad[] = {
		{ INIT, NULL, -EPIPE, "has ended this connection" },
		{ INIT, "cmd=response_to_init pmi_version=2 rc=0\n", -EPROTO, "refused" },
		{ INIT, "cmd=response_to_init pmi_version=1 rc=-1\n", -EPROTO, "refused" },
		{ INIT, "cmd=response_to_init rc=0\n", -EBADMSG, "not understood" },
		{ INIT, "\n", -EBADMSG, "not understood" },
		{ NAME, "cmd=my_kvsname\n", -EBADMSG, "not understood" },
		{ PUT, "cmd=my_kvsname kvsname=kvs_1\n", -EBADMSG, "not understood" },
		{ PUT, "cmd=put_result rc=-1 msg=duplicate_key\n", -EPROTO, "refused" },
		{ PUT, NULL, -EPIPE, "has ended this connection" },
		{ FENCE, "cmd=barrier_out rc=1\n", -EPROTO, "refused" },
		{ GET, "cmd=get_result rc=0 value=12a\n", -EBADMSG, "not understood" },
		{ GET, "cmd=get_result rc=0 value=12abcd\n", -EBADMSG, "not understood" },
		{ GET, "cmd=get_result rc=0 value=12zz\n", -EBADMSG, "not understood" },
		{ GET, "cmd=get_result rc=0 value\n", -EBADMSG, "not understood" },
		{ GET, "cmd=get_result rc=-1 msg=key_not_found\n", -EPROTO, "refused" },
	};
	struct line lines[ARRAY_SIZE(version_1)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		memcpy(lines, version_1, sizeof(lines));
		lines[bad[i].at].answer = bad[i].answer;
		memset(&lines[bad[i].at + 1], 0, sizeof(*lines));
		EXPECT_EQ(bad[i].error, exchange_with(self, lines))
			TH_LOG("entry %u: %s", i, self->text);
		EXPECT_NE(NULL, strstr(self->text, bad[i].says))
			TH_LOG("entry %u: %s", i, self->text);
		end_server(_metadata, self);
	}
}

TEST_F(pmi, refuses_messages_that_are_too_long)
{
	static char line[5000], counted[8] = "999999";
	struct line lines[] = { { ASKS_1, line }, { } };
	struct line lines_2[] = {
		{ ASKS_2, SAYS_2 },
		{ "    51cmd=fullinit;pmijobid=7.0;pmirank=1;threaded=FALSE;", counted }, { }
	};
	struct pmi *pmi;

	memset(line, 'x', sizeof(line) - 1);
	start_server(self, lines);
	EXPECT_EQ(-EBADMSG, pmi_open(&pmi, 100000, 100000, self->text, sizeof(self->text)));
	end_server(_metadata, self);
	setenv("PMI_JOBID", "7.0", 1);
	start_server(self, lines_2);
	EXPECT_EQ(-EBADMSG, pmi_open(&pmi, 100000, 100000, self->text, sizeof(self->text)));
	end_server(_metadata, self);
}

/* ---- no answer ---- */

#define TOO_SHORT_MS 100

TEST_F(pmi, waits_for_ranks_in_the_fence_only)
{
	struct line lines[] = { version_1[INIT], version_1[NAME], version_1[PUT], { }, { } };
	struct pmi *pmi;
	char all[4];

	lines[FENCE] = (struct line){ version_1[FENCE].ask, "" };
	start_server(self, lines);
	ASSERT_EQ(0, pmi_open(&pmi, TOO_SHORT_MS, TOO_SHORT_MS, self->text, sizeof(self->text)));
	EXPECT_EQ(-ETIMEDOUT, pmi_exchange(pmi, "\xff\x01", all, 2));
	EXPECT_NE(NULL, strstr(pmi_text(pmi), "not all ranks that the launcher has started"))
		TH_LOG("%s", pmi_text(pmi));
	pmi_close(pmi);
	end_server(_metadata, self);
	lines[PUT].answer = "";
	memset(&lines[FENCE], 0, sizeof(*lines));
	start_server(self, lines);
	ASSERT_EQ(0, pmi_open(&pmi, TOO_SHORT_MS, TOO_SHORT_MS, self->text, sizeof(self->text)));
	EXPECT_EQ(-ETIMEDOUT, pmi_exchange(pmi, "\xff\x01", all, 2));
	EXPECT_STREQ("rank 1, by PMI: the launcher does not answer", pmi_text(pmi));
	pmi_close(pmi);
	end_server(_metadata, self);
}

/* A socket that nobody accepts connections from, as PMI_PORT */
static int listen_in_vain(struct __test_metadata *_metadata)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t bytes = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	char port[32];

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	EXPECT_EQ(0, bind(listener, (struct sockaddr *)&address, bytes));
	EXPECT_EQ(0, listen(listener, 1));
	EXPECT_EQ(0, getsockname(listener, (struct sockaddr *)&address, &bytes));
	snprintf(port, sizeof(port), "127.0.0.1:%u", ntohs(address.sin_port));
	unsetenv("PMI_FD");
	setenv("PMI_ID", "1", 1);
	setenv("PMI_PORT", port, 1);
	return listener;
}

#define LATE_MS 2500	/* a line after two seconds says what is waited for */

TEST_F(pmi, names_a_launcher_that_does_not_answer)
{
	int listener = listen_in_vain(_metadata), usual = dup(STDERR_FILENO);
	FILE *reports = tmpfile();
	char wanted[100], said[100] = "";
	struct pmi *pmi;

	snprintf(wanted, sizeof(wanted), "by PMI, PMI_PORT=%s: the launcher does not answer",
		 getenv("PMI_PORT"));
	dup2(fileno(reports), STDERR_FILENO);
	EXPECT_EQ(-ETIMEDOUT, pmi_open(&pmi, LATE_MS, LATE_MS, self->text, sizeof(self->text)));
	dup2(usual, STDERR_FILENO);
	EXPECT_STREQ(wanted, self->text);
	rewind(reports);
	EXPECT_NE(NULL, fgets(said, sizeof(said), reports));
	EXPECT_STREQ("collsock: waiting for the launcher, which has not answered (by PMI)\n", said);
	EXPECT_EQ(NULL, fgets(said, sizeof(said), reports));
	fclose(reports);
	close(usual);
	close(listener);
	unsetenv("PMI_PORT");
	unsetenv("PMI_ID");
}

/* ---- is there a launcher ---- */

TEST_F(pmi, needs_a_connection)
{
	EXPECT_EQ(0, setenv("PMI_FD", "999", 1));
	EXPECT_EQ(-EBADF, pmi_find(self->text, sizeof(self->text)));
	/* The number is that of a file by now. */
	EXPECT_EQ(0, setenv("PMI_FD", "1", 1));
	EXPECT_EQ(-EBADF, pmi_find(self->text, sizeof(self->text)));
	EXPECT_NE(NULL, strstr(self->text, "PMI_FD=1 is no connection")) TH_LOG("%s", self->text);
	unsetenv("PMI_SIZE");
	EXPECT_EQ(-ENOENT, pmi_find(self->text, sizeof(self->text)));
}

TEST_HARNESS_MAIN
