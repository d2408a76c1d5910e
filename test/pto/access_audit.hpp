// SPDX-License-Identifier: Apache-2.0
// Whether instructions touch the bytes that observers are told of, and no others. Each instruction
// is executed again with other bytes around those that it reads: what it writes must stay the same,
// and nothing else may change. On where NPU_TEST_AUDIT is set.
#pragma once

#include <string_view>

#include "npu/instruction.hpp"

namespace test::audit {

bool IsOn();

/// A function that lives as long as the call that it is passed to.
class Function {
 public:
  template <class F>
  explicit Function(const F& f)
      : object_(&f),
        call_([](const void* object) { (*const_cast<F*>(static_cast<const F*>(object)))(); }) {}
  void operator()() const { call_(object_); }

 private:
  const void* object_;
  void (*call_)(const void*);
};

/// Executes the running core's instruction, as often as it takes. What does not fit fails the test.
void Execute(const npu::Instruction& instruction, Function execute);

/// Whether an event of kernels would say that pipe executes instruction; of an instruction that no
/// event names, true.
bool IsPipeOf(std::string_view instruction, npu::Pipe pipe);

/// What makes the running core listen, so that each instruction goes the way that observers see;
/// set in the program of the audit.
inline void (*make_listen)() = nullptr;
inline void Listen() {
  if (make_listen != nullptr) make_listen();
}

}  // namespace test::audit
