/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Substitutes for base.h's kernel headers outside the kernel: the same names, nothing more. */
#ifndef COLL_CORE_USER_BASE_H
#define COLL_CORE_USER_BASE_H

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef long long s64;

#define __aligned(x)		__attribute__((aligned(x)))
#define __packed		__attribute__((packed))
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define BIT(n)			(1UL << (n))
#define BIT_ULL(n)		(1ULL << (n))
#define S16_MAX			INT16_MAX
#define S16_MIN			INT16_MIN
#define U16_MAX			UINT16_MAX
#define U32_MAX			UINT32_MAX
#define upper_32_bits(n)	((u32)((u64)(n) >> 32))
#define lower_32_bits(n)	((u32)(n))
#ifndef ARRAY_SIZE			/* the kselftest harness has it too */
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#endif
#define static_assert		_Static_assert
#define memzero_explicit	explicit_bzero
#define noinline		__attribute__((noinline))
#ifndef __always_inline			/* some C libraries have it */
#define __always_inline		inline __attribute__((always_inline))
#endif
#define __weak			__attribute__((weak))
#define WARN_ON_ONCE(condition) ({ \
	bool _warn = (condition); \
	if (unlikely(_warn)) \
		coll_env_warn(__FILE__, __LINE__, #condition); \
	_warn; })
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#define min(a, b) ({ typeof(a) _a = (a); typeof(b) _b = (b); _a < _b ? _a : _b; })
#define max(a, b) ({ typeof(a) _a = (a); typeof(b) _b = (b); _a > _b ? _a : _b; })
#define min_t(t, a, b)		min((t)(a), (t)(b))
#define max_t(t, a, b)		max((t)(a), (t)(b))
#define clamp(v, lo, hi)	min(max(v, lo), hi)
#define clamp_t(t, v, lo, hi)	clamp((t)(v), (t)(lo), (t)(hi))
#define round_up(x, y)		(((x) + (typeof(x))(y) - 1) & ~((typeof(x))(y) - 1))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))

#define NSEC_PER_USEC		1000L
#define NSEC_PER_MSEC		1000000L
#define NSEC_PER_SEC		1000000000L

static inline u64 div_u64(u64 a, u32 b)
{
	return a / b;
}

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

static inline int fls(unsigned int x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}

static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

static inline unsigned int hweight64(u64 x)
{
	return __builtin_popcountll(x);
}

static inline int ilog2(u64 n)
{
	return fls64(n) - 1;
}

#define cpu_to_be16(x)		((__be16)htobe16(x))
#define cpu_to_be32(x)		((__be32)htobe32(x))
#define cpu_to_be64(x)		((__be64)htobe64(x))
#define le64_to_cpu(x)		le64toh((u64)(x))
#define be16_to_cpu(x)		be16toh((u16)(x))
#define be32_to_cpu(x)		be32toh((u32)(x))
#define be64_to_cpu(x)		be64toh((u64)(x))

/* Warns of an internal error: see user_env.c. */
void coll_env_warn(const char *file, int line, const char *condition);

/* Doubly linked lists, as in <linux/list.h> */
struct list_head {
	struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *l)
{
	l->next = l;
	l->prev = l;
}

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	entry->next = head;
	entry->prev = head->prev;
	head->prev->next = entry;
	head->prev = entry;
}

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	list_add_tail(entry, head->next);
}

static inline void list_del(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
	entry->next = NULL;
	entry->prev = NULL;
}

static inline void list_del_init(struct list_head *entry)
{
	list_del(entry);
	INIT_LIST_HEAD(entry);
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

#define list_entry(ptr, type, member)	container_of(ptr, type, member)
#define list_first_entry(head, type, member) \
	list_entry((head)->next, type, member)
#define list_last_entry(head, type, member) \
	list_entry((head)->prev, type, member)
#define list_next_entry(pos, member) \
	list_entry((pos)->member.next, typeof(*(pos)), member)
#define list_prev_entry(pos, member) \
	list_entry((pos)->member.prev, typeof(*(pos)), member)
#define list_for_each_entry(pos, head, member) \
	for (pos = list_first_entry(head, typeof(*pos), member); \
	     &pos->member != (head); pos = list_next_entry(pos, member))
#define list_for_each_entry_safe(pos, n, head, member) \
	for (pos = list_first_entry(head, typeof(*pos), member), \
	     n = list_next_entry(pos, member); &pos->member != (head); \
	     pos = n, n = list_next_entry(n, member))

/* SipHash-2-4, as in <linux/siphash.h>; user_siphash.c */
typedef struct {
	u64 key[2];
} siphash_key_t;

u64 siphash(const void *data, size_t len, const siphash_key_t *key);

static inline u64 rol64(u64 word, unsigned int shift)
{
	return word << shift | word >> (64 - shift);
}

#define SIPHASH_PERMUTATION(a, b, c, d) ( \
	(a) += (b), (b) = rol64(b, 13), (b) ^= (a), (a) = rol64(a, 32), \
	(c) += (d), (d) = rol64(d, 16), (d) ^= (c), \
	(a) += (d), (d) = rol64(d, 21), (d) ^= (a), \
	(c) += (b), (b) = rol64(b, 17), (b) ^= (c), (c) = rol64(c, 32))

#define SIPHASH_CONST_0	0x736f6d6570736575ULL
#define SIPHASH_CONST_1	0x646f72616e646f6dULL
#define SIPHASH_CONST_2	0x6c7967656e657261ULL
#define SIPHASH_CONST_3	0x7465646279746573ULL

#endif
