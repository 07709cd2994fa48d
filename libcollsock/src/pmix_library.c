// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <dlfcn.h>
#include <pthread.h>

#include "pmix_library.h"

static struct pmix_library library;
static bool library_is_there;
static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static bool library_bind(void *handle)
{
	const struct {
		void		**function;
		const char	*name;
	} functions[] = {
		{ (void **)&library.init, "PMIx_Init" },
		{ (void **)&library.finalize, "PMIx_Finalize" },
		{ (void **)&library.put, "PMIx_Put" },
		{ (void **)&library.commit, "PMIx_Commit" },
		{ (void **)&library.fence, "PMIx_Fence_nb" },
		{ (void **)&library.get, "PMIx_Get" },
		{ (void **)&library.error, "PMIx_Error_string" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		*functions[i].function = dlsym(handle, functions[i].name);
		if (!*functions[i].function)
			return false;
	}
	return true;
}

/* Never unloaded: it may have threads. */
static void library_load_once(void)
{
	void *handle = dlopen(PMIX_LIBRARY, RTLD_NOW | RTLD_LOCAL);

	library_is_there = handle && library_bind(handle);
}

const struct pmix_library *pmix_library_load(void)
{
	pthread_once(&library_once, library_load_once);
	return library_is_there ? &library : NULL;
}
