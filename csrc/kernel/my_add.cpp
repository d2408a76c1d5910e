// SPDX-License-Identifier: Apache-2.0
// z = x + y over strided operands.
#include "strided.hpp"

namespace {

using namespace pto;

// UB addresses in bytes. Operands and result have a ping and a pong buffer; the float tiles of
// bfloat16 belong to PIPE_V alone.
constexpr unsigned kX[2] = {0 * kTileBytes, 1 * kTileBytes};
constexpr unsigned kY[2] = {2 * kTileBytes, 3 * kTileBytes};
constexpr unsigned kZ[2] = {4 * kTileBytes, 5 * kTileBytes};
constexpr unsigned kWideX = 6 * kTileBytes;
constexpr unsigned kWideY = 8 * kTileBytes;

/// z = x + y on tiles of one valid shape, rounded once.
template <class T, int kBlocks, class TileT>
AICORE void Add(TileT& z, TileT& x, TileT& y) {
  if constexpr (std::is_same_v<T, bfloat16_t>) {
    // Vector cores of A2/A3 do not add bfloat16: the sum of two is exact enough in float to be
    // rounded once.
    using Wide = Tile<TileType::Vec, float, TileT::Rows, TileT::Cols, BLayout::RowMajor, -1, -1>;
    Wide wide_x(z.GetValidRow(), z.GetValidCol());
    Wide wide_y(z.GetValidRow(), z.GetValidCol());
    TASSIGN(wide_x, kWideX);
    TASSIGN(wide_y, kWideY);
    TCVT(wide_x, x, RoundMode::CAST_NONE);
    TCVT(wide_y, y, RoundMode::CAST_NONE);
    TADD(wide_x, wide_x, wide_y);
    TCVT(z, wide_x, RoundMode::CAST_RINT, SaturationMode::OFF);
  } else {
    TADD(z, x, y);
  }
}

/// This block's share of the tiles, with rows of at most kBlocks blocks.
template <class T, int kBlocks>
AICORE void AddTiles(__gm__ T* z, __gm__ T* x, __gm__ T* y, const BinaryTiling& tiling) {
  using TileSet = strided::Tiles<T, kBlocks>;
  const strided::Grid grid(tiling.dims, tiling.shape, TileSet::kRows, TileSet::kCols);
  strided::Operand<T, kBlocks> x_tile[2] = {strided::Operand<T, kBlocks>(kX[0]),
                                            strided::Operand<T, kBlocks>(kX[1])};
  strided::Operand<T, kBlocks> y_tile[2] = {strided::Operand<T, kBlocks>(kY[0]),
                                            strided::Operand<T, kBlocks>(kY[1])};
  for (int b = 0; b < 2; ++b) {
    set_flag(PIPE_V, PIPE_MTE2, event_t(b));  // operand buffers start free
    set_flag(PIPE_MTE3, PIPE_V, event_t(b));  // so do result buffers
  }
  int b = 0;
  for (int64_t tile = grid.First(); tile < grid.Last(); ++tile, b ^= 1) {
    const strided::Place place = grid.At(tile);
    wait_flag(PIPE_V, PIPE_MTE2, event_t(b));  // operand buffers b were read
    x_tile[b].Load(grid.PieceOf(x, tiling.x_stride, place));
    y_tile[b].Load(grid.PieceOf(y, tiling.y_stride, place));
    set_flag(PIPE_MTE2, PIPE_V, event_t(b));
    wait_flag(PIPE_MTE2, PIPE_V, event_t(b));  // operands are loaded
    wait_flag(PIPE_MTE3, PIPE_V, event_t(b));  // result buffer b was stored
    typename TileSet::Full z_tile(place.rows, place.cols);
    TASSIGN(z_tile, kZ[b]);
    Add<T, kBlocks>(z_tile, x_tile[b].tile(), y_tile[b].tile());
    set_flag(PIPE_V, PIPE_MTE2, event_t(b));
    set_flag(PIPE_V, PIPE_MTE3, event_t(b));
    wait_flag(PIPE_V, PIPE_MTE3, event_t(b));  // result is computed
    strided::Global<T> z_global(z + grid.Offset(tiling.z_stride, place), {place.rows, place.cols},
                                {tiling.z_stride[tiling.dims - 2], 1});
    TSTORE(z_global, z_tile);
    set_flag(PIPE_MTE3, PIPE_V, event_t(b));
  }
  for (int i = 0; i < 2; ++i) {  // leave no flag set
    wait_flag(PIPE_V, PIPE_MTE2, event_t(i));
    wait_flag(PIPE_MTE3, PIPE_V, event_t(i));
  }
}

template <class T>
AICORE void MyAdd(GM_ADDR z, GM_ADDR x, GM_ADDR y, const BinaryTiling& tiling) {
  strided::WithRowBlocks<T>(tiling.shape[tiling.dims - 1], [&](auto blocks) {
    AddTiles<T, blocks.value>((__gm__ T*)z, (__gm__ T*)x, (__gm__ T*)y, tiling);
  });
}

}  // namespace

extern "C" __global__ AICORE void my_add_float(GM_ADDR z, GM_ADDR x, GM_ADDR y,
                                               BinaryTiling tiling) {
  MyAdd<float>(z, x, y, tiling);
}

extern "C" __global__ AICORE void my_add_half(GM_ADDR z, GM_ADDR x, GM_ADDR y,
                                              BinaryTiling tiling) {
  MyAdd<half>(z, x, y, tiling);
}

extern "C" __global__ AICORE void my_add_bfloat16(GM_ADDR z, GM_ADDR x, GM_ADDR y,
                                                  BinaryTiling tiling) {
  MyAdd<bfloat16_t>(z, x, y, tiling);
}

extern "C" __global__ AICORE void my_add_int32(GM_ADDR z, GM_ADDR x, GM_ADDR y,
                                               BinaryTiling tiling) {
  MyAdd<int32_t>(z, x, y, tiling);
}

/// Emulator only: no vector core computes in float64.
extern "C" __global__ AICORE void my_add_double(GM_ADDR z, GM_ADDR x, GM_ADDR y,
                                                BinaryTiling tiling) {
  MyAdd<double>(z, x, y, tiling);
}
