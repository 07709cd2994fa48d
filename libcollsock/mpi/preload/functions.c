// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Finds the functions of the underlying MPI, and those of tools. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

#include "fatal.h"
#include "functions.h"

struct cm_functions cm_functions;
struct cm_functions cm_functions_tool;

/* Open MPI's component looks for this name, and takes no calls if it is there. */
extern const char collsock_mpi_preloaded;
__attribute__((visibility("default"))) const char collsock_mpi_preloaded = 1;

/* ISO C has no conversion from the pointer of dlsym() to a function. */
typedef void (*function)(void);

static function functions_symbol(const char *name)
{
	union {
		void		*object;
		function	function;
	} found = { .object = dlsym(RTLD_NEXT, name) };

	return found.function;
}

/* The address of the shared object that contains a function */
static const void *functions_object_of(function f)
{
	union {
		function	function;
		void		*object;
	} where = { .function = f };
	Dl_info info;

	return f && dladdr(where.object, &info) ? info.dli_fbase : NULL;
}

static function functions_find(const char *pmpi_name)
{
	function found = functions_symbol(pmpi_name);

	if (found)
		return found;
	cm_fatal_say("collsock: MPI has no %s: is this library for another MPI?\n", pmpi_name);
	abort();
}

/* Find MPI_X in an object between this library and the underlying MPI. */
static function functions_find_tool(const char *pmpi_name)
{
	function found = functions_symbol(pmpi_name + 1);

	if (functions_object_of(found) == functions_object_of(functions_symbol(pmpi_name)))
		return NULL;
	return found;
}

#define FUNCTIONS_FIND(name) \
	cm_functions.name = (__typeof__(cm_functions.name))functions_find("PMPI_" #name); \
	cm_functions_tool.name = \
		(__typeof__(cm_functions.name))functions_find_tool("PMPI_" #name);

/* Runs before main() and before other threads exist. */
__attribute__((constructor)) static void functions_find_all(void)
{
	CM_INTERPOSED(FUNCTIONS_FIND)
}
