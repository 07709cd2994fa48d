// SPDX-License-Identifier: GPL-2.0
/*
 * Parameter "stretch" of the module: for each kind the longest stretch in ns, and the longest
 * time of the stack within one. Writing it starts again.
 */
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched/clock.h>

#include "../../kernel/stretch.h"

/**
 * struct stretch_cpu - of one processor
 * @since: when the present stretch began
 * @stack: time of the stack in it
 * @stack_since: since when the stack is at work
 * @longest: without the stack, by kind
 * @longest_stack: of the stack, by kind
 */
struct stretch_cpu {
	u64	since;
	u64	stack;
	u64	stack_since;
	u64	longest[COLL_STRETCH_KINDS];
	u64	longest_stack[COLL_STRETCH_KINDS];
};

static DEFINE_PER_CPU(struct stretch_cpu, stretch_cpus);

void coll_stretch_begin(void)
{
	struct stretch_cpu *s = this_cpu_ptr(&stretch_cpus);

	s->stack = 0;
	s->since = local_clock();
}

void coll_stretch_end(enum coll_stretch_kind kind)
{
	struct stretch_cpu *s = this_cpu_ptr(&stretch_cpus);
	u64 ns = local_clock() - s->since - s->stack;

	s->longest[kind] = max(s->longest[kind], ns);
	s->longest_stack[kind] = max(s->longest_stack[kind], s->stack);
}

void coll_stretch_stack_begin(void)
{
	this_cpu_write(stretch_cpus.stack_since, local_clock());
}

void coll_stretch_stack_end(void)
{
	struct stretch_cpu *s = this_cpu_ptr(&stretch_cpus);

	s->stack += local_clock() - s->stack_since;
}

static int stretch_get(char *buffer, const struct kernel_param *parameter)
{
	static const char *const names[] = {
		[COLL_STRETCH_PACKET]	= "packet",
		[COLL_STRETCH_TIMER]	= "timer",
		[COLL_STRETCH_TURN]	= "turn",
		[COLL_STRETCH_CALL]	= "call",
	};
	int cpu, kind, at = 0;

	for (kind = 0; kind < COLL_STRETCH_KINDS; kind++) {
		u64 longest = 0, stack = 0;

		for_each_possible_cpu(cpu) {
			const struct stretch_cpu *s = per_cpu_ptr(&stretch_cpus, cpu);

			longest = max(longest, s->longest[kind]);
			stack = max(stack, s->longest_stack[kind]);
		}
		at += scnprintf(buffer + at, PAGE_SIZE - at, "%s %llu %llu\n", names[kind],
				longest, stack);
	}
	return at;
}

static int stretch_set(const char *value, const struct kernel_param *parameter)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&stretch_cpus, cpu), 0, sizeof(struct stretch_cpu));
	return 0;
}

static const struct kernel_param_ops stretch_ops = {
	.get	= stretch_get,
	.set	= stretch_set,
};
module_param_cb(stretch, &stretch_ops, NULL, 0600);
MODULE_PARM_DESC(stretch, "Longest stretch with bottom halves off, by kind: in ns, and of the stack");
