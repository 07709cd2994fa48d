// SPDX-License-Identifier: GPL-2.0
/*
 * What the command collsock computes itself: which rank it blames for a wait, the meaning of
 * words, the format of text. The kernel's replies are written as JSON here, by which they become
 * attributes.
 */
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <linux/collsock_netlink.h>
#include <netlink/msg.h>

#include "command.h"
#include "culprit.h"
#include "decode.h"
#include "firewall.h"
#include "../harness.h"
#include "match.h"
#include "process.h"
#include "sentence.h"
#include "text.h"

#define SELF 0
#define LIVENESS_MS 3000

/* Linux has such names: of the bytes of a name it refuses '/', ':' and white space only. */
char *if_indextoname(unsigned int index, char name[IF_NAMESIZE])
{
	return index == 7 ? strcpy(name, "a\033[2J") : NULL;
}

static __u64 named(const char *const *names, const char *name)
{
	__u64 number;

	for (number = 0; names[number]; number++)
		if (!strcmp(names[number], name))
			return number;
	return UINT64_MAX;
}

static void encode(struct nl_msg *m, const struct decode_field *set, struct json_object *object);

static void encode_value(struct nl_msg *m, const struct decode_field *field,
			 struct json_object *value)
{
	struct nlattr *nest;

	switch (field->kind) {
	case DECODE_NAME:
		nla_put_u32(m, field->type, named(field->names, json_object_get_string(value)));
		break;
	case DECODE_FLAG:
		if (json_object_get_boolean(value))
			nla_put_flag(m, field->type);
		break;
	case DECODE_NESTS:
		nest = nla_nest_start(m, field->type);
		encode(m, field->set, value);
		nla_nest_end(m, nest);
		break;
	default:
		nla_put_u64(m, field->type, json_object_get_uint64(value));
	}
}

/* Append the members of an object as attributes: the inverse of decode(). */
static void encode(struct nl_msg *m, const struct decode_field *set, struct json_object *object)
{
	const struct decode_field *field;
	struct json_object *value;
	size_t i;

	for (field = set; field->name; field++) {
		if (!json_object_object_get_ex(object, field->name, &value))
			continue;
		if (!json_object_is_type(value, json_type_array))
			encode_value(m, field, value);
		else
			for (i = 0; i < json_object_array_length(value); i++)
				encode_value(m, field, json_object_array_get_idx(value, i));
	}
}

static struct operation parse(const char *text)
{
	struct json_object *document = json_tokener_parse(text);
	struct nl_msg *m = nlmsg_alloc();
	struct reply reply;
	struct operation o;

	genlmsg_put(m, 0, 0, 0, 0, 0, COLLSOCK_CMD_OPERATION_GET, 0);
	encode(m, decode_operation, document);
	reply = reply_message(nlmsg_data(nlmsg_hdr(m)));
	operation_read(&o, &reply);
	nlmsg_free(m);
	json_object_put(document);
	return o;
}

static struct culprit blame(const char *reply)
{
	struct operation o = parse(reply);
	struct culprit culprit;

	culprit_find(&culprit, &o, SELF, LIVENESS_MS);
	operation_free(&o);
	return culprit;
}

static bool waits(const char *reply)
{
	struct operation o = parse(reply);
	bool answer = operation_waits(&o);

	operation_free(&o);
	return answer;
}

static bool is_older(const char *a, const char *b)
{
	struct operation one = parse(a), other = parse(b);
	bool answer = operation_is_older(&one, &other);

	operation_free(&one);
	operation_free(&other);
	return answer;
}

#define RUNNING "{\"number\":12,\"state\":\"running\",\"kind\":\"barrier\",\"waited_ms\":5000,"
#define TELLS(host, awaits, rank, ms)						\
	"{\"host\":" #host ",\"state\":\"heard\",\"rank\":" #host ",\"heard_ms\":400,"	\
	"\"awaits_host\":" #awaits ",\"awaits_rank\":" #rank ",\"awaits_operation\":12,"	\
	"\"awaits_ms\":" #ms ",\"awaits_reported\":true,\"reported_ms\":100}"

