// SPDX-License-Identifier: Apache-2.0
// z = sum of x over the dimensions in which z has one element. Sums are kept in float (float64 for
// float64).
#include "strided.hpp"

namespace {

using namespace pto;

template <class T>
using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;

// UB addresses in bytes. Sums of 16-bit floats are twice as wide as a tile buffer.
constexpr unsigned kX[2] = {0 * kTileBytes, 1 * kTileBytes};
constexpr unsigned kWide = 2 * kTileBytes;
constexpr unsigned kSum = 4 * kTileBytes;
constexpr unsigned kRowSum = 6 * kTileBytes;
constexpr unsigned kResult = kRowSum + kTileBlocks * 32;
constexpr unsigned kScratch = kResult + 2 * kTileBytes;

/// Sums x into one tile of partial sums and folds it at the end.
template <class T, int kBlocks>
class Accumulator {
 public:
  using TileSet = strided::Tiles<T, kBlocks>;
  static constexpr int kRows = TileSet::kRows;
  static constexpr int kCols = TileSet::kCols;
  using SumTile = Tile<TileType::Vec, Sum<T>, kRows, kCols, BLayout::RowMajor, -1, -1>;
  using Column = Tile<TileType::Vec, Sum<T>, kRows, 32 / sizeof(Sum<T>), BLayout::RowMajor, -1, 1>;

  AICORE Accumulator(int rows, int cols) : rows_(rows), cols_(cols) {
    SumTile sum = At(0, rows, cols);
    TEXPANDS(sum, Sum<T>(0));
  }

  /// Adds tile to the upper left corner of the partial sums.
  AICORE void Add(typename TileSet::Full& tile) {
    SumTile sum = At(0, tile.GetValidRow(), tile.GetValidCol());
    if constexpr (std::is_same_v<T, Sum<T>>) {
      TADD(sum, sum, tile);
    } else {
      SumTile wide(tile.GetValidRow(), tile.GetValidCol());
      TASSIGN(wide, kWide);
      TCVT(wide, tile, RoundMode::CAST_NONE);
      TADD(sum, sum, wide);
    }
  }

  /// Adds the lower half of the rows to the upper half until one is left.
  AICORE void FoldRows() {
    while (rows_ > 1) {
      const int upper = (rows_ + 1) / 2;
      SumTile low = At(upper, rows_ - upper, cols_);
      SumTile high = At(0, rows_ - upper, cols_);
      TADD(high, high, low);
      rows_ = upper;
    }
  }

  /// Stores the sums of the rows, one element each, row_stride apart.
  AICORE void StoreColumn(__gm__ T* z, int64_t row_stride) {
    Column column(rows_);
    SumTile tmp = At(0, rows_, cols_), sum = At(0, rows_, cols_);
    TASSIGN(column, kRowSum);
    TASSIGN(tmp, kScratch);
    TROWSUM(column, sum, tmp);
    Store(column, kRowSum, z, row_stride);
  }

  /// Stores the partial sums as they are.
  AICORE void StoreTile(__gm__ T* z, int64_t row_stride) {
    SumTile sum = At(0, rows_, cols_);
    Store(sum, kSum, z, row_stride);
  }

 private:
  AICORE SumTile At(int row, int rows, int cols) {
    SumTile tile(rows, cols);
    TASSIGN(tile, kSum + row * kCols * sizeof(Sum<T>));
    return tile;
  }

  template <class From>
  AICORE void Store(From& sum, unsigned address, __gm__ T* z, int64_t row_stride) {
    using To = Tile<TileType::Vec, T, From::Rows, From::Cols * sizeof(Sum<T>) / sizeof(T),
                    BLayout::RowMajor, -1, -1>;
    strided::Global<T> global(z, {sum.GetValidRow(), sum.GetValidCol()}, {row_stride, 1});
    To result(sum.GetValidRow(), sum.GetValidCol());
    if constexpr (std::is_same_v<T, Sum<T>>) {
      TASSIGN(result, address);
    } else {
      TASSIGN(result, kResult);
      TCVT(result, sum, RoundMode::CAST_RINT, SaturationMode::OFF);
    }
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);  // sums are computed
    TSTORE(global, result);
    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);  // sums are stored: their buffers are free
  }

  int rows_;
  int cols_;
};

/// The shape of the dimensions that are kept, or of those that are summed, with 1 for the others.
struct Part {
  int64_t shape[kMaxDims] = {};

