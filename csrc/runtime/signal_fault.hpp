// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace npu::runtime {

/// A signal that the processor raised in a kernel.
struct SignalFault {
  int number = 0;
  int code = 0;  // si_code
  uintptr_t address = 0;
  uintptr_t instruction = 0;  // address of the one that raised it
};

/// Who takes the signals of the calling thread.
class SignalTaker {
 public:
  /// Whether fault is one of a kernel that this thread runs. Called in the signal handler; stack is
  /// then the end of the memory on which OnSignalFault runs once the handler has returned.
  virtual bool TakeSignal(const SignalFault& fault, char** stack) noexcept = 0;
  [[noreturn]] virtual void OnSignalFault() = 0;

 protected:
  ~SignalTaker() = default;
};

/// While it lives, SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGTRAP of this thread go to taker before
/// they go to the handlers that were there. Not SIGABRT: the C library aborts, too, where it finds
/// its heap broken, with locks held that nobody would give back. Without effect in builds with a
/// sanitizer, which has handlers of its own.
class SignalScope {
 public:
  explicit SignalScope(SignalTaker* taker);
  ~SignalScope();
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;

 private:
  void* former_ = nullptr;  // who took them before, and does again
  void* stack_ = nullptr;   // on which handlers run: that of a core may have overflown
};

}  // namespace npu::runtime