TEST(local_ranks_are_blamed_before_other_hosts)
{
	struct culprit c = blame(RUNNING "\"unposted\":2,\"missing_rank\":[3,4],\"missing\":["
				 TELLS(2, 5, 5, 9000) "]}");

	EXPECT_EQ(CULPRIT_HERE, c.reason);
	EXPECT_EQ(3, c.rank);
	EXPECT_EQ(0, c.host);
}

TEST(the_end_of_most_chains_is_blamed)
{
	struct culprit c = blame(RUNNING "\"missing\":[" TELLS(1, 5, 5, 10) ","
				 TELLS(2, 6, 6, 9000) "," TELLS(3, 5, 5, 20) "]}");

	EXPECT_EQ(CULPRIT_TOLD, c.reason);
	EXPECT_EQ(5, c.host);
	EXPECT_EQ(5, c.rank);
	EXPECT_EQ(3, c.via);
	EXPECT_EQ(2, c.chains);
	EXPECT_EQ(3, c.of);
}

TEST(with_equally_many_chains_the_longer_wait_is_blamed)
{
	struct culprit c = blame(RUNNING "\"missing\":[" TELLS(1, 5, 5, 10) ","
				 TELLS(2, 6, 6, 9000) "]}");

	EXPECT_EQ(6, c.host);
	EXPECT_EQ(2, c.via);
}

TEST(a_hosts_own_report_counts_more_than_reports_of_others)
{
	struct culprit c = blame(RUNNING "\"missing\":[" TELLS(1, 5, 5, 9000) ","
				 TELLS(5, 5, 6, 10) "]}");

	EXPECT_EQ(CULPRIT_NOT_POSTED, c.reason);
	EXPECT_EQ(6, c.rank);
	EXPECT_EQ(NUMBER_UNKNOWN, c.via);
	EXPECT_EQ(400, c.heard_ms);
	EXPECT_EQ(2, c.chains);
}

TEST(a_silent_host_is_the_end_of_its_chain_whatever_it_reported)
{
	struct culprit c = blame(RUNNING "\"missing\":[{\"host\":2,\"state\":\"heard\",\n"
				 "\"rank\":2,\"heard_ms\":1900,\"silent_ms\":1500,\"awaits_host\":5,\n"
				 "\"awaits_rank\":5,\"awaits_ms\":1,\"reported_ms\":1900}]}");

	EXPECT_EQ(CULPRIT_SILENT, c.reason);
	EXPECT_EQ(2, c.host);
	EXPECT_EQ(1500, c.silent_ms);
}

TEST(a_probe_in_flight_is_no_silence)
{
	struct culprit c = blame(RUNNING "\"missing\":[{\"host\":2,\"state\":\"heard\",\n"
				 "\"rank\":2,\"heard_ms\":900,\"silent_ms\":20,\"awaits_host\":5,\n"
				 "\"awaits_rank\":5,\"awaits_ms\":1,\"reported_ms\":900}]}");

	EXPECT_EQ(CULPRIT_MISSED, c.reason);
	EXPECT_EQ(5, c.host);
}

TEST(a_host_never_heard_from_is_the_end_of_its_chain)
{
	struct culprit c = blame(RUNNING "\"missing\":[{\"host\":4,\"state\":\"unheard\",\n"
				 "\"rank\":9,\"silent_ms\":1500}]}");

	EXPECT_EQ(CULPRIT_UNHEARD, c.reason);
	EXPECT_EQ(4, c.host);
	EXPECT_EQ(9, c.rank);
}

TEST(a_host_without_a_report_is_blamed_only_if_no_other_is)
{
	static const char quiet[] = "{\"host\":1,\"state\":\"heard\",\"rank\":1,\"heard_ms\":7}";
	char *both = text_format(RUNNING "\"missing\":[%s,%s,%s]}", quiet, quiet,
				 TELLS(2, 6, 6, 1));
	char *alone = text_format(RUNNING "\"missing\":[%s]}", quiet);
	struct culprit c = blame(both);

	EXPECT_EQ(6, c.host);
	c = blame(alone);
	EXPECT_EQ(CULPRIT_QUIET, c.reason);
	EXPECT_EQ(1, c.host);
	free(both);
	free(alone);
}

