// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "pto/check.hpp"
#include "pto/layout.hpp"

namespace pto::detail {

/// Whether this is compiled for programs that call kernels from host code.
#ifdef __CPU_SIM
inline constexpr bool kForHost = true;
#else
inline constexpr bool kForHost = false;
#endif

NPU_ONE_BODY(NPU_RAISES void RaiseNoPath(const char* op, const TileFacts& dst,
                                         const TileFacts& src)) {
  npu::RaiseFault(op, npu::Text("tiles of spaces that the chip has a path between"),
                  "from the " + src.Describe() + " to the " + dst.Describe());
}

/// Between spaces that no path of the chip joins, in kernels that host code calls: element by
/// element over the valid region that both have, each converted as C does.
template <class Dst, class Src>
void MoveOnHost(const char* op, const void* call_site, Dst& dst, Src& src) {
  const auto common = [](int to, int to_extent, int from, int from_extent) {
    return static_cast<size_t>(std::max(std::min({to, to_extent, from, from_extent}), 0));
  };
  const size_t rows = common(dst.GetValidRow(), Dst::Rows, src.GetValidRow(), Src::Rows);
  const size_t cols = common(dst.GetValidCol(), Dst::Cols, src.GetValidCol(), Src::Cols);
  const auto operands = [&](auto report) {
    report(npu::Work{rows * cols, 0, 0}, Writes(dst), Reads(src));
  };
  npu::Issue(op, npu::Pipe::kMte1, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    if (!npu::IsWhole(core)) RaiseNoPath(op, TileFacts(dst), TileFacts(src));
    CheckTile(core, op, "dst", dst);
    CheckTile(core, op, "src", src);
    for (size_t row = 0; row < rows; ++row) {
      for (size_t col = 0; col < cols; ++col) {
        WriteElement(dst, row, col, static_cast<typename Dst::DType>(ReadElement(src, row, col)));
      }
    }
  });
}

}  // namespace pto::detail
