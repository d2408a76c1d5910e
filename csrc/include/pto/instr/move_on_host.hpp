// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <type_traits>

#include "pto/cast_on_host.hpp"
#include "pto/check.hpp"
#include "pto/fixpipe.hpp"
#include "pto/layout.hpp"

/// Moves that no chip has, in kernels that host code calls: between any two tiles, element by
/// element.
namespace pto::detail {

NPU_ONE_BODY(NPU_RAISES void RaiseNoPath(const char* op, const TileFacts& dst,
                                         const TileFacts& src)) {
  npu::RaiseFault(op, npu::Text("tiles of spaces that the chip has a path between"),
                  "from the " + src.Describe() + " to the " + dst.Describe());
}

/// Elements as C converts them, then a relu.
template <ReluPreMode kRelu>
struct CastStage {
  template <class Out, class In>
  void operator()(size_t, Out* to, const In* from, size_t count) const {
    for (size_t i = 0; i < count; ++i) {
      to[i] = CastOnHost<Out>(from[i]);
      if constexpr (kRelu == ReluPreMode::NormalRelu) {
        if (!(static_cast<float>(to[i]) > 0.0f)) to[i] = Out{};
      }
    }
  }
};

/// Plain moves that no chip has convert any type.
template <ReluPreMode kRelu>
CastStage<kRelu> StageOnHost(const PlainStage<kRelu>&) {
  return {};
}

/// Where a move starts in a tile.
struct HostPlace {
  int row, col;
};

/// Faults unless rows x cols elements, which the other tile has too, lie within tile from at on,
/// and within its space.
template <class TileT, class Other>
void CheckHeldOnHost(const char* op, const char* operand, const TileT& tile, const Other& other,
                     HostPlace at, int rows, int cols) {
  const npu::Core& core = *npu::current_core;
  const TileFacts facts(tile);
  CheckTile(core, op, operand, facts);
  if (at.row + rows > TileT::Rows || at.col + cols > TileT::Cols)
    RaiseSubregion(op, TileFacts(other), rows, cols, facts, at.row, at.col);
  if (rows == 0 || cols == 0 || LiesElsewhere(core, facts)) return;
  CheckEnds(core, op, operand, facts, static_cast<size_t>(StoredRows<TileT>(at.row + rows)),
            static_cast<size_t>(StoredCols<TileT>(at.col + cols)));
}

/// Faults unless fp, if it is of quantization words, has one for each of cols columns.
template <class Fp>
void CheckWordsOnHost(const char* op, const Fp& fp, int cols) {
  if constexpr (sizeof(typename Fp::DType) == 8)
    CheckWords(*npu::current_core, op, TileFacts(fp), cols);
}

/// rows x cols elements of src, from one place on, to another of dst, through stage.
template <class Dst, class Src, class Stage, class... Fp>
void MoveRegionOnHost(const char* op, const void* call_site, Dst& dst, HostPlace to, Src& src,
                      HostPlace from, int rows, int cols, const Stage& stage, const Fp&... fp) {
  rows = std::max(rows, 0);
  cols = std::max(cols, 0);
  const auto operands = [&](auto report) {
    report(npu::Work{static_cast<uint64_t>(rows) * static_cast<uint64_t>(cols), 0, 0}, Writes(dst),
           Reads(src));
  };
  npu::Issue(op, npu::Pipe::kMte1, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    if (!npu::TakesHostForms(core)) RaiseNoPath(op, TileFacts(dst), TileFacts(src));
    CheckHeldOnHost(op, "dst", dst, src, to, rows, cols);
    CheckHeldOnHost(op, "src", src, dst, from, rows, cols);
    (CheckWordsOnHost(op, fp, from.col + cols), ...);
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < cols; ++col) {
        const auto in = ReadElement(src, static_cast<size_t>(from.row + row),
                                    static_cast<size_t>(from.col + col));
        typename Dst::DType out;
        stage(static_cast<size_t>(from.col + col), &out, &in, 1);
        WriteElement(dst, static_cast<size_t>(to.row + row), static_cast<size_t>(to.col + col),
                     out);
      }
    }
  });
}

/// Over the valid region that both tiles have, each element converted as C does.
template <class Dst, class Src>
void MoveOnHost(const char* op, const void* call_site, Dst& dst, Src& src) {
  const int rows = std::min({dst.GetValidRow(), src.GetValidRow(), Dst::Rows, Src::Rows});
  const int cols = std::min({dst.GetValidCol(), src.GetValidCol(), Dst::Cols, Src::Cols});
  MoveRegionOnHost(op, call_site, dst, {0, 0}, src, {0, 0}, rows, cols,
                   CastStage<ReluPreMode::NoRelu>{});
}

/// The valid region of dst = src from row and col on.
template <class Dst, class Src, class Stage, class... Fp>
void ExtractOnHost(const char* op, const void* call_site, Dst& dst, Src& src, int row, int col,
                   const Stage& stage, const Fp&... fp) {
  MoveRegionOnHost(op, call_site, dst, {0, 0}, src, {row, col}, dst.GetValidRow(),
                   dst.GetValidCol(), StageOnHost(stage), fp...);
}

/// dst from row and col on = the valid region of src.
template <class Dst, class Src, class Stage, class... Fp>
void InsertOnHost(const char* op, const void* call_site, Dst& dst, Src& src, int row, int col,
                  const Stage& stage, const Fp&... fp) {
  MoveRegionOnHost(op, call_site, dst, {row, col}, src, {0, 0}, src.GetValidRow(),
                   src.GetValidCol(), StageOnHost(stage), fp...);
}

}  // namespace pto::detail
