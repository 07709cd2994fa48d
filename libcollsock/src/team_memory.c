// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "file_size.h"
#include "team_memory.h"

#define MAGIC 0x314d414554434f43ULL	/* changes with the layout */
#define LINE_BYTES alignof(struct team_flag)
#define NEEDED_SEALS F_SEAL_SHRINK
#define ALL_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* Inode of a namespace; 0 if it is not known */
static __u64 namespace_inode(const char *path)
{
	struct stat status;

	return stat(path, &status) ? 0 : status.st_ino;
}

static bool head_is_valid(const struct team_head *head)
{
	return head->magic == MAGIC && head->members && head->members <= COLLSOCK_MAX_MEMBERS &&
	       head->algorithm && head->algorithm <= COLLSOCK_TEAM_DISSEMINATION &&
	       head->max_bytes && head->max_bytes <= COLLSOCK_MAX_PAYLOAD;
}

int collsock_team_head_init(struct team_head *head, __u32 members,
			    enum collsock_team_algorithm algorithm, __u32 max_bytes)
{
	*head = (struct team_head){
		.magic		= MAGIC,
		.pid_namespace	= namespace_inode("/proc/self/ns/pid"),
		.time_namespace	= namespace_inode("/proc/self/ns/time"),
		.members	= members,
		.algorithm	= algorithm ? algorithm : COLLSOCK_TEAM_CENTRAL,
		.max_bytes	= max_bytes ? max_bytes : COLLSOCK_DEFAULT_SEGMENT,
	};
	return head_is_valid(head) ? 0 : -EINVAL;
}

/* The parts of the memory at @base, from a head that is valid */
static void memory_divide(struct team_memory *memory, const struct team_head *head,
			  uintptr_t base)
{
	__u32 n = head->members;
	uintptr_t at = base;

	memory->round_count = n > 1 ? 32 - __builtin_clz(n - 1) : 0;
	memory->common = (struct team_common *)at;
	at += sizeof(*memory->common);
	memory->record = (struct team_record *)at;
	at += n * sizeof(*memory->record);
	memory->up = (struct team_flag *)at;
	at += n * sizeof(*memory->up);
	memory->down = (struct team_flag *)at;
	at += n * sizeof(*memory->down);
	memory->rounds = (struct team_flag *)at;
	at += n * memory->round_count * sizeof(*memory->rounds);
	memory->flag_count = n * (2 + memory->round_count);
	memory->stride = (head->max_bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
	memory->contributions = (__u8 *)at;
	at += n * memory->stride;
	memory->result = (__u8 *)at;
	at += memory->stride;
	memory->bytes = at - base;
}

static size_t memory_bytes(const struct team_head *head)
{
	struct team_memory memory;

	memory_divide(&memory, head, 0);
	return memory.bytes;
}

/* Maps @memfd, or anonymous memory if it is -1. */
static int memory_map(struct team_memory *memory, const struct team_head *head, int memfd)
{
	int flags = memfd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	void *base;

	base = mmap(NULL, memory_bytes(head), PROT_READ | PROT_WRITE, flags, memfd, 0);
	if (base == MAP_FAILED)
		return -errno;
	memory_divide(memory, head, (uintptr_t)base);
	return 0;
}

int collsock_team_memory_new(struct team_memory *memory, const struct team_head *head)
{
	int err = memory_map(memory, head, -1);

	if (!err)
		memory->common->head = *head;
	return err;
}

static int memfd_fill(int memfd, const struct team_head *head)
{
	if (ftruncate(memfd, memory_bytes(head)))
		return -errno;
	if (pwrite(memfd, head, sizeof(*head), 0) != sizeof(*head))
		return -EIO;
	return fcntl(memfd, F_ADD_SEALS, ALL_SEALS) ? -errno : 0;
}

int collsock_team_memory_memfd(const struct team_head *head)
{
	int memfd = memfd_create("collsock-team", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;
	struct file_size before;

	if (memfd < 0)
		return -errno;
	file_size_begin(&before);
	err = file_size_end(&before, memfd_fill(memfd, head));
	if (!err)
		return memfd;
	close(memfd);
	return err;
}

/* Check that the memfd has @bytes in tmpfs, whose pages can always be had, and cannot shrink. */
static int memfd_check(int memfd, size_t bytes)
{
	int seals = fcntl(memfd, F_GET_SEALS);
	struct statfs system;
	struct stat status;

	if (seals < 0)
		return errno == EBADF ? -EBADF : -EBADMSG;
	if (fstatfs(memfd, &system) || fstat(memfd, &status))
		return -errno;
	if ((seals & NEEDED_SEALS) != NEEDED_SEALS || system.f_type != TMPFS_MAGIC)
		return -EBADMSG;
	return (size_t)status.st_size < bytes ? -EBADMSG : 0;
}

static int head_read(struct team_head *head, int memfd)
{
	ssize_t bytes = pread(memfd, head, sizeof(*head), 0);

	if (bytes < 0)
		return -errno;
	return bytes == sizeof(*head) && head_is_valid(head) ? 0 : -EBADMSG;
}

/* Pids and start times mean nothing in another namespace. */
static int head_check_namespaces(const struct team_head *head)
{
	struct team_head own;

	collsock_team_head_init(&own, head->members, head->algorithm, head->max_bytes);
	return own.pid_namespace == head->pid_namespace &&
	       own.time_namespace == head->time_namespace ? 0 : -ESRCH;
}

int collsock_team_memory_map(struct team_memory *memory, struct team_head *head, int memfd)
{
	int err = memfd_check(memfd, sizeof(*head));

	err = err ? err : head_read(head, memfd);
	err = err ? err : memfd_check(memfd, memory_bytes(head));
	err = err ? err : head_check_namespaces(head);
	return err ? err : memory_map(memory, head, memfd);
}

void collsock_team_memory_unmap(struct team_memory *memory)
{
	munmap(memory->common, memory->bytes);
}
