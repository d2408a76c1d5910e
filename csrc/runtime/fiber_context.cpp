// SPDX-License-Identifier: Apache-2.0
#include "runtime/fiber_context.hpp"

#include <cstdint>
#include <cstring>

#if NPU_FIBER_ASSEMBLY
extern "C" void npu_fiber_switch(void** save, void* load);
extern "C" void npu_fiber_start();
#endif

#if NPU_FIBER_ASSEMBLY && defined(__x86_64__)

// System V ABI: rbx, rbp, r12-r15, mxcsr and the x87 control word survive a call. Loading the last
// two takes longer than all the rest: only where they differ.
asm(R"(
.text
.p2align 4
.globl npu_fiber_switch
.hidden npu_fiber_switch
.type npu_fiber_switch, @function
npu_fiber_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movl (%rsp), %eax
  movzwl 4(%rsp), %ecx
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  cmpl (%rsp), %eax
  je 1f
  ldmxcsr (%rsp)
1:
  cmpw 4(%rsp), %cx
  je 2f
  fldcw 4(%rsp)
2:
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size npu_fiber_switch, . - npu_fiber_switch

.p2align 4
.globl npu_fiber_start
.hidden npu_fiber_start
.type npu_fiber_start, @function
npu_fiber_start:
  movq %rbx, %rdi
  jmpq *%r12
.size npu_fiber_start, . - npu_fiber_start
)");

namespace npu::runtime {

void PrepareContext(FiberContext& context, void* stack, size_t bytes, void (*entry)(void*),
                    void* argument) {
  constexpr int kWords = 9;  // as npu_fiber_switch pops them, then the return address of entry
  uintptr_t top = (reinterpret_cast<uintptr_t>(stack) + bytes) & ~uintptr_t{15};
  // An odd number of words: entry sees rsp % 16 == 8, as after a call, and a null return address
  // ends unwinding.
  auto* frame = reinterpret_cast<uintptr_t*>(top) - kWords;
  std::memset(frame, 0, kWords * sizeof(uintptr_t));
  uint32_t mxcsr = 0;
  uint16_t control_word = 0;
  asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(control_word));
  std::memcpy(frame, &mxcsr, sizeof(mxcsr));
  std::memcpy(reinterpret_cast<char*>(frame) + 4, &control_word, sizeof(control_word));
  frame[4] = reinterpret_cast<uintptr_t>(entry);     // r12
  frame[5] = reinterpret_cast<uintptr_t>(argument);  // rbx
  frame[7] = reinterpret_cast<uintptr_t>(&npu_fiber_start);
  context.stack_pointer = frame;
}

}  // namespace npu::runtime

#elif NPU_FIBER_ASSEMBLY && defined(__aarch64__)

// AAPCS64: x19-x30, d8-d15 and fpcr survive a call.
asm(R"(
.text
.p2align 4
.globl npu_fiber_switch
.hidden npu_fiber_switch
.type npu_fiber_switch, %function
npu_fiber_switch:
  sub sp, sp, #176
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mrs x9, fpcr
  str x9, [sp, #160]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldr x9, [sp, #160]
  msr fpcr, x9
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #176
  ret
.size npu_fiber_switch, . - npu_fiber_switch

.p2align 4
.globl npu_fiber_start
.hidden npu_fiber_start
.type npu_fiber_start, %function
npu_fiber_start:
  mov x0, x19
  mov x29, xzr
  mov x30, xzr
  br x20
.size npu_fiber_start, . - npu_fiber_start
)");

namespace npu::runtime {

void PrepareContext(FiberContext& context, void* stack, size_t bytes, void (*entry)(void*),
                    void* argument) {
  constexpr int kWords = 22;
  uintptr_t top = (reinterpret_cast<uintptr_t>(stack) + bytes) & ~uintptr_t{15};
  auto* frame = reinterpret_cast<uintptr_t*>(top) - kWords;
  std::memset(frame, 0, kWords * sizeof(uintptr_t));
  uint64_t fpcr = 0;
  asm volatile("mrs %0, fpcr" : "=r"(fpcr));
  frame[0] = reinterpret_cast<uintptr_t>(argument);           // x19
  frame[1] = reinterpret_cast<uintptr_t>(entry);              // x20
  frame[11] = reinterpret_cast<uintptr_t>(&npu_fiber_start);  // x30
  frame[20] = fpcr;
  context.stack_pointer = frame;
}

}  // namespace npu::runtime

#else

namespace npu::runtime {
namespace {

// makecontext passes ints only: a pointer travels as two halves.
void StartFromHalves(unsigned entry_high, unsigned entry_low, unsigned argument_high,
                     unsigned argument_low) {
  const auto join = [](unsigned high, unsigned low) {
    return static_cast<uintptr_t>((static_cast<uint64_t>(high) << 32) | low);
  };
  reinterpret_cast<void (*)(void*)>(join(entry_high, entry_low))(
      reinterpret_cast<void*>(join(argument_high, argument_low)));
}

}  // namespace

void PrepareContext(FiberContext& context, void* stack, size_t bytes, void (*entry)(void*),
                    void* argument) {
  getcontext(&context.context);
  context.context.uc_stack.ss_sp = stack;
  context.context.uc_stack.ss_size = bytes;
  context.context.uc_link = nullptr;
  const auto entry_bits = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(entry));
  const auto argument_bits = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(argument));
  makecontext(&context.context, reinterpret_cast<void (*)()>(&StartFromHalves), 4,
              static_cast<unsigned>(entry_bits >> 32), static_cast<unsigned>(entry_bits),
              static_cast<unsigned>(argument_bits >> 32), static_cast<unsigned>(argument_bits));
}

}  // namespace npu::runtime

#endif

namespace npu::runtime {

void SwitchContext(FiberContext& from, FiberContext& to) {
#if NPU_FIBER_ASSEMBLY
  npu_fiber_switch(&from.stack_pointer, to.stack_pointer);
#else
  swapcontext(&from.context, &to.context);
#endif
}

}  // namespace npu::runtime
