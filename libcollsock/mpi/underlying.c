// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Finds the functions of the underlying MPI, and those of tools. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

#include "fatal.h"
#include "underlying.h"

struct cm_underlying cm_underlying;
struct cm_underlying cm_underlying_tool;

/* ISO C has no conversion from what dlsym() returns to a function. */
typedef void (*function)(void);

static function underlying_symbol(const char *name)
{
	union {
		void		*object;
		function	function;
	} found = { .object = dlsym(RTLD_NEXT, name) };

	return found.function;
}

/* The address of the shared object that contains a function */
static const void *underlying_object_of(function f)
{
	union {
		function	function;
		void		*object;
	} where = { .function = f };
	Dl_info info;

	return f && dladdr(where.object, &info) ? info.dli_fbase : NULL;
}

static function underlying_find(const char *pmpi_name)
{
	function found = underlying_symbol(pmpi_name);

	if (found)
		return found;
	cm_fatal_say("collsock: MPI has no %s: is this library for another MPI?\n", pmpi_name);
	abort();
}

/* Find MPI_X in an object between this library and the underlying MPI. */
static function underlying_find_tool(const char *pmpi_name)
{
	function found = underlying_symbol(pmpi_name + 1);

	if (underlying_object_of(found) == underlying_object_of(underlying_symbol(pmpi_name)))
		return NULL;
	return found;
}

#define UNDERLYING_FIND(name) \
	cm_underlying.name = (__typeof__(cm_underlying.name))underlying_find("PMPI_" #name); \
	cm_underlying_tool.name = \
		(__typeof__(cm_underlying.name))underlying_find_tool("PMPI_" #name);

/* Runs before main() and before other threads exist. */
__attribute__((constructor)) static void underlying_find_all(void)
{
	CM_INTERPOSED(UNDERLYING_FIND)
}