  AICORE Part(const SumTiling& tiling, bool kept) {
    for (int64_t d = 0; d < tiling.dims; ++d)
      shape[d] = (tiling.kept[d] != 0) == kept ? tiling.shape[d] : 1;
  }
};

/// Adds all that belongs to the outputs at z_place.
template <class T, int kBlocks>
AICORE void AddAll(Accumulator<T, kBlocks>& sum, __gm__ T* x, const SumTiling& tiling,
                   const strided::Grid& summed, const strided::Place& z_place) {
  strided::Operand<T, kBlocks> x_tile[2] = {strided::Operand<T, kBlocks>(kX[0]),
                                            strided::Operand<T, kBlocks>(kX[1])};
  const int64_t rows = tiling.dims - 2, cols = tiling.dims - 1;
  for (int b = 0; b < 2; ++b) set_flag(PIPE_V, PIPE_MTE2, event_t(b));  // buffers start free
  for (int64_t step = 0, b = 0; step < summed.count(); ++step, b ^= 1) {
    strided::Place place = summed.At(step);
    for (int64_t d = 0; d < tiling.dims; ++d) place.at[d] += z_place.at[d];
    if (tiling.kept[rows]) place.rows = z_place.rows;
    if (tiling.kept[cols]) place.cols = z_place.cols;
    wait_flag(PIPE_V, PIPE_MTE2, event_t(b));  // buffer b was added
    x_tile[b].Load(summed.PieceOf(x, tiling.x_stride, place));
    set_flag(PIPE_MTE2, PIPE_V, event_t(b));
    wait_flag(PIPE_MTE2, PIPE_V, event_t(b));  // buffer b is loaded
    sum.Add(x_tile[b].tile());
    set_flag(PIPE_V, PIPE_MTE2, event_t(b));
  }
  for (int b = 0; b < 2; ++b) wait_flag(PIPE_V, PIPE_MTE2, event_t(b));  // leave no flag set
}

/// This block's share of the outputs, with rows of x of at most kBlocks blocks.
template <class T, int kBlocks>
AICORE void SumTiles(__gm__ T* z, __gm__ T* x, const SumTiling& tiling) {
  using TileSet = strided::Tiles<T, kBlocks>;
  const Part kept(tiling, true), summed(tiling, false);
  const strided::Grid outputs(tiling.dims, kept.shape, TileSet::kRows, TileSet::kCols);
  const strided::Grid inputs(tiling.dims, summed.shape, TileSet::kRows, TileSet::kCols);
  const int64_t rows = tiling.dims - 2, cols = tiling.dims - 1;
  for (int64_t tile = outputs.First(); tile < outputs.Last(); ++tile) {
    const strided::Place place = outputs.At(tile);
    const strided::Place widest = inputs.At(0);
    // A sum over nothing is 0: at least one partial sum.
    Accumulator<T, kBlocks> sum(tiling.kept[rows] ? place.rows
                                : widest.rows > 0 ? widest.rows
                                                  : 1,
                                tiling.kept[cols] ? place.cols
                                : widest.cols > 0 ? widest.cols
                                                  : 1);
    AddAll(sum, x, tiling, inputs, place);
    if (!tiling.kept[rows]) sum.FoldRows();
    __gm__ T* to = z + outputs.Offset(tiling.z_stride, place);
    if (tiling.kept[cols]) {
      sum.StoreTile(to, tiling.z_stride[rows]);
    } else {
      sum.StoreColumn(to, tiling.z_stride[rows]);
    }
  }
}

template <class T>
AICORE void SumTo(GM_ADDR z, GM_ADDR x, const SumTiling& tiling) {
  strided::WithRowBlocks<T>(tiling.shape[tiling.dims - 1], [&](auto blocks) {
    SumTiles<T, blocks.value>((__gm__ T*)z, (__gm__ T*)x, tiling);
  });
}

}  // namespace

extern "C" __global__ AICORE void sum_to_float(GM_ADDR z, GM_ADDR x, SumTiling tiling) {
  SumTo<float>(z, x, tiling);
}

extern "C" __global__ AICORE void sum_to_half(GM_ADDR z, GM_ADDR x, SumTiling tiling) {
  SumTo<half>(z, x, tiling);
}

extern "C" __global__ AICORE void sum_to_bfloat16(GM_ADDR z, GM_ADDR x, SumTiling tiling) {
  SumTo<bfloat16_t>(z, x, tiling);
}

/// Emulator only: no vector core computes in float64.
extern "C" __global__ AICORE void sum_to_double(GM_ADDR z, GM_ADDR x, SumTiling tiling) {
  SumTo<double>(z, x, tiling);
}
