// SPDX-License-Identifier: Apache-2.0
#include "runtime/fiber_image.hpp"

#include <cstdint>
#include <cstring>

#include "runtime/sanitizers.hpp"

#if NPU_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace npu::runtime {
namespace {

#if NPU_ASAN || NPU_TSAN

/// memcpy is checked by a sanitizer, which sees red zones and the writes of other frames.
__attribute__((no_sanitize("address", "thread"))) void CopyStack(std::byte* to,
                                                                 const std::byte* from,
                                                                 size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    to[i] = from[i];
    asm volatile("" ::: "memory");  // or the loop would become a memcpy
  }
}

#else

void CopyStack(std::byte* to, const std::byte* from, size_t bytes) { std::memcpy(to, from, bytes); }

#endif

#if NPU_ASAN

/// Where AddressSanitizer keeps what it knows of the bytes at address: one byte for
/// kBytesPerShadow.
constexpr size_t kBytesPerShadow = 8;
std::byte* ShadowOf(const std::byte* address) {
  size_t scale = 0, offset = 0;
  __asan_get_shadow_mapping(&scale, &offset);
  return reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(address) >> scale) + offset);
}
size_t ShadowBytes(size_t bytes) { return bytes / kBytesPerShadow; }

#else

size_t ShadowBytes(size_t) { return 0; }

#endif

}  // namespace

void FiberImage::Take(const Fiber& fiber) {
#if NPU_FIBER_ASSEMBLY
  begin_ = static_cast<std::byte*>(fiber.context_.stack_pointer);
#else
  begin_ = static_cast<std::byte*>(const_cast<void*>(fiber.stack_));  // who knows where it stands
#endif
  bytes_ = static_cast<size_t>(reinterpret_cast<std::byte*>(fiber.stack_end()) - begin_);
  if (bytes_ > room_) {
    stack_.reset(new std::byte[bytes_ + ShadowBytes(bytes_)]);
    room_ = bytes_;
  }
  context_ = fiber.context_;
  exceptions_ = fiber.exceptions_;
  fake_stack_ = fiber.fake_stack_;
  CopyStack(stack_.get(), begin_, bytes_);
#if NPU_ASAN
  CopyStack(stack_.get() + bytes_, ShadowOf(begin_), ShadowBytes(bytes_));
#endif
}

void FiberImage::PutBack(Fiber& fiber) const {
#if NPU_ASAN
  // Frames that nobody returns from leave their red zones to those that come where they were.
  __asan_unpoison_memory_region(fiber.stack_, fiber.stack_bytes_);
#endif
  CopyStack(begin_, stack_.get(), bytes_);
#if NPU_ASAN
  CopyStack(ShadowOf(begin_), stack_.get() + bytes_, ShadowBytes(bytes_));
#endif
  fiber.context_ = context_;
  fiber.exceptions_ = exceptions_;
  fiber.fake_stack_ = fake_stack_;
}

}  // namespace npu::runtime
