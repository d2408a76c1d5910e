// SPDX-License-Identifier: Apache-2.0
// Transposes of many matrices: of few rows, into rows of 32 bytes that zeros fill up, and of any.
#include "tiling/transpose.h"

#include <cstdint>

#include "pto/pto-inst.hpp"

namespace {

using namespace pto;

constexpr unsigned kBufferBytes = 32768;  // of a tile in UB; two for each side

template <class T>
using Global = GlobalTensor<T, Shape<1, 1, 1, -1, -1>, Stride<1, 1, 1, -1, 1>>;

/// Flags between the pipes of a loop of loads, transposes and stores with two buffers.
class Buffers {
 public:
  AICORE Buffers() {
    for (int i = 0; i < 2; ++i) {
      set_flag(PIPE_V, PIPE_MTE2, event_t(i));  // all start free
      set_flag(PIPE_MTE3, PIPE_V, event_t(i));
    }
  }

  AICORE unsigned src() const { return at_ * kBufferBytes; }
  AICORE unsigned dst() const { return (2 + at_) * kBufferBytes; }

  template <class Load, class Compute, class Store>
  AICORE void Run(const Load& load, const Compute& compute, const Store& store) {
    const auto event = event_t(at_);
    wait_flag(PIPE_V, PIPE_MTE2, event);  // the last src was read
    load();
    set_flag(PIPE_MTE2, PIPE_V, event);
    wait_flag(PIPE_MTE2, PIPE_V, event);  // src is loaded
    wait_flag(PIPE_MTE3, PIPE_V, event);  // the last dst was stored
    compute();
    set_flag(PIPE_V, PIPE_MTE2, event);
    set_flag(PIPE_V, PIPE_MTE3, event);
    wait_flag(PIPE_V, PIPE_MTE3, event);  // dst is computed
    store();
    set_flag(PIPE_MTE3, PIPE_V, event);
    at_ ^= 1;
  }

  AICORE void Finish() {
    for (int i = 0; i < 2; ++i) {
      wait_flag(PIPE_V, PIPE_MTE2, event_t(i));
      wait_flag(PIPE_MTE3, PIPE_V, event_t(i));
    }
  }

 private:
  unsigned at_ = 0;
};

AICORE inline int Least(int64_t n, int most) { return static_cast<int>(n < most ? n : most); }

/// Matrices of at most 32 bytes per column, several to a tile.
template <class T>
class ToBlocks {
 public:
  AICORE ToBlocks(__gm__ T* dst, __gm__ T* src, const TransposeTiling& tiling)
      : dst_(dst), src_(src), tiling_(tiling) {}

  AICORE void Run() {
    if (tiling_.rows < kBlock) FillUp();
    const int64_t groups = (tiling_.batch + kMatrices - 1) / kMatrices;
    const int64_t pieces = (tiling_.cols + kCols - 1) / kCols, count = groups * pieces;
    for (int64_t at = count * get_block_idx() / get_block_num();
         at < count * (get_block_idx() + 1) / get_block_num(); ++at) {
      const int64_t first = at / pieces * kMatrices, col = at % pieces * kCols;
      Turn(first, col, Least(tiling_.batch - first, kMatrices), Least(tiling_.cols - col, kCols));
    }
    buffers_.Finish();
  }

 private:
  static constexpr int kBlock = 32 / static_cast<int>(sizeof(T));
  static constexpr int kCols = 256 / static_cast<int>(sizeof(T));  // of src
  static constexpr int kRows = kBufferBytes / 256;                 // of src
  static constexpr int kMatrices = kRows / kBlock;
  using Src = Tile<TileType::Vec, T, kRows, kCols, BLayout::RowMajor, -1, -1>;
  using Matrix = Tile<TileType::Vec, T, kBlock, kCols, BLayout::RowMajor, -1, -1>;
  using Turned = Tile<TileType::Vec, T, kCols, kBlock, BLayout::RowMajor, -1, -1>;
  using Dst = Tile<TileType::Vec, T, kMatrices, kCols * kBlock, BLayout::RowMajor, -1, -1>;

  /// What no row is turned into stays 0.
  AICORE void FillUp() {
    Dst zeros(kMatrices, kCols * kBlock);
    for (int i = 0; i < 2; ++i) {
      TASSIGN(zeros, (2 + i) * kBufferBytes);
      TEXPANDS(zeros, T(0));
    }
    pipe_barrier(PIPE_V);
  }

