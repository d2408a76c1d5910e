// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

#include "pto/check.hpp"
#include "pto/layout.hpp"

namespace pto {

/// Width and digits behind the point of printed floats.
enum class PrintFormat : uint8_t { Width8_Precision4, Width8_Precision2, Width10_Precision6 };

namespace detail {

/// Appends value as a column of a printed tile.
NPU_ONE_BODY(void PrintElement(std::string& text, double value, bool is_integer,
                               PrintFormat format)) {
  const int width = format == PrintFormat::Width10_Precision6 ? 10 : 8;
  constexpr int kDigits[] = {4, 2, 6};
  const int digits = is_integer ? 0 : kDigits[static_cast<int>(format)];
  char buffer[64];
  const int length = std::snprintf(buffer, sizeof(buffer), "%*.*f ", width, digits, value);
  text.append(buffer, static_cast<size_t>(length < 63 ? length : 63));
}

template <class TileT>
[[gnu::noinline]] void Print(TileT& tile, PrintFormat format) {
  using T = typename TileT::DType;
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) {
    report(npu::Work{static_cast<uint64_t>(tile.GetValidRow()) * tile.GetValidCol(), 0, 0},
           Reads(tile));
  };
  npu::Issue("TPRINT", npu::Pipe::kS, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckTile(core, "TPRINT", "the tile", tile);
    std::string text = "TPRINT block " + std::to_string(core.block_idx) + ": " +
                       TileFacts(tile).Describe() + ", valid " +
                       TileFacts::Extent(tile.GetValidRow(), tile.GetValidCol()) + "\n";
    for (int row = 0; row < tile.GetValidRow(); ++row) {
      for (int col = 0; col < tile.GetValidCol(); ++col) {
        PrintElement(text, static_cast<double>(*ElementOf(tile, row, col)), std::is_integral_v<T>,
                     format);
      }
      text += '\n';
    }
    std::fwrite(text.data(), 1, text.size(),
                stdout);  // in one piece: blocks do not mix within lines
    std::fflush(stdout);
  });
}

}  // namespace detail

/// Prints the valid region of tile, row by row, to standard output.
///   tile     a tile of any kind
///   kFormat  width and digits of floats
/// Pipe S. Source: PTO ISA, TPRINT.
template <PrintFormat kFormat = PrintFormat::Width8_Precision4, class TileT, class... Rest>
[[gnu::always_inline]] inline void TPRINT(TileT& tile, Rest&...) {
  detail::Print(tile, kFormat);
  npu::KeepCallSite();
}

}  // namespace pto
