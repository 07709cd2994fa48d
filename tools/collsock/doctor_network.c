// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/collsock.h>

#include "command.h"
#include "doctor_finding.h"
#include "doctor_network.h"
#include "firewall.h"
#include "text.h"
#include "user_port.h"
#include "userspace.h"

#define UNHEARD_MOST		8	/* hosts of groups here, if none are named */
#define WIRE_OVERHEAD		96	/* of a packet with data: kernel/core/wire.h */
#define OVERHEAD_4		28	/* IPv4 and UDP */
#define OVERHEAD_6		48	/* IPv6 and UDP */
#define COALESCING_US		10
#define LINE_BYTES		512
#define PORTS_BYTES		16
#define NO_PROGRAM		127	/* exit status of a shell */

/* ---- hosts ---- */

static const void *doctor_address_bytes(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET)
		return &((const struct sockaddr_in *)address)->sin_addr;
	return &((const struct sockaddr_in6 *)address)->sin6_addr;
}

/* A link-local address is followed by its interface. */
static void doctor_write_numeric(const struct sockaddr_storage *address, char text[DOCTOR_NUMERIC])
{
	if (getnameinfo((const struct sockaddr *)address, sizeof(*address), text, DOCTOR_NUMERIC,
			NULL, 0, NI_NUMERICHOST))
		snprintf(text, DOCTOR_NUMERIC, "?");
}

static void doctor_find_device(struct doctor_host *host, const struct sockaddr_storage *source)
{
	size_t bytes = source->ss_family == AF_INET ? sizeof(struct in_addr) :
						      sizeof(struct in6_addr);
	struct ifaddrs *all, *one;

	if (getifaddrs(&all))
		return;
	for (one = all; one; one = one->ifa_next)
		if (one->ifa_addr && one->ifa_addr->sa_family == source->ss_family &&
		    !memcmp(doctor_address_bytes((struct sockaddr_storage *)one->ifa_addr),
			    doctor_address_bytes(source), bytes))
			snprintf(host->device, sizeof(host->device), "%s", one->ifa_name);
	freeifaddrs(all);
}

/* Connecting a UDP socket finds the route without sending anything. */
static void doctor_find_route(struct doctor_host *host)
{
	bool ipv4 = host->address.ss_family == AF_INET;
	struct sockaddr_storage source = { };
	socklen_t bytes = sizeof(source);
	int fd;

	fd = socket(host->address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (!connect(fd, (struct sockaddr *)&host->address, host->bytes) &&
	    !getsockname(fd, (struct sockaddr *)&source, &bytes)) {
		host->routed = true;
		doctor_write_numeric(&source, host->source);
		doctor_find_device(host, &source);
		bytes = sizeof(host->mtu);
		getsockopt(fd, ipv4 ? IPPROTO_IP : IPPROTO_IPV6, ipv4 ? IP_MTU : IPV6_MTU,
			   &host->mtu, &bytes);
	}
	close(fd);
}

/* The first IPv4 address, which joining prefers, else the first of any family */
static const struct addrinfo *doctor_choose_address(const struct addrinfo *all)
{
	const struct addrinfo *one;

	for (one = all; one; one = one->ai_next)
		if (one->ai_family == AF_INET)
			return one;
	return all;
}

/* Returns 0, or an error of getaddrinfo(). @flags: for that */
static int doctor_add_host(struct doctor *d, const char *name, int flags)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_DGRAM, .ai_flags = flags };
	struct doctor_host *host = &d->hosts[d->host_count];
	const struct addrinfo *chosen;
	struct addrinfo *found;
	char port[8];
	int status;

	if (d->host_count == DOCTOR_HOSTS)
		errx(EXIT_ERROR, "doctor: at most %u hosts at a time", DOCTOR_HOSTS);
	snprintf(port, sizeof(port), "%u", d->port);
	status = getaddrinfo(name, port, &hints, &found);
	if (status)
		return status;
	d->host_count++;
	snprintf(host->name, sizeof(host->name), "%s", name);
	chosen = doctor_choose_address(found);
	memcpy(&host->address, chosen->ai_addr, chosen->ai_addrlen);
	host->bytes = chosen->ai_addrlen;
	freeaddrinfo(found);
	doctor_write_numeric(&host->address, host->numeric);
	doctor_find_route(host);
	return 0;
}

