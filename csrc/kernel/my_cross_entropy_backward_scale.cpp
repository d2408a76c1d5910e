// SPDX-License-Identifier: Apache-2.0
// What softmax - onehot of each row is multiplied with on the way back: the gradient of the row's
// loss, 0 for rows that are ignored. In float (float64 for float64).
#include "labels.hpp"

namespace {

using namespace pto;

constexpr int kLength = 1024;

/// stride: from the gradient of a row to that of the next, 0 where all have one.
template <class T>
AICORE void Run(GM_ADDR z, GM_ADDR gradient, GM_ADDR target, const Labels& labels,
                LossReduction reduction, int64_t stride) {
  using Acc = rows::Wide<T>;
  using Stat = Tile<TileType::Vec, Acc, kLength, 1, BLayout::ColMajor, -1, 1>;
  if (get_block_idx() != 0) return;
  const labels::Reader reader(target, labels);
  const int64_t counted = reduction == LossReduction::kMean ? reader.Count() : 1;
  labels::Column<Stat> column;
  set_flag(PIPE_MTE3, PIPE_S, EVENT_ID0);  // the column starts free
  for (int64_t first = 0; first < labels.rows; first += kLength) {
    const int64_t left = labels.rows - first;
    Stat stat(static_cast<int>(left < kLength ? left : kLength));
    TASSIGN(stat, 0);
    wait_flag(PIPE_MTE3, PIPE_S, EVENT_ID0);  // the column was stored
    column.Fill(stat, [&](int row) {
      if (reader.IsIgnored(first + row)) return Acc{0};
      return labels::WideAt((__gm__ T*)gradient, (first + row) * stride);
    });
    if (counted > 1) TDIVS(stat, stat, static_cast<Acc>(counted));
    column.Release();
    labels::StoreRounded<Acc, kLength>((__gm__ Acc*)z + first, 0, stat.GetValidRow());
    set_flag(PIPE_MTE3, PIPE_S, EVENT_ID0);
  }
  wait_flag(PIPE_MTE3, PIPE_S, EVENT_ID0);  // leave no flag set
  column.Finish();
}

}  // namespace

extern "C" __global__ AICORE void my_cross_entropy_backward_scale_float(GM_ADDR z, GM_ADDR gradient,
                                                                        GM_ADDR target,
                                                                        Labels labels,
                                                                        LossReduction reduction,
                                                                        int64_t stride) {
  Run<float>(z, gradient, target, labels, reduction, stride);
}

extern "C" __global__ AICORE void my_cross_entropy_backward_scale_half(GM_ADDR z, GM_ADDR gradient,
                                                                       GM_ADDR target,
                                                                       Labels labels,
                                                                       LossReduction reduction,
                                                                       int64_t stride) {
  Run<half>(z, gradient, target, labels, reduction, stride);
}

extern "C" __global__ AICORE void my_cross_entropy_backward_scale_bfloat16(
    GM_ADDR z, GM_ADDR gradient, GM_ADDR target, Labels labels, LossReduction reduction,
    int64_t stride) {
  Run<bfloat16_t>(z, gradient, target, labels, reduction, stride);
}

/// Emulator only: no vector core computes in float64.
extern "C" __global__ AICORE void my_cross_entropy_backward_scale_double(
    GM_ADDR z, GM_ADDR gradient, GM_ADDR target, Labels labels, LossReduction reduction,
    int64_t stride) {
  Run<double>(z, gradient, target, labels, reduction, stride);
}