TEST(a_host_that_waits_for_us_has_lost_our_message)
{
	struct culprit c = blame(RUNNING "\"missing\":[" TELLS(3, 0, 0, 100) "]}");

	EXPECT_EQ(CULPRIT_LOST, c.reason);
	EXPECT_EQ(3, c.host);
}

TEST(no_rank_waits_for_receivers_of_a_broadcast)
{
	static const char form[] = "{\"number\":1,\"state\":\"running\",\"kind\":\"%s\",\n"
				   "\"root\":2,\"unposted\":1,\"missing_rank\":[%d]}";
	char *broadcast = text_format(form, "broadcast", 3);
	char *root = text_format(form, "broadcast", 2);
	char *reduce = text_format(form, "reduce", 3);

	EXPECT_FALSE(waits(broadcast));
	EXPECT_TRUE(waits(root));
	EXPECT_TRUE(waits(reduce));
	free(broadcast);
	free(root);
	free(reduce);
}

TEST(finished_operations_wait_for_no_rank)
{
	EXPECT_FALSE(waits("{\"number\":1,\"state\":\"done\",\"unposted\":0,\"unacked\":3}"));
	EXPECT_FALSE(waits("{\"number\":1,\"state\":\"aborted\",\"missing_rank\":[1]}"));
	EXPECT_FALSE(waits("{\"number\":1,\"state\":\"running\",\"missing\":[]}"));
}

TEST(early_operations_wait_if_they_must_or_their_hosts_report_so)
{
	static const char form[] = "{\"number\":1,\"state\":\"early\",\"kind\":\"%s\",\n"
				   "\"missing_rank\":[0]%s}";
	char *barrier = text_format(form, "barrier", "");
	char *reduce = text_format(form, "reduce", "");
	char *scan = text_format(form, "scan", "");
	char *asked = text_format(form, "reduce", ",\"waited_ms\":3");

	EXPECT_TRUE(waits(barrier));
	EXPECT_FALSE(waits(reduce));
	/* The first rank waits for no other. */
	EXPECT_FALSE(waits(scan));
	EXPECT_TRUE(waits(asked));
	free(barrier);
	free(reduce);
	free(scan);
	free(asked);
}

TEST(the_older_of_two_operations_is_known)
{
	EXPECT_TRUE(is_older("{\"number\":1}", "{\"number\":2}"));
	EXPECT_FALSE(is_older("{\"number\":2}", "{\"number\":1}"));
	EXPECT_FALSE(is_older("{\"number\":2}", "{\"number\":2}"));
	EXPECT_TRUE(is_older("{\"number\":1}", "{\"number\":4294967296}"));
	EXPECT_FALSE(is_older("{\"number\":4294967296}", "{\"number\":1}"));
}

TEST(an_operation_is_read_as_the_kernel_reports_it)
{
	struct operation o = parse(RUNNING "\"root\":2,\"missing_rank\":[3,4],\"missing\":["
				   TELLS(2, 5, 6, 9000) ",{\"host\":4,\"state\":\"dead\"}]}");

	EXPECT_EQ(12, o.number);
	EXPECT_STREQ("barrier", o.kind);
	EXPECT_EQ(OPERATION_RUNNING, o.state);
	EXPECT_EQ(5000, o.waited_ms);
	ASSERT_EQ(2, o.rank_count);
	EXPECT_EQ(4, o.ranks[1]);
	ASSERT_EQ(2, o.host_count);
	EXPECT_EQ(2, o.hosts[0].host);
	EXPECT_EQ(OPERATION_HOST_HEARD, o.hosts[0].state);
	EXPECT_EQ(5, o.hosts[0].awaits_host);
	EXPECT_EQ(6, o.hosts[0].awaits_rank);
	EXPECT_EQ(9000, o.hosts[0].awaits_ms);
	EXPECT_TRUE(o.hosts[0].awaits_reported);
	EXPECT_EQ(100, o.hosts[0].reported_ms);
	EXPECT_EQ(OPERATION_HOST_GONE, o.hosts[1].state);
	EXPECT_EQ(NUMBER_UNKNOWN, o.hosts[1].heard_ms);
	operation_free(&o);
}

