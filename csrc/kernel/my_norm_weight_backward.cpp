// SPDX-License-Identifier: Apache-2.0
// The gradient of a norm's weight: z = sum over all rows of gradient * x^. A block has some of the
// columns and goes through all rows in turn, so the order of the sum is always the same.
#include "norm.hpp"

namespace {

using namespace pto;
using Tiling = RowTiling<4>;  // z, gradient, x, and statistics, which are the same along a row

/// Mean and scale of the rows of a piece, loaded into UB.
template <class RowsT, class Stat>
class LoadedStatistics {
 public:
  using Acc = typename Stat::DType;

  AICORE LoadedStatistics(__gm__ Acc* mean, __gm__ Acc* scale) : mean_(mean), scale_(scale) {
    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID2);  // buffers start free
  }
  AICORE void Finish() { wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID2); }  // leaves no flag set

  /// Runs body(mean, scale) with those of count rows that lie at offset.
  template <class Body>
  AICORE void With(int64_t offset, int count, bool centered, const Body& body) {
    wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID2);  // the last ones were used
    Stat mean = Load(mean_ + offset, count, RowsT::Slot(norm::kMean), centered);
    Stat scale = Load(scale_ + offset, count, RowsT::Slot(norm::kScale), true);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);  // statistics are loaded
    body(mean, scale);
    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID2);
  }

 private:
  AICORE static Stat Load(__gm__ Acc* from, int count, unsigned address, bool wanted) {
    Stat stat(count);
    TASSIGN(stat, address);
    if (!wanted) return stat;
    // The column as a row of the same memory.
    Tile<TileType::Vec, Acc, 1, Stat::Rows, BLayout::RowMajor, -1, -1> row(1, count);
    TASSIGN(row, address);
    strided::Global<Acc> global(from, {1, count}, {count, 1});
    TLOAD(row, global);
    return stat;
  }

  __gm__ Acc* mean_;
  __gm__ Acc* scale_;
};

template <class T, int kBlocks, class Acc>
AICORE void Backward(__gm__ T* z, __gm__ T* gradient, __gm__ T* x, __gm__ Acc* mean,
                     __gm__ Acc* scale, const Tiling& tiling, const NormOptions& options) {
  enum Slot { kSum = norm::kFree, kNormal, kResult };
  using RowsT = rows::Rows<T, kBlocks, rows::AlongColumns, 3>;
  using Full = typename RowsT::Full;
  using PerRow = rows::AlongRows<Acc, Full::Rows, Full::Cols>;
  RowsT rows(tiling, z, {gradient, x, nullptr});
  LoadedStatistics<RowsT, typename PerRow::Stat> statistics(mean, scale);
  rows.ForEachTile([&] {
    // A sum over nothing is 0: at least one row of partial sums. The first piece is the tallest.
    Full sum = rows.TileAt(kSum, rows.pieces() > 0 ? rows.PlaceOf(0) : rows.kept());
    TEXPANDS(sum, Acc(0));
    rows.ForEachPiece([&] {
      Full normal = rows.Work(kNormal), part = rows.Work(kSum);
      const int64_t at = rows.Offset(tiling.stride[3]);
      statistics.With(at, rows.place().rows, options.centered != 0, [&](auto& mean, auto& scale) {
        if (options.centered != 0) {
          PerRow::Sub(normal, rows.x(1), mean);
          PerRow::Mul(normal, normal, scale);
        } else {
          PerRow::Mul(normal, rows.x(1), scale);
        }
      });
      TMUL(normal, normal, rows.x(0));
      TADD(part, part, normal);
    });
    Full work = rows.TileAt(kResult, rows.kept()), scratch = rows.TileAt(kNormal, rows.kept());
    rows.StoreKept(work, [&](auto& tile) { TCOLSUM(tile, sum, scratch, true); });
  });
  statistics.Finish();
}

template <class T>
AICORE void Run(GM_ADDR z, GM_ADDR gradient, GM_ADDR x, GM_ADDR mean, GM_ADDR scale,
                const Tiling& tiling, const NormOptions& options) {
  using Acc = rows::Wide<T>;
  rows::WithBlocks<T, rows::AlongColumns>(tiling, [&](auto blocks) {
    Backward<T, blocks.value>((__gm__ T*)z, (__gm__ T*)gradient, (__gm__ T*)x, (__gm__ Acc*)mean,
                              (__gm__ Acc*)scale, tiling, options);
  });
}

}  // namespace

extern "C" __global__ AICORE void my_norm_weight_backward_float(GM_ADDR z, GM_ADDR gradient,
                                                                GM_ADDR x, GM_ADDR mean,
                                                                GM_ADDR scale, Tiling tiling,
                                                                NormOptions options) {
  Run<float>(z, gradient, x, mean, scale, tiling, options);
}

extern "C" __global__ AICORE void my_norm_weight_backward_half(GM_ADDR z, GM_ADDR gradient,
                                                               GM_ADDR x, GM_ADDR mean,
                                                               GM_ADDR scale, Tiling tiling,
                                                               NormOptions options) {
  Run<half>(z, gradient, x, mean, scale, tiling, options);
}

extern "C" __global__ AICORE void my_norm_weight_backward_bfloat16(GM_ADDR z, GM_ADDR gradient,
                                                                   GM_ADDR x, GM_ADDR mean,
                                                                   GM_ADDR scale, Tiling tiling,
                                                                   NormOptions options) {
  Run<bfloat16_t>(z, gradient, x, mean, scale, tiling, options);
}

/// Emulator only: no vector core computes in float64.
extern "C" __global__ AICORE void my_norm_weight_backward_double(GM_ADDR z, GM_ADDR gradient,
                                                                 GM_ADDR x, GM_ADDR mean,
                                                                 GM_ADDR scale, Tiling tiling,
                                                                 NormOptions options) {
  Run<double>(z, gradient, x, mean, scale, tiling, options);
}