void doctor_take_hosts(struct doctor *d, char **names)
{
	size_t i, count = d->members && !*names ? json_object_array_length(d->members) : 0;
	int status;

	for (; *names; names++) {
		status = doctor_add_host(d, *names, 0);
		if (status)
			errx(EXIT_ERROR, "doctor: host %s: %s", *names, gai_strerror(status));
	}
	for (i = 0; i < count && d->host_count < UNHEARD_MOST; i++) {
		struct json_object *member = json_object_array_get_idx(d->members, i);
		const char *address = text_string(member, "address", "");

		/* To hosts of groups over Ethernet there is no route. */
		if (!strcmp(text_string(member, "state", ""), "unheard") &&
		    !doctor_has_host(d, address))
			doctor_add_host(d, address, AI_NUMERICHOST);
	}
}

/* ---- this host ---- */

/**
 * struct firewall - summary of the rules, by a rough reading
 * @readable: they were listed
 * @closed: packets that no rule accepts are refused
 * @accepts: a rule accepts the port
 * @unclear: a rule names a set of UDP ports that was not read
 * @input: the current chain is for incoming packets
 * @keeper: program that manages the rules
 * @some: a rule that accepts all ports from some senders, or empty
 * @refuses: a rule that refuses the port, perhaps for some senders only, or empty
 */
struct firewall {
	bool	readable;
	bool	closed;
	bool	accepts;
	bool	unclear;
	bool	input;
	enum firewall_keeper keeper;
	char	some[LINE_BYTES];
	char	refuses[LINE_BYTES];
};

static void doctor_keep_rule(char kept[LINE_BYTES], const char *line)
{
	line += strspn(line, " \t");
	snprintf(kept, LINE_BYTES, "%.*s", (int)strcspn(line, "\n"), line);
}

static void doctor_read_rule(struct firewall *firewall, const char *line, unsigned int port)
{
	enum firewall_keeper keeper = firewall_keeper_of(line);

	if (keeper)
		firewall->keeper = keeper;
	firewall->closed |= firewall_closes(line, &firewall->input);
	switch (firewall_reads(line, port)) {
	case FIREWALL_ACCEPTS:
		firewall->accepts = true;
		break;
	case FIREWALL_REFUSES:
		doctor_keep_rule(firewall->refuses, line);
		break;
	case FIREWALL_ACCEPTS_SOME:
		doctor_keep_rule(firewall->some, line);
		break;
	case FIREWALL_UNCLEAR:
		firewall->unclear = true;
		break;
	default:
		break;
	}
}

/* Lines may have any length, because of sets of ports. */
static void doctor_read_firewall(struct firewall *firewall, const char *command, unsigned int port)
{
	FILE *file = popen(command, "re");
	char *line = NULL;
	size_t room = 0;

	if (!file)
		return;
	while (getline(&line, &room, file) > 0)
		doctor_read_rule(firewall, line, port);
	free(line);
	firewall->readable |= !pclose(file);
}

/**
 * struct ports - UDP ports that are to be open
 * @first: see there
 * @last: see there
 * @text: both, for messages
 * @of_ufw: the same as ufw writes it
 */
struct ports {
	unsigned int	first;
	unsigned int	last;
	char		text[PORTS_BYTES];
	char		of_ufw[PORTS_BYTES];
};

static void doctor_name_ports(struct ports *ports)
{
	int length = snprintf(ports->text, PORTS_BYTES, "%u", ports->first);

	if (ports->last > ports->first)
		snprintf(ports->text + length, PORTS_BYTES - length, "-%u", ports->last);
	strcpy(ports->of_ufw, ports->text);
	if (ports->of_ufw[length])
		ports->of_ufw[length] = ':';
}

