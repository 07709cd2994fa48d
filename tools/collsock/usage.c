// SPDX-License-Identifier: GPL-2.0
#include <err.h>

#include "command.h"
#include "usage.h"

static const char usage[] =
	"usage: collsock [OPTIONS] COMMAND [WORDS]\n"
	"\n"
	"Show, without privileges:\n"
	"  group [HANDLE|id ID]         groups of this network namespace\n"
	"  host [group HANDLE|id ID]    their hosts\n"
	"  rank [group HANDLE|id ID]    ranks on this host, and their processes\n"
	"  peer [group HANDLE|id ID]    their connections\n"
	"  op [group HANDLE|id ID]      operations in progress, and what they wait for\n"
	"  user                         users who have groups, and their limits\n"
	"  device                       Ethernet devices that are open, or allowed\n"
	"  stat [--prometheus]          counters; with -s explained\n"
	"  get [NAME...]                tunables\n"
	"  monitor [-t]                 events, until interrupted; -t: with the time\n"
	"  wait [group HANDLE|id ID] [--interval S] [--count N]\n"
	"                               the straggler: which rank everyone waits for;\n"
	"                               exit status 3 if any operation waits,\n"
	"                               or a process does not reply\n"
	"  wait --last                  which ranks were last most often\n"
	"  doctor [HOST...]             find problems: exit status 2 if there are any\n"
	"  keygen [FILE]                make the secret of a group: in a new file that only\n"
	"                               its owner may read, or on standard output\n"
	"Start ranks, without privileges:\n"
	"  run --local N [--] PROGRAM [WORD...]\n"
	"                               N ranks on this host\n"
	"  run [RANK] [--] PROGRAM [WORD...]\n"
	"                               one rank, which meets the others\n"
	"  barrier [RANK] [--timeout S] wait for all ranks\n"
	"  allreduce --op sum|min|max|product [RANK] [--timeout S] NUMBER\n"
	"                               combine the numbers of all ranks, and print the result\n"
	"  RANK: --rank R --ranks N --rendezvous HOST[:PORT], or -H HOST,HOST,... with a rank\n"
	"                               on each; without it the environment says it\n"
	"  --port N                     UDP port for these three, in place of this host's\n"
	"  --network ADDRESS/LENGTH     network of the hosts' addresses for these three\n"
	"Change, with CAP_NET_ADMIN:\n"
	"  set NAME VALUE|default [NAME VALUE...]\n"
	"                               change tunables, all of them or none\n"
	"  end HANDLE|id ID             end a group\n"
	"  device NAME allow|deny       may every user use it for groups over Ethernet, or\n"
	"                               only those with CAP_NET_RAW\n"
	"\n"
	"  -j, --json                   JSON\n"
	"  -p, --pretty                 indented JSON\n"
	"  -s, --statistics             more details\n"
	"  -n, --netns NAME             work in this network namespace\n"
	"  -c, --color[=always|auto|never]\n"
	"  -V, --version\n"
	"  -h, --help                   this text\n"
	"\n"
	"Commands but run, barrier and allreduce can be abbreviated. The manual page is\n"
	"collsock(8).\n";

void usage_print(FILE *to)
{
	if (fputs(usage, to) < 0 || fflush(to))
		err(EXIT_ERROR, "%s", to == stdout ? "standard output" : "standard error");
}
