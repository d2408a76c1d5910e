// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "npu/issue.hpp"
#include "pto/global_facts.hpp"

/// Whether transfers stay within the memory that their global tensor starts in.
namespace pto::detail {

NPU_ONE_BODY(NPU_RAISES void RaiseOutside(const char* op, const npu::GlobalMemory& memory,
                                          const char* begin, const char* end)) {
  const auto* start = static_cast<const char*>(memory.begin);
  const int64_t bytes = static_cast<const char*>(memory.end) - start;
  npu::RaiseFault(op, "global memory within the " + npu::TextOf(bytes) + " bytes of its allocation",
                  "bytes " + npu::TextOf(begin - start) + " to " + npu::TextOf(end - start));
}

/// Whether the bytes from begin up to end lie within memory.
inline bool Holds(const npu::GlobalMemory& memory, const void* begin, const void* end) {
  return reinterpret_cast<uintptr_t>(begin) >= reinterpret_cast<uintptr_t>(memory.begin) &&
         reinterpret_cast<uintptr_t>(end) <= reinterpret_cast<uintptr_t>(memory.end);
}

/// Keeps memory for the transfers that follow. Not on a core of host code, which has no launch that
/// memory would stay for: any thread may allocate and free between two instructions.
inline void KeepAtHand(npu::Core& core, const npu::GlobalMemory& memory) {
  if (npu::IsWhole(core)) return;
  core.memories[core.next_memory] = memory;
  core.next_memory = static_cast<uint8_t>((core.next_memory + 1) % npu::kMemoriesAtHand);
}

/// The transfer from begin to end of a tensor that starts at data, none of which is at hand yet.
NPU_ONE_BODY(void FindMemory(npu::Core& core, const char* op, const char* data, const char* begin,
                             const char* end)) {
  const npu::GlobalMemory memory = core.scheduler->FindGlobalMemory(op, data);
  KeepAtHand(core, memory);
  if (!memory.is_known) {
    ++core.unknown_transfers;
  } else if (!Holds(memory, begin, end)) {
    RaiseOutside(op, memory, begin, end);
  }
}

/// Faults where elements of global lie outside of the allocation of its data. Memory that nobody
/// knows is not checked, but counted.
NPU_ONE_BODY(void CheckGlobalMemory(npu::Core& core, const char* op, const GlobalFacts& global)) {
  if (__builtin_expect(global.odd_stride != 0, 0)) {
    npu::RaiseFault(op, "even strides of elements of 4 bits", npu::TextOf(global.odd_stride));
  }
  int64_t low = 0, high = 1;  // in elements
  for (int d = 0; d < kGlobalDims; ++d) {
    if (global.shape[d] <= 0) return;
    const int64_t span = (global.shape[d] - 1) * global.stride[d];
    (span < 0 ? low : high) += span;
  }
  const char* begin = global.data + low * static_cast<int64_t>(global.element_bytes);
  const char* end = global.data + high * static_cast<int64_t>(global.element_bytes);
  for (const npu::GlobalMemory& memory : core.memories) {
    if (!Holds(memory, begin, end)) continue;
    core.unknown_transfers += !memory.is_known;
    return;
  }
  FindMemory(core, op, global.data, begin, end);
}

/// The same of plain bytes.
inline void CheckGlobalBytes(npu::Core& core, const char* op, const void* data, int64_t bytes) {
  if (!core.check_limits) return;
  const GlobalTensor<char, Shape<>, Stride<>> span(
      const_cast<char*>(static_cast<const char*>(data)), {1, 1, 1, 1, bytes},
      {bytes, bytes, bytes, bytes, 1});
  CheckGlobalMemory(core, op, GlobalFacts(span));
}

}  // namespace pto::detail
