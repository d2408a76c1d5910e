// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/fiber_context.hpp"

namespace npu::runtime {

/// A stack that code runs on until it switches to another one. Belongs to the thread that made it:
/// compilers keep addresses of thread-local variables across calls, so a fiber that moved would use
/// those of its old thread.
class Fiber {
 public:
  /// Stands for the stack of the calling thread.
  Fiber();
  /// A stack of its own on which entry(argument) starts at the first switch. entry must not return.
  Fiber(void (*entry)(void*), void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Suspends from, which is the running fiber, and runs to until it switches back.
  static void Switch(Fiber& from, Fiber& to);

  /// The end of the memory of a stack of its own.
  char* stack_end() const { return static_cast<char*>(mapping_) + mapping_bytes_; }
  size_t stack_bytes() const { return stack_bytes_; }
  /// Whether address lies in the pages that no stack may grow into.
  bool IsGuarded(uintptr_t address) const {
    const auto begin = reinterpret_cast<uintptr_t>(mapping_);
    return address >= begin && address - begin < mapping_bytes_ - stack_bytes_;
  }

 private:
  friend class FiberImage;

  /// What the C++ runtime keeps of exceptions in flight on a thread. Source: Itanium C++ ABI,
  /// __cxa_eh_globals.
  struct ExceptionState {
    void* caught = nullptr;
    unsigned int uncaught = 0;
  };

  static void Start(void* fiber);
  /// Tells AddressSanitizer that this fiber runs now.
  void Arrive();

  FiberContext context_;
  ExceptionState exceptions_;
  ExceptionState* thread_exceptions_ = nullptr;
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  void* mapping_ = nullptr;  // guard pages, then the stack
  size_t mapping_bytes_ = 0;
  const void* stack_ =
      nullptr;  // lowest address; for a thread's own stack known after the first switch
  size_t stack_bytes_ = 0;
  void* fake_stack_ = nullptr;   // AddressSanitizer's
  void* tsan_fiber_ = nullptr;   // ThreadSanitizer's
  Fiber* resumed_by_ = nullptr;  // who switched here last
};

}  // namespace npu::runtime
