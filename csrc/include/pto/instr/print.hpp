// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#ifdef __CPU_SIM
#include <iostream>
#endif

#include "pto/check.hpp"
#include "pto/instr/move_on_host.hpp"
#include "pto/layout.hpp"

namespace pto {

/// Width and digits behind the point of printed floats.
enum class PrintFormat : uint8_t { Width8_Precision4, Width8_Precision2, Width10_Precision6 };

namespace detail {

/// Where tiles are printed, one at a time.
class PrintSink {
 public:
#ifdef __CPU_SIM
  ~PrintSink() { std::cout << std::flush; }
  void Put(const char* text) { std::cout << text; }  // which programs for simulators redirect
#else
  PrintSink() { flockfile(stdout); }
  ~PrintSink() {
    std::fflush(stdout);
    funlockfile(stdout);
  }
  void Put(const char* text) { std::fputs(text, stdout); }
#endif
};

/// Prints value as a column of a tile.
NPU_ONE_BODY(void PrintElement(PrintSink& sink, double value, bool is_integer,
                               PrintFormat format)) {
  const int width = format == PrintFormat::Width10_Precision6 ? 10 : 8;
  constexpr int kDigits[] = {4, 2, 6};
  const int digits = is_integer ? 0 : kDigits[static_cast<int>(format)];
  char column[400];  // a double has up to 309 digits before the point
  std::snprintf(column, sizeof(column), "%*.*f ", width, digits, value);
  sink.Put(column);
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
    const npu::Text valid = TileFacts::Extent(tile.GetValidRow(), tile.GetValidCol());
    const npu::Text head = "TPRINT block " + npu::TextOf(core.block_idx) + ": " +
                           TileFacts(tile).Describe() + ", valid " + valid + "\n";
    PrintSink sink;
    if (kForHost) sink.Put(("TPRINT " + valid + "\n").c_str());  // what simulators print
    sink.Put(head.c_str());
    for (int row = 0; row < std::min(tile.GetValidRow(), TileT::Rows); ++row) {
      for (int col = 0; col < std::min(tile.GetValidCol(), TileT::Cols); ++col) {
        PrintElement(sink, static_cast<double>(*ElementOf(tile, row, col)), std::is_integral_v<T>,
                     format);
      }
      sink.Put("\n");
    }
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
