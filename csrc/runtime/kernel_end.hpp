// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "npu/core.hpp"
#include "runtime/fiber.hpp"
#include "runtime/signal_fault.hpp"

namespace npu::runtime {

/// Times that a kernel is told to stop; one that swallows so many is left where it stands.
inline constexpr uint32_t kMaxAborts = 1000;

/// ", at add.cpp:12": the line of the kernel that made these calls; "" where nobody knows it.
std::string AtLineOf(const std::vector<const void*>& calls);

/// Where in a kernel the fault that was thrown last comes from.
class FaultPlace {
 public:
  /// A fault of core is about to be thrown.
  void Note(const Core& core);
  /// As AtLineOf; "" when the last fault was another core's.
  std::string Describe(const Core& core) const;

 private:
  const Core* core_ = nullptr;
  std::vector<const void*> calls_;
};

/// Who runs a kernel in whose noexcept function an exception has ended up, which would end the
/// process. Its core ends instead; what lies on its stack is not destroyed.
class TerminationTaker {
 public:
  [[noreturn]] virtual void AbandonTerminated() = 0;

 protected:
  ~TerminationTaker() = default;
};

/// Makes std::terminate ask the scheduler of the running core, if it is a TerminationTaker.
void InstallTerminateHandler();

/// Letters after which the report of a launch that stands still names no more cores.
inline constexpr size_t kLongMessage = 600;

/// "expected no exception out of <place>, got <the exception that is being handled>".
std::string DescribeException(const char* place);
/// Ends the handling of exceptions whose handlers are gone.
void DropExceptions();

/// What a kernel that ran on fiber did to meet fault, and where.
std::string DescribeSignal(const SignalFault& fault, const Fiber& fiber);

}  // namespace npu::runtime