static bool says(const struct report *report, const char *words)
{
	char *text = sentence_of(report);
	bool found = strstr(text, words);

	if (!found)
		printf("# \"%s\" does not say \"%s\"\n", text, words);
	free(text);
	return found;
}

/* A report about group 7, whose operation 12 waits for rank 5 on host 5 for this reason */
static struct report report_of(enum culprit_reason reason)
{
	return (struct report){
		.handle = 1, .id = 7, .liveness_ms = 3000,
		.operation = 12, .kind = "barrier", .running_ms = 12300,
		.address = "10.0.0.6",
		.culprit = {
			.reason = reason, .host = 5, .rank = 5, .via = NUMBER_UNKNOWN,
			.operation = 12, .silent_ms = NUMBER_UNKNOWN,
			.heard_ms = NUMBER_UNKNOWN, .reported_ms = NUMBER_UNKNOWN,
		},
	};
}

TEST(sentences_name_the_rank_and_its_host)
{
	struct report r = report_of(CULPRIT_TOLD);

	r.culprit.via = 3;
	r.culprit.heard_ms = 400;
	r.culprit.reported_ms = 100;
	EXPECT_TRUE(says(&r, "group 7 (handle 1), operation 12 (barrier), running for 12.3 s: "));
	EXPECT_TRUE(says(&r, ": everyone waits for rank 5 on host 5 (10.0.0.6), which has not"));
	EXPECT_TRUE(says(&r, " not posted it; its host answers (400 ms ago); reported by"));
	EXPECT_TRUE(says(&r, " reported by host 3, 100 ms ago."));
	r = report_of(CULPRIT_NOT_POSTED);
	r.culprit.operation = 11;
	EXPECT_TRUE(says(&r, "which has not posted operation 11."));
	r.culprit.chains = 2;
	r.culprit.of = 3;
	EXPECT_TRUE(says(&r, "operation 11; 2 of 3 chains of waits end there."));
	r = report_of(CULPRIT_SILENT);
	r.culprit.silent_ms = 1900;
	EXPECT_TRUE(says(&r, "it has been silent for 1.9 s and counts as dead after 3.0 s."));
	r = report_of(CULPRIT_UNHEARD);
	EXPECT_TRUE(says(&r, "it has not joined yet, or"));
}

TEST(every_reason_has_a_sentence_and_a_word)
{
	enum culprit_reason reason;
	struct report r;
	char *text;

	for (reason = CULPRIT_NOBODY; reason <= CULPRIT_LOST; reason++) {
		r = report_of(reason);
		text = sentence_of(&r);
		EXPECT_TRUE(!strstr(text, "18446744073709551615")) {
			TH_LOG("%s", text);
		}
		EXPECT_EQ('.', text[strlen(text) - 1]);
		EXPECT_NE(NULL, culprit_reason_name(reason));
		free(text);
	}
}

TEST(sentences_describe_a_local_process_and_what_to_do)
{
	struct report_rank rank = {
		.rank = 5, .state = "joined",
		.process = { .pid = 1234, .command = "sleep", .state = 'T' },
	};
	struct report r = report_of(CULPRIT_HERE);

	r.ranks = &rank;
	r.rank_count = 1;
	EXPECT_TRUE(says(&r, "process 1234 (sleep) is stopped (T): kill -CONT 1234 continues it"));
	rank.process = (struct process){ .pid = 1234 };
	EXPECT_TRUE(says(&r, "process 1234 is not visible here."));
	rank.process = (struct process){ .pid = 0 };
	r.uid = 1001;
	EXPECT_TRUE(says(&r, "has not posted it: its process, of user 1001, is not visible here."));
	strcpy(rank.state, "absent");
	EXPECT_TRUE(says(&r, "it has not joined yet."));
}

