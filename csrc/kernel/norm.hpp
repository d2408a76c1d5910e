// SPDX-License-Identifier: Apache-2.0
// What kernels of norms share: x^ = (x - mean) * scale for each row of x, scale = 1 / sqrt(mean of
// (x - mean)^2 + eps). Without centering the mean is taken as 0. All in float (float64 for
// float64).
#pragma once

#include "rows.hpp"

namespace norm {

using namespace pto;

/// Slots of rows::Rows that statistics use; kernels have those from kFree on.
enum Slot { kMean = 2, kScale, kCentered, kSquare, kFree };

/// Kernels of norms reduce the last dimension, which is contiguous.
template <class T, int kBlocks, int kOperands, int kVectors = 0>
using Rows = rows::Rows<T, kBlocks, rows::AlongRows, kOperands, kVectors>;

/// Mean and scale of the rows of this tile.
template <class RowsT>
struct Statistics {
  using Stat = typename RowsT::Stat;
  using Axis = typename RowsT::Axis;
  using Full = typename RowsT::Full;
  using Acc = typename Full::DType;

  RowsT& rows;
  int operand;     // x among the operands of rows
  int64_t length;  // elements of a row
  NormOptions options;
  int centered = kCentered;      // slot of x - mean, the first one of many where it is kept
  bool keeps = rows.is_whole();  // x - mean of each piece until the next tile
  Stat mean = rows.StatAt(kMean);
  Stat scale = rows.StatAt(kScale);

  AICORE void Compute() {
    if (options.centered != 0) Mean(mean, [&] { return rows.x(operand); });
    Mean(scale, [&] {
      Full square = rows.Work(kSquare);
      if (options.centered != 0) {
        Full difference = Centered();
        TMUL(square, difference, difference);
      } else {
        TMUL(square, rows.x(operand), rows.x(operand));
      }
      return square;
    });
    TADDS(scale, scale, static_cast<Acc>(options.eps));
    TRSQRT(scale, scale);
  }

  /// stat = mean over rows of what term() gives for each piece.
  template <class Term>
  AICORE void Mean(Stat& stat, const Term& term) {
    rows.Sum(stat, term);
    TDIVS(stat, stat, static_cast<Acc>(length));
  }

  /// z = x^ of this piece.
  AICORE void Normalize(Full& z) {
    if (options.centered == 0) {
      Axis::Mul(z, rows.x(operand), scale);
      return;
    }
    Full difference = keeps ? rows.WorkOfPiece(centered) : Centered();
    Axis::Mul(z, difference, scale);
  }

  /// x - mean of this piece, computed.
  AICORE Full Centered() {
    Full difference = keeps ? rows.WorkOfPiece(centered) : rows.Work(centered);
    Axis::Sub(difference, rows.x(operand), mean);
    return difference;
  }
};

/// z = x^ * weight + bias.
template <class T, int kBlocks>
AICORE void Forward(__gm__ T* z, __gm__ T* x, __gm__ T* weight, __gm__ T* bias,
                    const RowTiling<2>& tiling, const NormOptions& options) {
  using RowsT = Rows<T, kBlocks, 1, 2>;
  constexpr int kKept = kFree + 1;
  RowsT rows(tiling, z, {x, weight, bias});
  const bool keeps = rows.HasSlotForEachPiece(kKept);
  rows.ForEachTile([&] {
    Statistics<RowsT> statistics{rows, 0, tiling.shape[tiling.dims - 1], options, kKept, keeps};
    statistics.Compute();
    rows.ForEachPiece([&] {
      auto work = rows.Work(kFree);
      rows.Store(work, [&](auto& tile) {
        statistics.Normalize(tile);
        if (rows.has(1)) TCOLEXPANDMUL(tile, tile, rows.x(1));
        if (rows.has(2)) TCOLEXPANDADD(tile, tile, rows.x(2));
      });
    });
  });
}

template <class T>
AICORE void RunForward(GM_ADDR z, GM_ADDR x, GM_ADDR weight, GM_ADDR bias,
                       const RowTiling<2>& tiling, const NormOptions& options) {
  rows::WithBlocks<T, rows::AlongRows>(tiling, [&](auto blocks) {
    Forward<T, blocks.value>((__gm__ T*)z, (__gm__ T*)x, (__gm__ T*)weight, (__gm__ T*)bias, tiling,
                             options);
  });
}

}  // namespace norm
