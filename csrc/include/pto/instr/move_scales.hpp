// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "pto/check.hpp"
#include "pto/layout.hpp"
#include "pto/traits.hpp"

/// Scales of block floating point operands, in boxes of 16 x 2 as the cube core reads them.
namespace pto {

namespace detail {

NPU_ONE_BODY(void CheckScales(const TileFacts& dst, const TileFacts& src, int rows, int pairs)) {
  const npu::Core& core = *npu::current_core;
  constexpr int64_t kRowsOfBox = 16;
  if (core.arch->generation == npu::Generation::kA3) {
    npu::RaiseFault("TMOV", "a chip with scaled products (A5), for boxes of 16x2", core.arch->soc);
  }
  const int64_t boxes = (rows + kRowsOfBox - 1) / kRowsOfBox * pairs;
  const int64_t have = int64_t{dst.kind->rows} * dst.kind->cols, need = boxes * kRowsOfBox * 2;
  if (have < need) {
    npu::RaiseFault("TMOV",
                    "dst of at least " + npu::TextOf(need) + " elements (" +
                        TileFacts::Extent(src.valid_rows, src.valid_cols) + " in boxes of 16x2)",
                    npu::TextOf(have));
  }
}

NPU_ONE_BODY(NPU_RAISES void RaiseOddScales(const char* dimension, int got)) {
  npu::RaiseFault("TMOV", npu::Text("src of an even number of valid ") + dimension,
                  npu::TextOf(got));
}

/// kAcross: a row of boxes takes 16 columns of src, each box two rows of it; else 16 rows and two
/// columns. Rows that fill up the last box are 0.
template <bool kAcross, class Dst, class Src>
[[gnu::noinline]] void MoveScales(Dst& dst, Src& src) {
  static_assert(
      std::is_same_v<typename Dst::DType, uint8_t> && std::is_same_v<typename Src::DType, uint8_t>,
      "TMOV: expected tiles of uint8 with a scratch tile");
  static_assert(Dst::Loc == TileType::Vec && Src::Loc == TileType::Vec && Src::isRowMajor &&
                    !Src::isBoxedLayout,
                "TMOV: expected a Vec dst, and a RowMajor Vec src without boxes");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) {
    const auto lines = LinesOf(src);
    const size_t rows = kAcross ? lines.length : lines.count;
    const size_t cols = kAcross ? lines.count : lines.length;
    report(npu::Work{lines.count * lines.length, 0, 0},
           npu::Access{npu::Space::kUb, true, dst.data(), 1, (rows + 15) / 16 * 16 * cols,
                       (rows + 15) / 16 * 16 * cols},
           Reads(src));
  };
  npu::Issue("TMOV", npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckTile(core, "TMOV", "dst", dst);
    CheckTile(core, "TMOV", "src", src);
    const auto lines = LinesOf(src);
    const size_t rows = kAcross ? lines.length : lines.count;
    const size_t cols = kAcross ? lines.count : lines.length;
    if (cols % 2 != 0) RaiseOddScales(kAcross ? "rows" : "columns", static_cast<int>(cols));
    CheckScales(TileFacts(dst), TileFacts(src), static_cast<int>(rows), static_cast<int>(cols / 2));
    uint8_t* to = dst.data();
    for (size_t first = 0; first < rows; first += 16) {
      for (size_t pair = 0; pair < cols; pair += 2) {
        for (size_t i = 0; i < 32; ++i) {
          const size_t row = first + i / 2, col = pair + i % 2;
          *to++ = row < rows ? *(kAcross ? lines(col, row) : lines(row, col)) : uint8_t{0};
        }
      }
    }
  });
}

}  // namespace detail

/// Scales into boxes, on A5: row of boxes after row of boxes, each box of 16 rows and 2 columns.
///   kAxis  1: src is rows x scales, a box takes 16 of its rows and 2 of its columns;
///          0: src is scales x columns, a box takes 16 of its columns and 2 of its rows
///   dst    Vec tile of uint8, its elements in memory order; src  RowMajor Vec tile of uint8
///   tmp    scratch tile that the chip needs; not touched here
/// Pipe V. Source: PTO ISA, TMOV.
template <class Dst, class Src, class Tmp, class... Events,
          std::enable_if_t<is_tile_data_v<Tmp> && all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TMOV(Dst& dst, Src& src, Tmp&, Events&... events) {
  (events.Wait(), ...);
  detail::MoveScales<false>(dst, src);
  npu::KeepCallSite();
  return {};
}
template <int kAxis, class Dst, class Src, class Tmp, class... Events,
          std::enable_if_t<is_tile_data_v<Tmp> && all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TMOV(Dst& dst, Src& src, Tmp&, Events&... events) {
  static_assert(kAxis == 0 || kAxis == 1, "TMOV: expected axis 0 or 1");
  (events.Wait(), ...);
  detail::MoveScales<kAxis == 0>(dst, src);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
