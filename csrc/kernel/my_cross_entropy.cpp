// SPDX-License-Identifier: Apache-2.0
// The loss of each row: log of the sum of exp(x - m) over classes, less x - m of the row's class, m
// the largest x of the row. Computed in float (float64 for float64).
#include "labels.hpp"

namespace {

using namespace pto;
using Tiling = RowTiling<2>;

enum Slot { kLargest = 2, kSum, kExponentials, kPicked, kRounded };

/// loss = the losses of the rows of this tile, the first of which is row first.
template <class RowsT, class T, class Column>
AICORE void ComputeLosses(RowsT& rows, Column& column, typename RowsT::Stat& loss, __gm__ T* x,
                          const labels::Reader& reader, int64_t first, int64_t x_stride) {
  using Axis = typename RowsT::Axis;
  using Acc = rows::Wide<T>;
  auto largest = rows.StatAt(kLargest), picked = rows.StatAt(kPicked);
  rows.Max(largest);
  rows.Sum(loss, [&] {
    auto work = rows.Work(kExponentials);
    Axis::ExpSub(work, rows.x(0), largest);
    return work;
  });
  TLOG(loss, loss);
  const auto is_ignored = [&](int row) { return reader.IsIgnored(first + row); };
  column.Fill(picked, [&](int row) {
    if (is_ignored(row)) return Acc{0};
    return labels::WideAt(x, (first + row) * x_stride + reader.ClassOf(first + row));
  });
  TSUB(picked, picked, largest);
  TSUB(loss, loss, picked);
  column.Release();
  labels::ChangeRows(loss.GetValidRow(), is_ignored, [&](int row) { loss.SetValue(row, Acc{0}); });
}

/// Out: T, or what losses are computed in.
template <class T, class Out, int kBlocks>
AICORE void Compute(__gm__ Out* z, __gm__ T* x, const labels::Reader& reader,
                    const Tiling& tiling) {
  using RowsT = rows::Rows<T, kBlocks, rows::AlongRows, 1>;
  RowsT rows(tiling, nullptr, {x});
  labels::Column<typename RowsT::Stat> column;
  const int64_t row_dim = tiling.dims - 2;
  set_flag(PIPE_MTE3, PIPE_V, EVENT_ID2);  // losses start free
  rows.ForEachTile([&] {
    const int64_t first = rows.kept().at[row_dim];
    auto loss = rows.StatAt(kSum);
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID2);  // losses were stored
    ComputeLosses(rows, column, loss, x, reader, first, tiling.stride[1][row_dim]);
    labels::StoreRounded<Out, RowsT::Stat::Rows>(z + first, RowsT::Slot(kSum), loss.GetValidRow(),
                                                 RowsT::Slot(kRounded));
    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID2);
  });
  wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID2);  // leave no flag set
  column.Finish();
}

/// rounded: 1 if z has the type of x, else that of rows::Wide.
template <class T>
AICORE void Run(GM_ADDR z, GM_ADDR x, GM_ADDR target, const Tiling& tiling, const Labels& labels,
                int64_t rounded) {
  using Acc = rows::Wide<T>;
  const labels::Reader reader(target, labels);
  rows::WithBlocks<T, rows::AlongRows>(tiling, [&](auto blocks) {
    if (std::is_same_v<T, Acc> || rounded != 0) {
      Compute<T, T, blocks.value>((__gm__ T*)z, (__gm__ T*)x, reader, tiling);
    } else {
      Compute<T, Acc, blocks.value>((__gm__ Acc*)z, (__gm__ T*)x, reader, tiling);
    }
  });
}

}  // namespace

extern "C" __global__ AICORE void my_cross_entropy_float(GM_ADDR z, GM_ADDR x, GM_ADDR target,
                                                         Tiling tiling, Labels labels,
                                                         int64_t rounded) {
  Run<float>(z, x, target, tiling, labels, rounded);
}

extern "C" __global__ AICORE void my_cross_entropy_half(GM_ADDR z, GM_ADDR x, GM_ADDR target,
                                                        Tiling tiling, Labels labels,
                                                        int64_t rounded) {
  Run<half>(z, x, target, tiling, labels, rounded);
}

extern "C" __global__ AICORE void my_cross_entropy_bfloat16(GM_ADDR z, GM_ADDR x, GM_ADDR target,
                                                            Tiling tiling, Labels labels,
                                                            int64_t rounded) {
  Run<bfloat16_t>(z, x, target, tiling, labels, rounded);
}

/// Emulator only: no vector core computes in float64.
extern "C" __global__ AICORE void my_cross_entropy_double(GM_ADDR z, GM_ADDR x, GM_ADDR target,
                                                          Tiling tiling, Labels labels,
                                                          int64_t rounded) {
  Run<double>(z, x, target, tiling, labels, rounded);
}