/* A rule outside the tables of the firewall program does not override them. */
static void doctor_say_closed(struct doctor *d, enum firewall_keeper keeper,
			      const struct ports *ports)
{
	static const char *const forms[] = {
		[FIREWALL_OF_NOBODY] =
			"insert a rule before those that drop: nft insert rule inet filter input ip saddr NETWORK udp dport %s accept, or the equivalent for your firewall",
		[FIREWALL_OF_UFW] = "ufw allow proto udp from NETWORK to any port %s",
		[FIREWALL_OF_FIREWALLD] =
			"firewall-cmd --permanent --zone=ZONE --add-port=%s/udp; firewall-cmd --reload",
	};
	char advice[LINE_BYTES];

	snprintf(advice, sizeof(advice), forms[keeper],
		 keeper == FIREWALL_OF_UFW ? ports->of_ufw : ports->text);
	doctor_say(d, DOCTOR_WARNING, advice,
		   "packets are refused unless a rule accepts them, and none accepts UDP port %s",
		   ports->text);
}

/* Rules are for all of the ports or for none. Return: whether they can be read. */
static bool doctor_check_firewall(struct doctor *d, struct ports *ports)
{
	struct firewall firewall = { };

	doctor_name_ports(ports);
	doctor_read_firewall(&firewall, "PATH=$PATH:/usr/sbin:/sbin nft list ruleset 2>/dev/null",
			     ports->first);
	doctor_read_firewall(&firewall, "PATH=$PATH:/usr/sbin:/sbin iptables-save 2>/dev/null",
			     ports->first);
	if (!firewall.readable)
		doctor_say(d, DOCTOR_NOTE, "as root, nft list ruleset shows the rules",
			   "the rules cannot be read");
	else if (*firewall.refuses)
		doctor_say(d, DOCTOR_WARNING, "check that it spares the hosts of your groups",
			   "a rule refuses UDP port %s: %s", ports->text, firewall.refuses);
	else if (firewall.closed && !firewall.accepts && *firewall.some)
		doctor_say(d, DOCTOR_NOTE, "check that it matches the hosts of your groups",
			   "packets are refused unless a rule accepts them, and none names UDP port %s; this one accepts everything from some senders: %s",
			   ports->text, firewall.some);
	else if (firewall.closed && !firewall.accepts && firewall.unclear)
		doctor_say(d, DOCTOR_NOTE, "nft list ruleset shows them",
			   "packets are refused unless a rule accepts them; whether one accepts UDP port %s depends on sets that were not read",
			   ports->text);
	else if (firewall.closed && !firewall.accepts)
		doctor_say_closed(d, firewall.keeper, ports);
	else
		doctor_say(d, DOCTOR_OK, NULL, "no sign that UDP port %s is refused", ports->text);
	return firewall.readable;
}

void doctor_firewall(struct doctor *d)
{
	struct ports of_module = { .first = d->port, .last = d->port }, of_ranks;

	if (doctor_check_firewall(d, &of_module) &&
	    (!d->connected || userspace_is_there()) &&
	    !user_ports_range(&of_ranks.first, &of_ranks.last))
		doctor_check_firewall(d, &of_ranks);
}

/* ---- the path ---- */

void doctor_route(struct doctor *d)
{
	struct doctor_host *host;

	for (host = d->hosts; host < d->hosts + d->host_count; host++) {
		if (!host->routed)
			doctor_say(d, DOCTOR_PROBLEM, "ip route get ADDRESS; ip link; ip address",
				   "no route to %s", host->name);
		else if (!strcmp(host->source, host->numeric))
			doctor_say(d, DOCTOR_OK, NULL, "%s is this host", host->name);
		else
			doctor_say(d, DOCTOR_OK, NULL,
				   "to %s from %s through %s; others must name this host %s",
				   host->name, host->source, *host->device ? host->device : "?",
				   host->source);
	}
}

static int doctor_largest_segment(const struct doctor *d)
{
	int largest = COLLSOCK_DEFAULT_SEGMENT, segment;
	size_t i, count = d->groups ? json_object_array_length(d->groups) : 0;

	for (i = 0; i < count; i++) {
		segment = text_number(json_object_array_get_idx(d->groups, i), "segment_bytes", 0);
		if (segment > largest)
			largest = segment;
	}
	return largest;
}