  /// cols columns from col on of some matrices from the first on.
  AICORE void Turn(int64_t first, int64_t col, int matrices, int cols) {
    const auto rows = static_cast<int>(tiling_.rows);
    const unsigned dst_at = buffers_.dst(), src_at = buffers_.src();
    Src src(matrices * rows, cols);
    Dst dst(matrices, cols * kBlock);
    TASSIGN(src, src_at);
    TASSIGN(dst, dst_at);
    Global<T> from(src_ + first * rows * tiling_.cols + col, {matrices * rows, cols},
                   {tiling_.cols});
    Global<T> to(dst_ + (first * tiling_.cols + col) * kBlock, {matrices, cols * kBlock},
                 {tiling_.cols * kBlock});
    const auto turn = [&] {
      for (int i = 0; i < matrices; ++i) {
        Matrix matrix(rows, cols);
        Turned turned(cols, rows);
        TASSIGN(matrix, src_at + i * rows * 256);
        TASSIGN(turned, dst_at + i * kCols * 32);
        TTRANS(turned, matrix, matrix);
      }
    };
    buffers_.Run([&] { TLOAD(src, from); }, turn, [&] { TSTORE(to, dst); });
  }

  __gm__ T* dst_;
  __gm__ T* src_;
  const TransposeTiling& tiling_;
  Buffers buffers_;
};

template <class T>
AICORE void Transpose(__gm__ T* dst, __gm__ T* src, const TransposeTiling& tiling) {
  constexpr int kCols = 128 / static_cast<int>(sizeof(T)), kRows = 256;
  using Src = Tile<TileType::Vec, T, kRows, kCols, BLayout::RowMajor, -1, -1>;
  using Dst = Tile<TileType::Vec, T, kCols, kRows, BLayout::RowMajor, -1, -1>;
  Buffers buffers;
  const int64_t down = (tiling.rows + kRows - 1) / kRows,
                across = (tiling.cols + kCols - 1) / kCols;
  const int64_t count = tiling.batch * down * across;
  for (int64_t at = count * get_block_idx() / get_block_num();
       at < count * (get_block_idx() + 1) / get_block_num(); ++at) {
    const int64_t matrix = at / (down * across);
    const int64_t row = at / across % down * kRows, col = at % across * kCols;
    const int rows = Least(tiling.rows - row, kRows), cols = Least(tiling.cols - col, kCols);
    Src from_tile(rows, cols);
    Dst to_tile(cols, rows);
    TASSIGN(from_tile, buffers.src());
    TASSIGN(to_tile, buffers.dst());
    Global<T> from(src + (matrix * tiling.rows + row) * tiling.cols + col, {rows, cols},
                   {tiling.cols});
    Global<T> to(dst + (matrix * tiling.cols + col) * tiling.rows + row, {cols, rows},
                 {tiling.rows});
    buffers.Run([&] { TLOAD(from_tile, from); }, [&] { TTRANS(to_tile, from_tile, from_tile); },
                [&] { TSTORE(to, to_tile); });
  }
  buffers.Finish();
}

}  // namespace

extern "C" __global__ AICORE void transpose_to_blocks_float(GM_ADDR dst, GM_ADDR src,
                                                            TransposeTiling tiling) {
  ToBlocks<float>((__gm__ float*)dst, (__gm__ float*)src, tiling).Run();
}

/// Any elements of 16 bits.
extern "C" __global__ AICORE void transpose_to_blocks_half(GM_ADDR dst, GM_ADDR src,
                                                           TransposeTiling tiling) {
  ToBlocks<half>((__gm__ half*)dst, (__gm__ half*)src, tiling).Run();
}

extern "C" __global__ AICORE void transpose_float(GM_ADDR dst, GM_ADDR src,
                                                  TransposeTiling tiling) {
  Transpose<float>((__gm__ float*)dst, (__gm__ float*)src, tiling);
}

/// Any elements of 16 bits.
extern "C" __global__ AICORE void transpose_half(GM_ADDR dst, GM_ADDR src, TransposeTiling tiling) {
  Transpose<half>((__gm__ half*)dst, (__gm__ half*)src, tiling);
}
