// SPDX-License-Identifier: Apache-2.0
// The door of instructions, for tests: what passes is audited where the run asks for it. This
// folder stands before the headers in the search path.
#pragma once

#define Issue IssueUnaudited
#include_next <npu/issue.hpp>
#undef Issue

#include "access_audit.hpp"

namespace npu {

template <class Operands, class Execute>
inline void Issue(const char* name, Pipe pipe, const void* call_site, Operands&& operands,
                  Execute&& execute, bool has_result = false) {
  if (!test::audit::IsOn()) {
    return IssueUnaudited(name, pipe, call_site, operands, execute, has_result);
  }
  AccessList list;
  Work done;
  RunningCore(name);
  operands([&](const Work& work, const auto&... accesses) {
    done = work;
    (list.AddOperand(accesses), ...);
  });
  IssueUnaudited(
      name, pipe, call_site, operands,
      [&] {
        test::audit::Execute({name, pipe, call_site, done, list.begin(), list.size()},
                             test::audit::Function(execute));
      },
      has_result);
}

}  // namespace npu
