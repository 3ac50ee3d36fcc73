/* Switching between emulated threads: a few instructions on x86-64 and aarch64, ucontext elsewhere.
 * SPDX-License-Identifier: MIT
 */
#include "harness/emulate.h"
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

/* A stack that an abandoned thread used before keeps the marks that an address sanitizer left on it. */
static void forget_marks(void *stack, size_t size)
{
#if defined(__SANITIZE_ADDRESS__)
	ASAN_UNPOISON_MEMORY_REGION(stack, size);
#else
	(void)stack;
	(void)size;
#endif
}

#if defined(__x86_64__) && defined(__ELF__)

/* Only what the calling convention keeps: six registers and the stack pointer; none of the floating-point state changes. */
void heddle_fiber_swap(void **save, void *load);
void heddle_fiber_enter(void);
__asm__(".text\n"
	".hidden heddle_fiber_swap\n"
	".globl heddle_fiber_swap\n"
	".type heddle_fiber_swap, @function\n"
	"heddle_fiber_swap:\n"
	"	pushq %rbp\n	pushq %rbx\n	pushq %r12\n	pushq %r13\n	pushq %r14\n	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n	popq %r14\n	popq %r13\n	popq %r12\n	popq %rbx\n	popq %rbp\n"
	"	ret\n"
	".size heddle_fiber_swap, .-heddle_fiber_swap\n"
	".hidden heddle_fiber_enter\n"
	".globl heddle_fiber_enter\n"
	".type heddle_fiber_enter, @function\n"
	"heddle_fiber_enter:\n"
	"	movq %r13, %rdi\n"
	"	callq *%r12\n"
	"	ud2\n"
	".size heddle_fiber_enter, .-heddle_fiber_enter\n");

void heddle_fiber_make(heddle_fiber *fiber, void *stack, size_t size, void (*entry)(void *), void *data)
{
	forget_marks(stack, size);
	uintptr_t *top = (uintptr_t *)(((uintptr_t)stack + size) & ~(uintptr_t)15);
	*--top = 0;
	*--top = 0;
	*--top = (uintptr_t)heddle_fiber_enter; /* popped by ret: the stack pointer is then a multiple of 16 */
	*--top = 0;				/* rbp */
	*--top = 0;				/* rbx */
	*--top = (uintptr_t)entry;		/* r12 */
	*--top = (uintptr_t)data;		/* r13 */
	*--top = 0;				/* r14 */
	*--top = 0;				/* r15 */
	fiber->stack_pointer = top;
}

void heddle_fiber_switch(heddle_fiber *from, heddle_fiber *to)
{
	heddle_fiber_swap(&from->stack_pointer, to->stack_pointer);
}

void heddle_fiber_free(heddle_fiber *fiber)
{
	fiber->stack_pointer = NULL;
}

#elif defined(__aarch64__) && defined(__ELF__)

void heddle_fiber_swap(void **save, void *load);
void heddle_fiber_enter(void);
__asm__(".text\n"
	".hidden heddle_fiber_swap\n"
	".globl heddle_fiber_swap\n"
	".type heddle_fiber_swap, %function\n"
	"heddle_fiber_swap:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp]\n	stp x21, x22, [sp, #16]\n	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n	stp x27, x28, [sp, #64]\n	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n	stp d10, d11, [sp, #112]\n	stp d12, d13, [sp, #128]\n	stp d14, d15, [sp, #144]\n"
	"	mov x9, sp\n	str x9, [x0]\n	mov sp, x1\n"
	"	ldp x19, x20, [sp]\n	ldp x21, x22, [sp, #16]\n	ldp x23, x24, [sp, #32]\n"
	"	ldp x25, x26, [sp, #48]\n	ldp x27, x28, [sp, #64]\n	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n	ldp d10, d11, [sp, #112]\n	ldp d12, d13, [sp, #128]\n	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n"
	"	ret\n"
	".size heddle_fiber_swap, .-heddle_fiber_swap\n"
	".hidden heddle_fiber_enter\n"
	".globl heddle_fiber_enter\n"
	".type heddle_fiber_enter, %function\n"
	"heddle_fiber_enter:\n"
	"	mov x0, x20\n"
	"	blr x19\n"
	"	brk #1\n"
	".size heddle_fiber_enter, .-heddle_fiber_enter\n");

void heddle_fiber_make(heddle_fiber *fiber, void *stack, size_t size, void (*entry)(void *), void *data)
{
	forget_marks(stack, size);
	uintptr_t *top = (uintptr_t *)(((uintptr_t)stack + size) & ~(uintptr_t)15) - 20;
	for (int i = 0; i < 20; i++)
		top[i] = 0;
	top[0] = (uintptr_t)entry;		 /* x19 */
	top[1] = (uintptr_t)data;		 /* x20 */
	top[11] = (uintptr_t)heddle_fiber_enter; /* x30 */
	fiber->stack_pointer = top;
}

void heddle_fiber_switch(heddle_fiber *from, heddle_fiber *to)
{
	heddle_fiber_swap(&from->stack_pointer, to->stack_pointer);
}

void heddle_fiber_free(heddle_fiber *fiber)
{
	fiber->stack_pointer = NULL;
}

#else

#include <stdlib.h>
#include <ucontext.h>

/* makecontext takes ints only: the two pointers travel as four halves. */
static void enter(unsigned f1, unsigned f0, unsigned d1, unsigned d0)
{
	void (*entry)(void *) = (void (*)(void *))((uintptr_t)f1 << 16 << 16 | f0);
	entry((void *)((uintptr_t)d1 << 16 << 16 | d0));
}

void heddle_fiber_make(heddle_fiber *fiber, void *stack, size_t size, void (*entry)(void *), void *data)
{
	forget_marks(stack, size);
	if (!fiber->context)
		fiber->context = heddle_xalloc(sizeof(ucontext_t));
	ucontext_t *u = fiber->context;
	getcontext(u);
	u->uc_stack.ss_sp = stack;
	u->uc_stack.ss_size = size;
	u->uc_link = NULL;
	uintptr_t f = (uintptr_t)entry, d = (uintptr_t)data;
	makecontext(u, (void (*)(void))enter, 4, (unsigned)(f >> 16 >> 16), (unsigned)f, (unsigned)(d >> 16 >> 16),
		    (unsigned)d);
}

void heddle_fiber_switch(heddle_fiber *from, heddle_fiber *to)
{
	if (!from->context)
		from->context = heddle_xalloc(sizeof(ucontext_t));
	swapcontext(from->context, to->context);
}

void heddle_fiber_free(heddle_fiber *fiber)
{
	free(fiber->context);
	fiber->context = NULL;
}

#endif