TEST(a_process_is_read_and_a_missing_one_has_no_state)
{
	struct process process;

	process_read(&process, getpid());
	EXPECT_EQ('R', process.state);
	EXPECT_STREQ("test_command", process.command);
	process_read(&process, 0);
	EXPECT_EQ('\0', process.state);
}

TEST(a_process_cannot_send_commands_to_the_terminal_of_who_looks)
{
	struct process process;
	char before[16];

	ASSERT_EQ(0, prctl(PR_GET_NAME, before));
	ASSERT_EQ(0, prctl(PR_SET_NAME, "\033]0;x\007\xff]"));
	process_read(&process, getpid());
	EXPECT_STREQ("?]0;x??]", process.command);
	prctl(PR_SET_NAME, before);
}

TEST(words_are_found_by_an_unambiguous_prefix)
{
	static const char * const names[] = { "get", "group", "set", "settle", NULL };

	EXPECT_EQ(1, match_prefix("gr", names));
	EXPECT_EQ(2, match_prefix("set", names));
	EXPECT_EQ(MATCH_SEVERAL, match_prefix("g", names));
	EXPECT_EQ(MATCH_NONE, match_prefix("groups", names));
	EXPECT_EQ(MATCH_NONE, match_prefix("", names));
}

TEST(the_nearest_name_is_similar)
{
	static const char * const names[] = { "window", "liveness_ms", "port", NULL };

	EXPECT_EQ(0, match_nearest("windwo", names));
	EXPECT_EQ(1, match_nearest("livenes", names));
	EXPECT_EQ(MATCH_NONE, match_nearest("elephant", names));
}

/* Write a string and read it again. */
static bool becomes(const char *text, const char *expected)
{
	struct json_object *json = text_json(text), *again;
	bool same;

	again = json_tokener_parse(json_object_to_json_string(json));
	same = again && !strcmp(json_object_get_string(again), expected);
	if (!same)
		printf("# %s\n", json_object_to_json_string(json));
	json_object_put(again);
	json_object_put(json);
	return same;
}

TEST(any_text_is_valid_json_without_control_characters)
{
	EXPECT_TRUE(becomes("a\"b\\c", "a\"b\\c"));
	EXPECT_TRUE(becomes("\033[2J\n\x7f", "?[2J??"));
	EXPECT_TRUE(becomes("Ümläut €", "Ümläut €"));
	EXPECT_TRUE(becomes("cut \xe2\x82", "cut ??"));
	EXPECT_TRUE(becomes("\xff\xc0\xaf\xed\xa0\x80\xc2\x9b", "????????"));
}

TEST(durations_and_sizes_have_units)
{
	char text[TEXT_BYTES];

	EXPECT_STREQ("7 us", text_us(text, 7));
	EXPECT_STREQ("1.5 ms", text_us(text, 1500));
	EXPECT_STREQ("12.3 s", text_ms(text, 12300));
	EXPECT_STREQ("3 min 01 s", text_ms(text, 181000));
	EXPECT_STREQ("5 h 03 min", text_ms(text, 18180000));
	EXPECT_STREQ("1.5 KiB", text_bytes(text, 1536));
	EXPECT_STREQ("33.3 %", text_share(text, 1, 3));
	EXPECT_STREQ("0.0 %", text_share(text, 0, 0));
}

