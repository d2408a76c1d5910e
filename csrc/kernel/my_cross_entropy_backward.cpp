// SPDX-License-Identifier: Apache-2.0
// The way back from the losses of rows: (softmax(x) - onehot) * scale, with a scale for each row.
// Computed in float (float64 for float64), rounded once.
#include "labels.hpp"

namespace {

using namespace pto;
using Tiling = RowTiling<2>;

enum Slot { kLargest = 2, kSum, kScale, kExponentials };

/// Where UB holds all exponentials of a row, they stay there; of longer rows they are computed
/// twice.
template <class T, int kBlocks>
AICORE void Compute(__gm__ T* z, __gm__ T* x, __gm__ rows::Wide<T>* scales,
                    const labels::Reader& reader, const Tiling& tiling) {
  using RowsT = rows::Rows<T, kBlocks, rows::AlongRows, 1>;
  using Axis = typename RowsT::Axis;
  RowsT rows(tiling, z, {x});
  labels::Column<typename RowsT::Stat> column;
  rows.ForEachTile([&] {
    const int64_t first = rows.kept().at[tiling.dims - 2];
    auto largest = rows.StatAt(kLargest), sum = rows.StatAt(kSum), scale = rows.StatAt(kScale);
    const bool keeps = rows.HasSlotForEachPiece(kExponentials);
    const auto exponential = [&] {
      auto work = keeps ? rows.WorkOfPiece(kExponentials) : rows.Work(kExponentials);
      Axis::ExpSub(work, rows.x(0), largest);
      return work;
    };
    const auto store = [&](auto work) {
      const int64_t at = rows.place().at[tiling.dims - 1];
      const auto offset = [&](int row) { return reader.ClassOf(first + row) - at; };
      const auto is_here = [&](int row) {
        return !reader.IsIgnored(first + row) && offset(row) >= 0 &&
               offset(row) < work.GetValidCol();
      };
      rows.Store(work, [&](auto& tile) {
        Axis::Mul(tile, work, sum);
        labels::ChangeRows(tile.GetValidRow(), is_here, [&](int row) {
          const auto element = static_cast<uint32_t>(row * RowsT::Full::Cols + offset(row));
          tile.SetValue(element, tile.GetValue(element) - scales[first + row]);
        });
      });
    };
    rows.Max(largest);
    rows.Sum(sum, exponential);
    column.Fill(scale, [&](int row) { return scales[first + row]; });
    TDIV(sum, scale, sum);
    column.Release();
    if (keeps)
      rows.ForEachPlace([&] { store(rows.WorkOfPiece(kExponentials)); });
    else
      rows.ForEachPiece([&] { store(exponential()); });
  });
  column.Finish();
}

template <class T>
AICORE void Run(GM_ADDR z, GM_ADDR x, GM_ADDR scales, GM_ADDR target, const Tiling& tiling,
                const Labels& labels) {
  const labels::Reader reader(target, labels);
  rows::WithBlocks<T, rows::AlongRows>(tiling, [&](auto blocks) {
    Compute<T, blocks.value>((__gm__ T*)z, (__gm__ T*)x, (__gm__ rows::Wide<T>*)scales, reader,
                             tiling);
  });
}

}  // namespace

extern "C" __global__ AICORE void my_cross_entropy_backward_float(GM_ADDR z, GM_ADDR x,
                                                                  GM_ADDR scales, GM_ADDR target,
                                                                  Tiling tiling, Labels labels) {
  Run<float>(z, x, scales, target, tiling, labels);
}

extern "C" __global__ AICORE void my_cross_entropy_backward_half(GM_ADDR z, GM_ADDR x,
                                                                 GM_ADDR scales, GM_ADDR target,
                                                                 Tiling tiling, Labels labels) {
  Run<half>(z, x, scales, target, tiling, labels);
}

extern "C" __global__ AICORE void my_cross_entropy_backward_bfloat16(GM_ADDR z, GM_ADDR x,
                                                                     GM_ADDR scales, GM_ADDR target,
                                                                     Tiling tiling, Labels labels) {
  Run<bfloat16_t>(z, x, scales, target, tiling, labels);
}

/// Emulator only: no vector core computes in float64.
extern "C" __global__ AICORE void my_cross_entropy_backward_double(GM_ADDR z, GM_ADDR x,
                                                                   GM_ADDR scales, GM_ADDR target,
                                                                   Tiling tiling, Labels labels) {
  Run<double>(z, x, scales, target, tiling, labels);
}
