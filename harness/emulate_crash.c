/* Signals under an emulated thread, faults of the machine and the end of the time: the thread ends with a finding at the line of
 * the instruction.
 *
 * The handler runs on a stack of its own, aligned to its size, whose first word is the emulator: so it needs no global.  It
 * leaves as threads do, by switching to the scheduler.
 * SPDX-License-Identifier: MIT
 */
#include "harness/emulate.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

enum { HANDLER_STACK = 64 * 1024 };

static const int caught[HEDDLE_EMULATE_SIGNALS] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGALRM};

static uintptr_t instruction_of(const ucontext_t *u)
{
#if defined(__x86_64__)
	return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return (uintptr_t)u->uc_mcontext.pc;
#else
	(void)u;
	return 0;
#endif
}

static const char *cause(const heddle_emulator *e, int signal, const siginfo_t *info)
{
	uintptr_t address = (uintptr_t)info->si_addr, stacks = (uintptr_t)e->stacks;
	if (signal == SIGILL)
		return "the thread ends itself by a trap";
	if (signal == SIGFPE)
		return "the quotient does not fit its type, or a division by zero";
	if (address - stacks < (size_t)e->n_stack * e->stack_size)
		return heddle_arena_printf(e->arena, "its stack of %zu KiB is full: too deep a recursion or too large arrays of one thread",
					   e->stack_size / 1024);
	if (!address) /* what x86 reports when an aligned instruction meets another address */
		return "a null pointer, or a vector access at an address that is no multiple of its size";
	return heddle_arena_printf(e->arena, "there is no memory at address 0x%llx", (unsigned long long)address);
}

void heddle_crash_late(heddle_emulator *e, const char *file, int line, uint32_t pc)
{
	heddle_suspect(e, &(heddle_suspicion){
		.kind = "timeout", .file = file, .line = line, .pc = pc,
		.text = heddle_arena_printf(e->arena, "no end in time: after %.1f s %s is here", e->limit,
					    heddle_device_where(e, e->current, e->block))});
	heddle_device_stop(e);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	uintptr_t base = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)(HANDLER_STACK - 1);
	heddle_emulator *e = *(heddle_emulator **)base;
	if (number == SIGALRM) {
		e->late = 1;
		const uintptr_t here = instruction_of(context);
		if (!e->in_thread || here < e->image_low || here >= e->image_high) /* elsewhere memory may be half allocated */
			return;
		if (e->n_late < HEDDLE_EMULATE_SAMPLES)
			e->late_pc[e->n_late++] = (uint32_t)(here - e->base) + 1;
		if (e->n_late == HEDDLE_EMULATE_SAMPLES)
			heddle_crash_late(e, NULL, 0, e->late_pc[0]);
		return;
	}
	if (!e->in_thread) { /* a fault of ours: again, unhandled */
		signal(number, SIG_DFL);
		return;
	}
	uintptr_t pc = instruction_of(context);
	bool inside = pc >= e->image_low && pc < e->image_high;
	heddle_suspect(e, &(heddle_suspicion){
		.kind = "crash",
		.pc = inside ? (uint32_t)(pc - e->base) + 1 : e->recent_pc, /* lines are those of the byte before */
		.text = heddle_arena_printf(e->arena, "%s: signal %d: %s%s", heddle_device_where(e, e->current, e->block), number,
					    cause(e, number, info), inside ? "" : "; the last access before it was here")});
	heddle_device_stop(e);
}

static void set_alarm(double seconds)
{
	const long whole = (long)seconds;
	const struct itimerval timer = {.it_value = {.tv_sec = whole, .tv_usec = (long)((seconds - (double)whole) * 1e6)},
					.it_interval = {.tv_usec = 10000}}; /* again, until it comes in the text's own code */
	setitimer(ITIMER_REAL, &timer, NULL);
}

void heddle_crash_catch(heddle_emulator *e, double seconds)
{
	size_t size = 2 * HANDLER_STACK;
	e->handler_map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (e->handler_map == MAP_FAILED) {
		e->handler_map = NULL;
		return;
	}
	uintptr_t base = ((uintptr_t)e->handler_map + HANDLER_STACK - 1) & ~(uintptr_t)(HANDLER_STACK - 1);
	*(heddle_emulator **)base = e;
	const stack_t stack = {.ss_sp = (void *)(base + 64), .ss_size = HANDLER_STACK - 64};
	sigaltstack(&stack, &e->old_stack);
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART};
	sigemptyset(&action.sa_mask);
	for (int i = 0; i < HEDDLE_EMULATE_SIGNALS; i++)
		sigaction(caught[i], &action, &e->old_action[i]);
	e->limit = seconds;
	set_alarm(seconds);
}

void heddle_crash_release(heddle_emulator *e)
{
	if (!e->handler_map)
		return;
	set_alarm(0);
	for (int i = 0; i < HEDDLE_EMULATE_SIGNALS; i++)
		sigaction(caught[i], &e->old_action[i], NULL);
	sigaltstack(&e->old_stack, NULL);
	munmap(e->handler_map, 2 * HANDLER_STACK);
	e->handler_map = NULL;
}
