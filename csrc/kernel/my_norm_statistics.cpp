// SPDX-License-Identifier: Apache-2.0
// Mean and scale of each row, in float (float64 for float64), for what is computed of them later.
#include "norm.hpp"

namespace {

using namespace pto;
using Tiling = RowTiling<2>;

/// Stores stat, a column in UB at address, as contiguous elements at to.
template <class Stat, class Acc>
AICORE void StoreColumn(__gm__ Acc* to, Stat& stat, unsigned address) {
  // The column as a row of the same memory.
  Tile<TileType::Vec, Acc, 1, Stat::Rows, BLayout::RowMajor, -1, -1> row(1, stat.GetValidRow());
  TASSIGN(row, address);
  strided::Global<Acc> global(to, {1, stat.GetValidRow()}, {stat.GetValidRow(), 1});
  TSTORE(global, row);
}

/// stride[0] of tiling is that of mean and scale.
template <class T, int kBlocks, class Acc>
AICORE void Compute(__gm__ Acc* mean, __gm__ Acc* scale, __gm__ T* x, const Tiling& tiling,
                    const NormOptions& options) {
  using RowsT = norm::Rows<T, kBlocks, 1>;
  RowsT rows(tiling, nullptr, {x});
  set_flag(PIPE_MTE3, PIPE_V, EVENT_ID2);  // statistics start free
  rows.ForEachTile([&] {
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID2);  // statistics were stored
    norm::Statistics<RowsT> statistics{rows, 0, tiling.shape[tiling.dims - 1], options};
    statistics.Compute();
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID2);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID2);  // statistics are computed
    const int64_t at = rows.KeptOffset(tiling.stride[0]);
    if (options.centered != 0) StoreColumn(mean + at, statistics.mean, RowsT::Slot(norm::kMean));
    StoreColumn(scale + at, statistics.scale, RowsT::Slot(norm::kScale));
    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID2);
  });
  wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID2);  // leave no flag set
}

template <class T>
AICORE void Run(GM_ADDR mean, GM_ADDR scale, GM_ADDR x, const Tiling& tiling,
                const NormOptions& options) {
  using Acc = rows::Wide<T>;
  rows::WithBlocks<T, rows::AlongRows>(tiling, [&](auto blocks) {
    Compute<T, blocks.value>((__gm__ Acc*)mean, (__gm__ Acc*)scale, (__gm__ T*)x, tiling, options);
  });
}

}  // namespace

extern "C" __global__ AICORE void my_norm_statistics_float(GM_ADDR mean, GM_ADDR scale, GM_ADDR x,
                                                           Tiling tiling, NormOptions options) {
  Run<float>(mean, scale, x, tiling, options);
}

extern "C" __global__ AICORE void my_norm_statistics_half(GM_ADDR mean, GM_ADDR scale, GM_ADDR x,
                                                          Tiling tiling, NormOptions options) {
  Run<half>(mean, scale, x, tiling, options);
}

extern "C" __global__ AICORE void my_norm_statistics_bfloat16(GM_ADDR mean, GM_ADDR scale,
                                                              GM_ADDR x, Tiling tiling,
                                                              NormOptions options) {
  Run<bfloat16_t>(mean, scale, x, tiling, options);
}

/// Emulator only: no vector core computes in float64.
extern "C" __global__ AICORE void my_norm_statistics_double(GM_ADDR mean, GM_ADDR scale, GM_ADDR x,
                                                            Tiling tiling, NormOptions options) {
  Run<double>(mean, scale, x, tiling, options);
}
