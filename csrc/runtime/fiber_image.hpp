// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/fiber.hpp"

namespace npu::runtime {

/// A suspended fiber as it stood at one time: what is on its stack, and where it goes on. Put back,
/// the fiber goes on from there once more, as a process does twice after fork(); what lies
/// elsewhere is as it is now.
class FiberImage {
 public:
  /// Throws std::bad_alloc.
  void Take(const Fiber& fiber);
  /// On the fiber that it was taken of, which is suspended.
  void PutBack(Fiber& fiber) const;

 private:
  FiberContext context_;
  Fiber::ExceptionState exceptions_;
  void* fake_stack_ = nullptr;
  std::byte* begin_ = nullptr;  // of the part of the stack that is in use
  size_t bytes_ = 0;
  size_t room_ = 0;
  std::unique_ptr<std::byte[]> stack_;  // room_ bytes, behind them AddressSanitizer's about them
};

}  // namespace npu::runtime
