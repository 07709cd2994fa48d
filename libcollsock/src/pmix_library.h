/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The part of the interface of libpmix (PMIx Standard 3 and later, libpmix.so.2) that an allgather
 * needs, so that neither building nor running requires it.
 */
#ifndef COLLSOCK_PMIX_LIBRARY_H
#define COLLSOCK_PMIX_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

#define PMIX_LIBRARY		"libpmix.so.2"
#define PMIX_NAMESPACE_BYTES	256
#define PMIX_KEY_BYTES		512
#define PMIX_RANK_ALL		(~0U - 1)
#define PMIX_SCOPE_ALL		3		/* of values: all processes of the job */
#define PMIX_TYPE_BOOL		1
#define PMIX_TYPE_U32		14
#define PMIX_TYPE_BYTES		27
#define PMIX_TIMED_OUT		(-24)		/* statuses */
#define PMIX_NOT_FOUND		(-46)
#define PMIX_PARTLY_DONE	(-52)
#define PMIX_DONE_AT_ONCE	(-157)		/* nothing is called when it is done */
#define PMIX_NUMBER_OF_RANKS	"pmix.job.size"
#define PMIX_TIMEOUT		"pmix.timeout"	/* seconds */
#define PMIX_WITH_VALUES	"pmix.collect"	/* a fence gives each process all values */

struct pmix_process {
	char	space[PMIX_NAMESPACE_BYTES];
	__u32	rank;
};

struct pmix_bytes {
	char	*data;
	size_t	bytes;
};

struct pmix_value {
	__u16	type;
	union {
		bool			flag;
		__u32			number;
		struct pmix_bytes	bytes;
		void			*largest[3];
	};
};

struct pmix_info {
	char			key[PMIX_KEY_BYTES];
	__u32			flags;
	struct pmix_value	value;
};

typedef void (*pmix_done)(int status, void *ctx);

/* struct pmix_library - its functions; statuses are 0, or negative */
struct pmix_library {
	int		(*init)(struct pmix_process *own, struct pmix_info *info, size_t infos);
	int		(*finalize)(const struct pmix_info *info, size_t infos);
	int		(*put)(__u8 scope, const char *key, struct pmix_value *value);
	int		(*commit)(void);
	int		(*fence)(const struct pmix_process *of, size_t processes,
				 const struct pmix_info *info, size_t infos, pmix_done done,
				 void *ctx);
	int		(*get)(const struct pmix_process *of, const char *key,
			       const struct pmix_info *info, size_t infos,
			       struct pmix_value **value);
	const char	*(*error)(int status);
};

/* The library, which is loaded once and stays; NULL if it is not installed */
const struct pmix_library *pmix_library_load(void);

#endif