TEST(rules_of_a_firewall_are_read)
{
	static const struct {
		const char		*line;
		enum firewall_says	says;
	} rules[] = {
		{ "udp dport 7607 accept", FIREWALL_ACCEPTS },
		{ "udp dport 7607 drop", FIREWALL_REFUSES },
		{ "udp dport 17607 drop", FIREWALL_NOTHING },
		{ "udp sport 7607 drop", FIREWALL_NOTHING },
		{ "tcp dport 7607 drop", FIREWALL_NOTHING },
		{ "\t\tudp dport { 22, 7000-7607 } counter packets 3 bytes 9 reject with icmp x\n",
		  FIREWALL_REFUSES },
		{ "udp dport 53 counter packets 7607 bytes 7607 drop", FIREWALL_NOTHING },
		{ "udp dport != 7607 drop", FIREWALL_NOTHING },
		{ "udp dport != { 53, 7000-7600 } drop", FIREWALL_REFUSES },
		{ "udp dport >= 1024 accept", FIREWALL_ACCEPTS },
		{ "udp dport < 7607 drop", FIREWALL_NOTHING },
		{ "udp dport <= 7607 drop", FIREWALL_REFUSES },
		{ "udp dport vmap { 53 : accept, 7000-8000 : drop }", FIREWALL_REFUSES },
		{ "udp dport vmap { 7607 : accept, 53 : drop }", FIREWALL_ACCEPTS },
		{ "udp dport vmap { 53 : jump c7607, 54 : drop }", FIREWALL_NOTHING },
		{ "udp dport vmap @ports", FIREWALL_UNCLEAR },
		{ "udp dport @ports accept", FIREWALL_UNCLEAR },
		{ "udp dport . ip saddr { 7607 . 10.0.0.1 } accept", FIREWALL_UNCLEAR },
		{ "meta l4proto { tcp, udp } th dport 7607 drop", FIREWALL_REFUSES },
		{ "meta l4proto tcp th dport 7607 drop", FIREWALL_NOTHING },
		{ "th dport 7607 drop", FIREWALL_REFUSES },
		{ "tcp dport 7607 drop comment \"no udp\"", FIREWALL_NOTHING },
		{ "udp dport 7607 drop comment \"do not \\\" accept\"", FIREWALL_REFUSES },
		{ "udp dport 7607 log prefix \"drop \"", FIREWALL_NOTHING },
		{ "udp dport 7607 jump drop_some", FIREWALL_NOTHING },
		{ "udp dport 7607", FIREWALL_NOTHING },
		{ "udp dport", FIREWALL_NOTHING },
		{ "dport", FIREWALL_NOTHING },
		{ "", FIREWALL_NOTHING },
		{ "-A INPUT -p udp -m udp --dport 7607 -j DROP", FIREWALL_REFUSES },
		{ "-A INPUT -p udp -m udp ! --dport 7607 -j DROP", FIREWALL_NOTHING },
		{ "-A INPUT -p udp -m udp ! --dport 53 -j DROP", FIREWALL_REFUSES },
		{ "-A INPUT -p udp -m udp --dport 7000:8000 -j ACCEPT", FIREWALL_ACCEPTS },
		{ "-A INPUT -p udp -m multiport --dports 53,7600:7610 -j REJECT --reject-with x",
		  FIREWALL_REFUSES },
		{ "-A INPUT -p udp -m multiport ! --dports 53,7607 -j DROP", FIREWALL_NOTHING },
		{ "-A INPUT -p udp -m udp --dport 7607 -m comment --comment accept -j DROP",
		  FIREWALL_REFUSES },
		{ "-A INPUT -p udp -m udp --dport 7607 -j LOG --log-prefix \"DROP \"",
		  FIREWALL_NOTHING },
		{ "-A no-udp -p tcp -m tcp --dport 7607 -j DROP", FIREWALL_NOTHING },
		{ "ip saddr 10.1.0.0/24 accept", FIREWALL_ACCEPTS_SOME },
		{ "\tiifname \"eth1\" counter packets 1 bytes 2 accept\n", FIREWALL_ACCEPTS_SOME },
		{ "iifname \"lo\" accept", FIREWALL_NOTHING },
		{ "ip saddr 10.1.0.0/24 drop", FIREWALL_NOTHING },
		{ "ip saddr 10.1.0.0/24 tcp dport 22 accept", FIREWALL_NOTHING },
		{ "iifname \"docker0\" oifname != \"docker0\" accept", FIREWALL_NOTHING },
		{ "ct state established,related accept", FIREWALL_NOTHING },
		{ "accept", FIREWALL_NOTHING },
		{ "-A INPUT -s 10.1.0.0/24 -j ACCEPT", FIREWALL_ACCEPTS_SOME },
		{ "-A INPUT -i eth1 -j ACCEPT", FIREWALL_ACCEPTS_SOME },
		{ "-A INPUT -i lo -j ACCEPT", FIREWALL_NOTHING },
		{ "-A FORWARD -i docker0 -j ACCEPT", FIREWALL_NOTHING },
		{ "-A OUTPUT -s 10.0.0.0/24 -j ACCEPT", FIREWALL_NOTHING },
		{ "-A INPUT -s 10.1.0.0/24 -p tcp -j ACCEPT", FIREWALL_NOTHING },
		{ }
	};
	size_t i;

	for (i = 0; rules[i].line; i++) {
		EXPECT_EQ(rules[i].says, firewall_reads(rules[i].line, 7607)) {
			TH_LOG("%s", rules[i].line);
		}
	}
}

