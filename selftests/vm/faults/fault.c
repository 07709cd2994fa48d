// SPDX-License-Identifier: GPL-2.0
/*
 * A function of the kernel fails in one process: its calls return an error and do nothing else.
 * One of those that may sleep waits before that until "go" is written, so that a test can do
 * something else meanwhile; "waits" tells whether it does. Kernels without fault injection can
 * be tested so.
 *
 *	insmod fault.ko process=NAME function=NAME caller=PART-OF-A-NAME error=NUMBER call=NUMBER
 */
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>

#define PATIENCE	(60 * HZ)

static char *process = "";
module_param(process, charp, 0444);

static char *function = "";
module_param(function, charp, 0444);

static char *caller = "";
module_param(caller, charp, 0444);

/* What the function returns: 0 is NULL, too. */
static int error;
module_param(error, int, 0444);

/* Which of the calls that may sleep waits, from 1 */
static int call = 1;
module_param(call, int, 0444);

static bool waits;
module_param(waits, bool, 0444);

static DECLARE_COMPLETION(go);
static atomic_t calls;

static int fault_go(const char *value, const struct kernel_param *parameter)
{
	complete_all(&go);
	return 0;
}

static const struct kernel_param_ops fault_go_ops = { .set = fault_go };
module_param_cb(go, &fault_go_ops, NULL, 0200);

/* In place of the function */
static long fault_function(void)
{
	if (preemptible() && atomic_inc_return(&calls) == call) {
		WRITE_ONCE(waits, true);
		wait_for_completion_killable_timeout(&go, PATIENCE);
		WRITE_ONCE(waits, false);
	}
	return error;
}

/* At the beginning of a function, where the stack has the address to return to */
static bool __kprobes fault_is_called_by(struct pt_regs *regs)
{
	char name[KSYM_SYMBOL_LEN];

	sprint_symbol_no_offset(name, regs_get_kernel_stack_nth(regs, 0));
	return strstr(name, caller);
}

static int __kprobes fault_before(struct kprobe *probe, struct pt_regs *regs)
{
	if (strcmp(current->comm, process) || !fault_is_called_by(regs))
		return 0;
	instruction_pointer_set(regs, (unsigned long)fault_function);
	return 1;
}

static struct kprobe fault_probe = { .pre_handler = fault_before };

static int __init fault_init(void)
{
	fault_probe.symbol_name = function;
	return register_kprobe(&fault_probe);
}

static void __exit fault_exit(void)
{
	unregister_kprobe(&fault_probe);
	complete_all(&go);
	/* Those that were in the function have left it. */
	synchronize_rcu_tasks();
}

module_init(fault_init);
module_exit(fault_exit);
MODULE_DESCRIPTION("Lets a function of the kernel fail");
MODULE_LICENSE("GPL");
