// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "pto/check.hpp"
#include "pto/layout.hpp"

namespace pto {

namespace detail {

/// Sum of length elements in the order of A2/A3: each of 64 lanes adds its elements in turn (256
/// bytes of float are one repeat), then neighbours are added pairwise until one is left.
template <class T>
T SumLine(const T* line, size_t length) {
  constexpr size_t kLanes = 64;
  T lanes[kLanes] = {};
  const size_t first = length < kLanes ? length : kLanes;
  for (size_t i = 0; i < first; ++i) lanes[i] = line[i];
  for (size_t i = kLanes; i < length; i += kLanes) {
    const size_t count = length - i < kLanes ? length - i : kLanes;
    for (size_t lane = 0; lane < count; ++lane) lanes[lane] += line[i + lane];
  }
  for (size_t count = kLanes; count > 1; count /= 2) {
    for (size_t i = 0; i < count / 2; ++i) lanes[i] = lanes[2 * i] + lanes[2 * i + 1];
  }
  return lanes[0];
}

template <class Dst, class Src>
[[gnu::noinline]] void RowSum(Dst& dst, Src& src) {
  using T = typename Dst::DType;
  static_assert(std::is_same_v<T, typename Src::DType>,
                "TROWSUM: expected tiles of one element type");
  static_assert(Src::isRowMajor && !Src::isBoxedLayout, "TROWSUM: expected a RowMajor src");
  const void* call_site = __builtin_return_address(0);
  const auto lines = LinesOf(src);
  const auto operands = [&](auto report) {
    report(npu::Work{lines.count * lines.length, 0, 0}, Writes(dst), Reads(src));
  };
  npu::Issue("TROWSUM", npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckType<T>(core, "TROWSUM", {kFloat, kFloat});
    CheckTile(core, "TROWSUM", "dst", dst);
    CheckTile(core, "TROWSUM", "src", src);
    if (core.check_limits && dst.GetValidRow() != src.GetValidRow()) {
      npu::RaiseFault("TROWSUM",
                      "dst of " + std::to_string(src.GetValidRow()) + " valid rows (those of src)",
                      std::to_string(dst.GetValidRow()));
    }
    for (size_t row = 0; row < lines.count; ++row) {
      *ElementOf(dst, row, 0) = SumLine(lines(row), lines.length);
    }
  });
}

}  // namespace detail

/// dst[i, 0] = sum over j of src[i, j].
///   dst  Vec tile of float; column 0 takes the sums
///   src  Vec RowMajor tile of float with the valid rows of dst
///   tmp  scratch tile that the chip needs; not touched here
/// Each of 64 lanes adds its elements in turn, then neighbours are added pairwise.
/// Pipe V. Source: PTO ISA, TROWSUM.
template <class Dst, class Src, class Tmp, class... Events>
[[gnu::always_inline]] inline RecordEvent TROWSUM(Dst& dst, Src& src, Tmp&, Events&... events) {
  (events.Wait(), ...);
  detail::RowSum(dst, src);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
