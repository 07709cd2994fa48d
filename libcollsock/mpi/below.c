// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Where the functions of the MPI below are, and those of tools. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "below.h"

struct cm_below below, tool;

/* ISO C has no conversion from what dlsym() returns to a function. */
typedef void (*function)(void);

static function symbol(const char *name)
{
	union {
		void		*object;
		function	function;
	} found = { .object = dlsym(RTLD_NEXT, name) };

	return found.function;
}

/* Where the object begins in which a function is. */
static const void *object_of(function f)
{
	union {
		function	function;
		void		*object;
	} where = { .function = f };
	Dl_info info;

	return f && dladdr(where.object, &info) ? info.dli_fbase : NULL;
}

static function find_below(const char *pmpi_name)
{
	function found = symbol(pmpi_name);

	if (found)
		return found;
	fprintf(stderr, "collsock: MPI has no %s: is this library for another MPI?\n", pmpi_name);
	abort();
}

/* MPI_X of something between this library and the MPI */
static function find_tool(const char *pmpi_name)
{
	function found = symbol(pmpi_name + 1);

	return object_of(found) == object_of(symbol(pmpi_name)) ? NULL : found;
}

#define FIND(name) \
	below.name = (__typeof__(below.name))find_below("PMPI_" #name); \
	tool.name = (__typeof__(tool.name))find_tool("PMPI_" #name);

/* Before main(), and before any other thread. */
__attribute__((constructor)) static void find_all(void)
{
	CM_INTERPOSED(FIND)
}
