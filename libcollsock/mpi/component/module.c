// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "module.h"
#include "entries.h"

/* X(name): each function that this component replaces */
#define REPLACED(X) \
	X(barrier) X(ibarrier) \
	CM_ENTRIES(REPLACED_##X, int, int)
#define REPLACED_HAS(Name, name, ...) HAS(name) HAS(i##name)
#define REPLACED_KEEP(Name, name, ...) KEEP(name) KEEP(i##name)
#define REPLACED_RELEASE(Name, name, ...) RELEASE(name) RELEASE(i##name)

#define HAS(name) (before->coll_##name) &&
#define KEEP(name) OBJ_RETAIN(module->before.coll_##name##_module);
#define RELEASE(name) OBJ_RELEASE(module->before.coll_##name##_module);

bool cm_module_keep(struct cm_module *module, const mca_coll_base_comm_coll_t *before)
{
	if (!(REPLACED(HAS) true))
		return false;
	module->before = *before;
	REPLACED(KEEP)
	return true;
}

static void module_construct(struct cm_module *module)
{
	module->comm = NULL;
	memset(&module->before, 0, sizeof(module->before));
}

static void module_destruct(struct cm_module *module)
{
	if (!module->comm)
		return;
	REPLACED(RELEASE)
	cm_comm_put(module->comm);
}

OBJ_CLASS_INSTANCE(cm_module_t, mca_coll_base_module_t, module_construct, module_destruct);
