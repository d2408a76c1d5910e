// SPDX-License-Identifier: Apache-2.0
#include "runtime/signal_fault.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <iterator>
#include <mutex>

#include "runtime/sanitizers.hpp"

namespace npu::runtime {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
constexpr size_t kStackBytes = 64 * 1024;  // the registers of the widest processors take 11 KiB

struct sigaction former_actions[std::size(kSignals)];
// Not a thread-local variable, which may be allocated at its first use: a handler must not.
pthread_key_t taker_key;

[[noreturn]] void RunTaker() {
  static_cast<SignalTaker*>(pthread_getspecific(taker_key))->OnSignalFault();
  __builtin_unreachable();
}

/// Makes the thread go on in RunTaker, on a stack that ends at top, once the handler has returned.
void GoOnInTaker(ucontext_t& context, char* top) {
  auto end = reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15};
#if defined(__x86_64__)
  constexpr greg_t kDirectionFlag = 0x400;
  end -= sizeof(void*);  // a return address, as after a call; null ends unwinding
  *reinterpret_cast<void**>(end) = nullptr;
  context.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(end);
  context.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(&RunTaker);
  context.uc_mcontext.gregs[REG_EFL] &= ~kDirectionFlag;
#elif defined(__aarch64__)
  context.uc_mcontext.sp = end;
  context.uc_mcontext.pc = reinterpret_cast<uintptr_t>(&RunTaker);
  context.uc_mcontext.regs[30] = 0;
#endif
}

/// What would have happened without this file.
void PassOn(int number, siginfo_t* info, void* context) {
  size_t index = 0;
  while (kSignals[index] != number) ++index;
  const struct sigaction& former = former_actions[index];
  if ((former.sa_flags & SA_SIGINFO) != 0) return former.sa_sigaction(number, info, context);
  // By raise or kill, or by an instruction that is done: it does not come again by itself.
  const bool is_raised = info->si_code <= 0 || number == SIGTRAP;
  if (former.sa_handler == SIG_IGN && is_raised) return;
  if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) {
    return former.sa_handler(number);
  }
  struct sigaction fatal = {};
  fatal.sa_handler = SIG_DFL;
  sigaction(number, &fatal, nullptr);
  if (is_raised) raise(number);
}

uintptr_t InstructionOf(const ucontext_t& context, int number) {
#if defined(__x86_64__)
  // Behind the instruction of a breakpoint, at that of any other fault.
  return static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]) - (number == SIGTRAP ? 1 : 0);
#elif defined(__aarch64__)
  return context.uc_mcontext.pc;
#else
  return 0;  // not known
#endif
}

void OnSignal(int number, siginfo_t* info, void* context) {
  auto* taker = static_cast<SignalTaker*>(pthread_getspecific(taker_key));
  const SignalFault fault = {number, info->si_code, reinterpret_cast<uintptr_t>(info->si_addr),
                             InstructionOf(*static_cast<ucontext_t*>(context), number)};
  char* top = nullptr;
  if (info->si_code > 0 && taker != nullptr && taker->TakeSignal(fault, &top)) {
    return GoOnInTaker(*static_cast<ucontext_t*>(context), top);
  }
  PassOn(number, info, context);
}

void Install() {
  if (pthread_key_create(&taker_key, nullptr) != 0) return;
  struct sigaction action = {};
  action.sa_sigaction = &OnSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], &action, &former_actions[i]);
  }
}

constexpr bool kTakesSignals = !NPU_ASAN && !NPU_TSAN;

}  // namespace

SignalScope::SignalScope(SignalTaker* taker) {
  if (!kTakesSignals) return;
  static std::once_flag once;
  std::call_once(once, &Install);
  stack_t stack = {};
  if (sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_DISABLE) != 0) {
    void* memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory != MAP_FAILED) {
      stack_ = memory;
      stack = {memory, 0, kStackBytes};
      sigaltstack(&stack, nullptr);
    }
  }
  former_ = pthread_getspecific(taker_key);
  pthread_setspecific(taker_key, taker);
}

SignalScope::~SignalScope() {
  if (!kTakesSignals) return;
  pthread_setspecific(taker_key, former_);
  if (stack_ == nullptr) return;
  stack_t stack = {};
  if (sigaltstack(nullptr, &stack) == 0 && stack.ss_sp == stack_) {
    stack = {nullptr, SS_DISABLE, 0};
    sigaltstack(&stack, nullptr);
    munmap(stack_, kStackBytes);
  }
}

}  // namespace npu::runtime
