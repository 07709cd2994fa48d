// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/collsock.h>

#include "doctor_finding.h"
#include "doctor_module.h"
#include "socket.h"
#include "text.h"

static bool doctor_is_installed(void)
{
	return !system("PATH=$PATH:/usr/sbin:/sbin modinfo collsock >/dev/null 2>&1");
}

static bool doctor_is_loaded(void)
{
	return !access("/sys/module/collsock", F_OK);
}

/* Do ranks not need the missing module? COLLSOCK_BACKEND as libcollsock reads it */
static bool doctor_ranks_are_in_user_space(void)
{
	enum collsock_backend backend;

	return !socket_choose_backend(COLLSOCK_BACKEND_AUTO, &backend) &&
	       backend != COLLSOCK_BACKEND_KERNEL;
}

static void doctor_say_missing(struct doctor *d, const char *advice, const char *why)
{
	if (doctor_ranks_are_in_user_space())
		doctor_say(d, DOCTOR_NOTE, advice,
			   "%s: groups are in user space; the module makes operations faster, and adds Ethernet and multicast",
			   why);
	else
		doctor_say(d, DOCTOR_PROBLEM, advice, "%s", why);
}

void doctor_module(struct doctor *d)
{
	if (d->connected)
		doctor_say(d, DOCTOR_OK, NULL, "loaded, with its netlink family");
	else if (doctor_is_loaded())
		doctor_say(d, DOCTOR_PROBLEM,
			   "install a module as new as this command; rmmod collsock; modprobe collsock",
			   "loaded, but it has no netlink family");
	else if (doctor_read_number("/proc/sys/kernel/modules_disabled") == 1)
		doctor_say_missing(d,
				   "reboot; have it loaded at boot: /etc/modules-load.d/collsock.conf",
				   "not loaded, and this kernel loads no more modules (kernel.modules_disabled)");
	else if (doctor_is_installed())
		doctor_say_missing(d, "modprobe collsock; if that fails, dmesg shows the reason",
				   "installed, but not loaded");
	else
		doctor_say_missing(d, "build and install it for the running kernel (uname -r)",
				   "not loaded, and not installed for this kernel");
}

/* The variable consists of four bytes of attributes, then 0 or 1. */
static bool doctor_secure_boot_is_on(void)
{
	char value[5] = "";
	glob_t found;
	FILE *file;

	if (glob("/sys/firmware/efi/efivars/SecureBoot-*", 0, NULL, &found))
		return false;
	file = fopen(found.gl_pathv[0], "re");
	globfree(&found);
	if (!file)
		return false;
	if (fread(value, 1, sizeof(value), file) != sizeof(value))
		value[4] = 0;
	fclose(file);
	return value[4] == 1;
}

#define LOCKDOWN "/sys/kernel/security/lockdown"

static bool doctor_file_has(const char *path, const char *what)
{
	FILE *file = fopen(path, "re");
	char line[64] = "";

	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		*line = 0;
	fclose(file);
	return strstr(line, what);
}

/* The reason for which the kernel refuses modules without a trusted signature, or NULL */
static const char *doctor_who_wants_signatures(void)
{
	/*
	 * Secure Boot itself refuses nothing, so it counts only if the lockdown state
	 * cannot be read.
	 */
	if (doctor_secure_boot_is_on() && !doctor_file_has(LOCKDOWN, "[none]"))
		return "Secure Boot is on";
	if (doctor_file_has("/sys/module/module/parameters/sig_enforce", "Y"))
		return "module.sig_enforce is set";
	if (doctor_file_has(LOCKDOWN, "[integrity]") ||
	    doctor_file_has(LOCKDOWN, "[confidentiality]"))
		return "lockdown is on";
	return NULL;
}

/* Only relevant while the module is not loaded. */
void doctor_signatures(struct doctor *d)
{
	const char *who;

	if (d->connected || doctor_is_loaded())
		return;
	who = doctor_who_wants_signatures();
	if (who)
		doctor_say(d, DOCTOR_WARNING,
			   "sign the module with an enrolled key (mokutil --import), or turn that off",
			   "%s: the kernel requires signed modules", who);
	else
		doctor_say(d, DOCTOR_OK, NULL, "the kernel does not require signed modules");
}

void doctor_family(struct doctor *d)
{
	int family = text_number(d->net, "family", AF_COLLSOCK), fd;

	fd = socket(family, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		doctor_say(d, DOCTOR_OK, NULL, "%d, and sockets can be opened", family);
		close(fd);
	} else if (errno == EACCES || errno == EPERM) {
		doctor_say(d, DOCTOR_PROBLEM, "a security module or a container forbids it",
			   "%d, and this user may not open sockets: %m", family);
	} else {
		doctor_say(d, DOCTOR_PROBLEM,
			   "modprobe collsock family=NUMBER chooses one that nothing else uses",
			   "%d, and sockets cannot be opened: %m", family);
	}
}

void doctor_version(struct doctor *d)
{
	const char *version = text_string(d->net, "version", "");

	if (!strcmp(version, COLLSOCK_VERSION))
		doctor_say(d, DOCTOR_OK, NULL, "module and command are both %s", COLLSOCK_VERSION);
	else
		doctor_say(d, DOCTOR_WARNING, "install both from the same release; rmmod, modprobe",
			   "the module is %s, the command %s", version, COLLSOCK_VERSION);
}
