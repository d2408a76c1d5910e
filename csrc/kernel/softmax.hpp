// SPDX-License-Identifier: Apache-2.0
// z = exp(x - m) / sum of exp(x - m) over the reduced dimension, m the largest x there, and the way
// back from it. Computed in float (float64 for float64), rounded once.
#pragma once

#include "rows.hpp"

namespace softmax {

using namespace pto;

/// What is reduced lies in tiles row by row. Where UB holds all tiles of a row, their exponentials
/// stay there; of longer rows they are computed twice.
template <class T, int kBlocks, template <class, int, int> class AxisOf>
AICORE void Forward(__gm__ T* z, __gm__ T* x, const RowTiling<2>& tiling) {
  using RowsT = rows::Rows<T, kBlocks, AxisOf, 1>;
  using Axis = typename RowsT::Axis;
  constexpr int kExponentials = 4;
  RowsT rows(tiling, z, {x});
  rows.ForEachTile([&] {
    auto largest = rows.StatAt(2), sum = rows.StatAt(3);
    const bool keeps = rows.HasSlotForEachPiece(kExponentials);
    // Operands that are widened are so once, where their exponentials will be.
    const bool widens_once = RowsT::kWidens && keeps;
    const auto operand = [&] {
      if (!widens_once) return rows.x(0);
      auto wide = rows.WorkOfPiece(kExponentials);
      rows.WidenInto(0, wide);
      return wide;
    };
    const auto exponential = [&] {
      auto work = keeps ? rows.WorkOfPiece(kExponentials) : rows.Work(kExponentials);
      Axis::ExpSub(work, widens_once ? work : rows.x(0), largest);
      return work;
    };
    const auto store = [&](auto work) {
      rows.Store(work, [&](auto& tile) { Axis::Mul(tile, work, sum); });
    };
    rows.Max(largest, operand);
    rows.Sum(sum, exponential);
    TRECIP(sum, sum);
    if (keeps)
      rows.ForEachPlace([&] { store(rows.WorkOfPiece(kExponentials)); });
    else
      rows.ForEachPiece([&] { store(exponential()); });
  });
}

/// z = result * (gradient - sum of gradient * result).
template <class T, int kBlocks, template <class, int, int> class AxisOf>
AICORE void Backward(__gm__ T* z, __gm__ T* gradient, __gm__ T* result,
                     const RowTiling<3>& tiling) {
  using RowsT = rows::Rows<T, kBlocks, AxisOf, 2>;
  using Axis = typename RowsT::Axis;
  RowsT rows(tiling, z, {gradient, result});
  rows.ForEachTile([&] {
    auto sum = rows.StatAt(2);
    rows.Sum(sum, [&] {
      auto product = rows.Work(3);
      TMUL(product, rows.x(0), rows.x(1));
      return product;
    });
    rows.ForEachPiece([&] {
      auto work = rows.Work(3);
      rows.Store(work, [&](auto& tile) {
        Axis::Sub(work, rows.x(0), sum);
        TMUL(tile, work, rows.x(1));
      });
    });
  });
}

template <class T, template <class, int, int> class AxisOf>
AICORE void RunForward(GM_ADDR z, GM_ADDR x, const RowTiling<2>& tiling) {
  rows::WithBlocks<T, AxisOf>(tiling, [&](auto blocks) {
    Forward<T, blocks.value, AxisOf>((__gm__ T*)z, (__gm__ T*)x, tiling);
  });
}

template <class T, template <class, int, int> class AxisOf>
AICORE void RunBackward(GM_ADDR z, GM_ADDR gradient, GM_ADDR result, const RowTiling<3>& tiling) {
  rows::WithBlocks<T, AxisOf>(tiling, [&](auto blocks) {
    Backward<T, blocks.value, AxisOf>((__gm__ T*)z, (__gm__ T*)gradient, (__gm__ T*)result, tiling);
  });
}

}  // namespace softmax