/* The last line decides. */
TEST(a_firewall_that_is_closed_by_default_is_recognised)
{
	static const struct {
		const char	*lines[4];
		bool		closes;
	} chains[] = {
		{ { "\t\ttype filter hook input priority filter; policy drop;\n" }, true },
		{ { "\t\ttype filter hook forward priority filter; policy drop;\n" }, false },
		{ { "type filter hook input priority 0; policy accept;", "reject" }, true },
		{ { "hook input priority 10; policy accept;", "tcp dport 22 accept",
		    "\tcounter packets 3 bytes 180 reject with icmpx admin-prohibited\n" }, true },
		{ { "hook input priority 0; policy accept;", "\t\tdrop\n" }, true },
		{ { "hook input priority 0; policy accept;", "tcp dport 1 drop" }, false },
		{ { "hook input priority 0; policy accept;", "counter packets 1 bytes 2" }, false },
		{ { "hook input priority 0; policy accept;", "\t}\n", "drop" }, false },
		{ { "hook forward priority 0; policy accept;", "drop" }, false },
		{ { ":INPUT DROP [0:0]\n" }, true },
		{ { ":FORWARD DROP [0:0]\n" }, false },
		{ { "-A INPUT -j REJECT --reject-with icmp-host-prohibited\n" }, true },
		{ { "-A INPUT -j DROP\n" }, true },
		{ { "-A INPUT -j ufw-before-input" }, false },
		{ { "-A INPUT -i eth1 -j DROP" }, false },
		{ { "-A FORWARD -j REJECT --reject-with icmp-host-prohibited" }, false },
		{ }
	};
	size_t i, k;

	for (i = 0; chains[i].lines[0]; i++) {
		bool input = false, closes = false;

		for (k = 0; k < 4 && chains[i].lines[k]; k++)
			closes = firewall_closes(chains[i].lines[k], &input);
		EXPECT_EQ(chains[i].closes, closes) {
			TH_LOG("%s", chains[i].lines[k - 1]);
		}
	}
}

TEST(the_program_that_manages_the_rules_is_recognised)
{
	EXPECT_EQ(FIREWALL_OF_FIREWALLD, firewall_keeper_of("table inet firewalld {\n"));
	EXPECT_EQ(FIREWALL_OF_FIREWALLD, firewall_keeper_of(":INPUT_ZONES - [0:0]\n"));
	EXPECT_EQ(FIREWALL_OF_UFW, firewall_keeper_of(":ufw-user-input - [0:0]\n"));
	EXPECT_EQ(FIREWALL_OF_UFW, firewall_keeper_of("\t\tcounter jump ufw-user-input\n"));
	EXPECT_EQ(FIREWALL_OF_NOBODY, firewall_keeper_of("table inet filter {\n"));
	EXPECT_EQ(FIREWALL_OF_NOBODY, firewall_keeper_of(":INPUT DROP [0:0]\n"));
}

TEST(name_of_an_interface_does_not_control_the_terminal)
{
	char text[REPLY_ADDRESS_BYTES] = "fe80::1", other[REPLY_ADDRESS_BYTES] = "fe80::1";

	reply_add_scope(text, 7);
	EXPECT_STREQ("fe80::1%a?[2J", text);
	reply_add_scope(other, 8);
	EXPECT_STREQ("fe80::1%8", other);
}

TEST_HARNESS_MAIN
