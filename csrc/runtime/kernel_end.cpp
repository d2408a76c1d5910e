// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernel_end.hpp"

#include <cxxabi.h>
#include <signal.h>

#include <exception>
#include <mutex>
#include <sstream>

#include "runtime/call_stack.hpp"
#include "runtime/sanitizers.hpp"
#include "runtime/source_lines.hpp"

namespace npu::runtime {
namespace {

std::terminate_handler outer_terminate_handler = nullptr;

void OnTerminate() {
  if (current_core != nullptr) {
    auto* taker = dynamic_cast<TerminationTaker*>(current_core->scheduler);
    if (taker != nullptr) taker->AbandonTerminated();
  }
  if (outer_terminate_handler != nullptr) outer_terminate_handler();
  std::abort();
}

}  // namespace

std::string AtLineOf(const std::vector<const void*>& calls) {
  // Programs of a sanitizer have 100 MB, whose line tables take a second to read.
  const std::string line = NPU_ASAN || NPU_TSAN ? "" : FirstOwnLine(calls);
  return line.empty() ? "" : ", at " + line;
}

void FaultPlace::Note(const Core& core) {
  core_ = &core;
  calls_ = CallsOfThisThread();
}

std::string FaultPlace::Describe(const Core& core) const {
  return core_ == &core ? AtLineOf(calls_) : "";
}

void InstallTerminateHandler() {
  static std::once_flag once;
  std::call_once(once, [] { outer_terminate_handler = std::set_terminate(&OnTerminate); });
}

std::string DescribeException(const char* place) {
  std::string got = "std::terminate";
  if (const std::exception_ptr exception = std::current_exception()) {
    try {
      std::rethrow_exception(exception);
    } catch (const std::exception& error) {
      got = error.what();
    } catch (...) {
      got = "one of unknown type";
    }
  }
  return std::string("expected no exception out of ") + place + ", got " + got;
}

void DropExceptions() {
  while (std::current_exception() != nullptr) abi::__cxa_end_catch();
}

namespace {

std::string DescribeMeaning(const SignalFault& fault, const Fiber& fiber) {
  if (fault.number == SIGFPE) {
    return "integer division: expected a divisor other than 0 and a quotient that its type holds, "
           "got SIGFPE";
  }
  if (fault.number == SIGILL || fault.number == SIGTRAP) {  // of a trap: by processor
    return std::string("expected no trap and no instruction that the processor refuses, got ") +
           (fault.number == SIGILL ? "SIGILL" : "SIGTRAP");
  }
  if (fiber.IsGuarded(fault.address)) {
    return "expected a kernel that needs at most the " +
           std::to_string(fiber.stack_bytes() / kKiB) +
           " KiB of a core's stack, got one that needs more";
  }
  std::ostringstream text;
  text << "memory access outside of instructions: expected an address of the process, got ";
  if (fault.address == 0 && fault.code != SI_KERNEL) {
    text << "a null pointer";
  } else if (fault.code == SI_KERNEL) {
    text << "one that none can have";
  } else {
    text << "0x" << std::hex << fault.address;
  }
  text << (fault.number == SIGBUS ? " (SIGBUS)" : " (SIGSEGV)");
  return text.str();
}

}  // namespace

std::string DescribeSignal(const SignalFault& fault, const Fiber& fiber) {
  // A return address stands behind its call.
  const auto* behind = reinterpret_cast<const void*>(fault.instruction + 1);
  return DescribeMeaning(fault, fiber) + AtLineOf({behind});
}

}  // namespace npu::runtime
