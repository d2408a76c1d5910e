// SPDX-License-Identifier: Apache-2.0
// Built into two libraries, one with hidden and one with default visibility.
#include "pto/sync.hpp"

extern "C" __global__ AICORE void NPU_TEST_ENTRY(__gm__ uint64_t* seen) {
  seen[0] = reinterpret_cast<uint64_t>(&npu::current_core);
  seen[1] = reinterpret_cast<uint64_t>(npu::current_core);
  npu::Issue(
      "TEST_TWO", npu::Pipe::kV, nullptr, [](auto report) { report(npu::Work{.elements = 7}); },
      [] {});
}