void doctor_mtu(struct doctor *d)
{
	struct doctor_host *host;
	int segment = doctor_largest_segment(d), packet;

	for (host = d->hosts; host < d->hosts + d->host_count; host++) {
		if (!host->routed)
			continue;
		packet = segment + WIRE_OVERHEAD +
			 (host->address.ss_family == AF_INET ? OVERHEAD_4 : OVERHEAD_6);
		if (packet <= host->mtu)
			doctor_say(d, DOCTOR_OK, NULL,
				   "to %s: packets of at most %d bytes fit the MTU of %d",
				   host->name, packet, host->mtu);
		else
			doctor_say(d, DOCTOR_PROBLEM,
				   "join with a smaller segment_bytes, or raise the MTU on all hosts",
				   "to %s: packets of %d bytes (segments of %d) exceed the MTU of %d",
				   host->name, packet, segment, host->mtu);
	}
}

/* Ping once. Return: the status of ping(8). */
static int doctor_ping(char *address)
{
	char *const words[] = { "ping", "-q", "-c", "1", "-W", "1", address, NULL };
	posix_spawn_file_actions_t silence;
	int status;
	pid_t pid;

	posix_spawn_file_actions_init(&silence);
	posix_spawn_file_actions_addopen(&silence, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&silence, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	status = posix_spawnp(&pid, *words, &silence, NULL, words, environ);
	posix_spawn_file_actions_destroy(&silence);
	if (status || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return NO_PROGRAM;
	return WEXITSTATUS(status);
}

void doctor_reach(struct doctor *d)
{
	struct doctor_host *host;
	int status;

	for (host = d->hosts; host < d->hosts + d->host_count; host++) {
		if (!host->routed)
			continue;
		status = doctor_ping(host->numeric);
		if (!status)
			doctor_say(d, DOCTOR_OK, NULL, "%s answers a ping", host->name);
		else if (status == 1)
			doctor_say(d, DOCTOR_WARNING,
				   "check that it is up and connected; a firewall may also refuse pings only",
				   "%s does not answer a ping within 1 s", host->name);
		else
			doctor_say(d, DOCTOR_NOTE,
				   status == NO_PROGRAM ? "install ping" : NULL,
				   "%s cannot be pinged from here", host->name);
	}
}

/* ---- network devices ---- */

void doctor_check_delays(struct doctor *d, const char *device)
{
	struct ethtool_coalesce coalesce = { .cmd = ETHTOOL_GCOALESCE };
	struct ifreq request = { .ifr_data = (void *)&coalesce };
	int fd, status;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%.15s", device);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	status = ioctl(fd, SIOCETHTOOL, &request);
	close(fd);
	if (status)
		doctor_say(d, DOCTOR_OK, NULL, "%s does not delay packets", device);
	else if (coalesce.rx_coalesce_usecs > COALESCING_US || coalesce.use_adaptive_rx_coalesce)
		doctor_say(d, DOCTOR_NOTE,
			   "for the least latency: ethtool -C DEVICE adaptive-rx off rx-usecs 0; "
			   "for programs that spin: sysctl net.core.busy_read=100",
			   "%s delays packets by up to %u us%s", device,
			   coalesce.rx_coalesce_usecs,
			   coalesce.use_adaptive_rx_coalesce ? ", adaptively" : "");
	else
		doctor_say(d, DOCTOR_OK, NULL, "%s delays packets by at most %u us", device,
			   coalesce.rx_coalesce_usecs);
}

/* Check each device once. */
void doctor_coalescing(struct doctor *d)
{
	unsigned int i, j;

	for (i = 0; i < d->host_count; i++) {
		for (j = 0; j < i; j++)
			if (!strcmp(d->hosts[i].device, d->hosts[j].device))
				break;
		if (j == i && *d->hosts[i].device)
			doctor_check_delays(d, d->hosts[i].device);
	}
}
