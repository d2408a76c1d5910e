// SPDX-License-Identifier: Apache-2.0
#include "runtime/fiber.hpp"

#include <cxxabi.h>
#include <sys/mman.h>

#include <new>

#include "runtime/sanitizers.hpp"

#if NPU_ASAN
#include <sanitizer/asan_interface.h>
#endif
#if NPU_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace npu::runtime {
namespace {

// Whole pages of any processor. Compilers for aarch64 probe only frames that are about as large.
constexpr size_t kGuardBytes = 64 * 1024;
constexpr size_t kStackBytes = (NPU_ASAN || NPU_TSAN ? 1024 : 256) * 1024;  // red zones take room

/// Frames that never return leave their red zones to whoever maps the addresses next.
void ClearRedZones([[maybe_unused]] const void* stack) {
#if NPU_ASAN
  __asan_unpoison_memory_region(stack, kStackBytes);
#endif
}

}  // namespace

Fiber::Fiber() {
  thread_exceptions_ = reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
#if NPU_TSAN
  tsan_fiber_ = __tsan_get_current_fiber();
#endif
}

Fiber::Fiber(void (*entry)(void*), void* argument) : entry_(entry), argument_(argument) {
  thread_exceptions_ = reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
  mapping_bytes_ = kStackBytes + kGuardBytes;
  mapping_ = mmap(nullptr, mapping_bytes_, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping_ == MAP_FAILED) throw std::bad_alloc();
  if (mprotect(mapping_, kGuardBytes, PROT_NONE) != 0) {
    munmap(mapping_, mapping_bytes_);
    throw std::bad_alloc();
  }
  char* stack = static_cast<char*>(mapping_) + kGuardBytes;
  stack_ = stack;
  stack_bytes_ = kStackBytes;
  PrepareContext(context_, stack, kStackBytes, &Fiber::Start, this);
#if NPU_TSAN
  tsan_fiber_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
  if (mapping_ == nullptr) return;
#if NPU_TSAN
  __tsan_destroy_fiber(tsan_fiber_);
#endif
  ClearRedZones(stack_);
  munmap(mapping_, mapping_bytes_);
}

void Fiber::Arrive() {
#if NPU_ASAN
  const void* bottom = nullptr;
  size_t bytes = 0;
  __sanitizer_finish_switch_fiber(fake_stack_, &bottom, &bytes);
  if (resumed_by_->mapping_ == nullptr) {
    resumed_by_->stack_ = bottom;
    resumed_by_->stack_bytes_ = bytes;
  }
#endif
}

void Fiber::Start(void* fiber) {
  auto* self = static_cast<Fiber*>(fiber);
  self->Arrive();
  self->entry_(self->argument_);
}

void Fiber::Switch(Fiber& from, Fiber& to) {
  from.exceptions_ = *from.thread_exceptions_;
  *from.thread_exceptions_ = to.exceptions_;
  to.resumed_by_ = &from;
#if NPU_ASAN
  __sanitizer_start_switch_fiber(&from.fake_stack_, to.stack_, to.stack_bytes_);
#endif
#if NPU_TSAN
  __tsan_switch_to_fiber(to.tsan_fiber_, 0);
#endif
  SwitchContext(from.context_, to.context_);
  from.Arrive();
}

}  // namespace npu::runtime
