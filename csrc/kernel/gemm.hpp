// SPDX-License-Identifier: Apache-2.0
// Products of matrices on the cube core, in tiles. Sums are kept in float and rounded once.
#pragma once

#include <cstdint>

#include "pto/pto-inst.hpp"
#include "tiling/gemm.h"

namespace gemm {

using namespace pto;

/// Longest distance of lines that a load into boxes takes, in elements.
constexpr int64_t kMaxLineStride = 65535;

AICORE inline int64_t Ceil(int64_t n, int64_t unit) { return (n + unit - 1) / unit; }
AICORE inline int Least(int64_t n, int most) { return static_cast<int>(n < most ? n : most); }

AICORE inline GemmMatrix EvenLines(int64_t line) {
  GemmMatrix matrix = {};
  matrix.line = line;
  return matrix;
}

/// Blocks of a matrix in L1, of kRows x kCols elements at most: kSlots of them, one behind another.
template <class T, int kRows, int kCols, int kSlots>
class Source {
 public:
  static constexpr unsigned kBytes = kRows * kCols * sizeof(T);  // of a slot

  AICORE Source(unsigned address, __gm__ T* data, const GemmMatrix& matrix)
      : address_(address), data_(data), matrix_(matrix) {}

  /// The matrix of a product and a step from here on.
  AICORE void Select(int64_t batch, int64_t step) {
    selected_ = data_ + batch * matrix_.batch + step * matrix_.step;
  }

  /// Loads the block at row, col into slot, on PIPE_MTE2. What is there already is not loaded
  /// again.
  AICORE void Load(int slot, int64_t row, int64_t col, int rows, int cols) {
    const Block block = {selected_, row, col, rows, cols};
    if (blocks_[slot] == block) return;
    blocks_[slot] = block;
    if (matrix_.turned) {
      LoadBlock<true>(slot);
    } else {
      LoadBlock<false>(slot);
    }
  }

  /// The part of slot at row, col, into L0 on PIPE_MTE1.
  template <class Operand>
  AICORE void Extract(Operand& operand, int slot, int row, int col) {
    if (matrix_.turned) {
      auto block = BlockTile<true>(slot);
      TEXTRACT(operand, block, row, col);
    } else {
      auto block = BlockTile<false>(slot);
      TEXTRACT(operand, block, row, col);
    }
  }

 private:
  struct Block {
    __gm__ T* matrix;
    int64_t row, col;
    int rows, cols;

    AICORE bool operator==(const Block& other) const {
      return matrix == other.matrix && row == other.row && col == other.col && rows == other.rows &&
             cols == other.cols;
    }
  };
  /// Boxes in the order in which the lines come.
  template <bool kTurned>
  using InL1 = Tile<TileType::Mat, T, kRows, kCols, kTurned ? BLayout::RowMajor : BLayout::ColMajor,
                    -1, -1, kTurned ? SLayout::ColMajor : SLayout::RowMajor>;
  template <bool kTurned>
  using Global =
      GlobalTensor<T, Shape<1, 1, 1, -1, -1>,
                   std::conditional_t<kTurned, Stride<1, 1, 1, 1, -1>, Stride<1, 1, 1, -1, 1>>,
                   kTurned ? Layout::DN : Layout::ND>;

  template <bool kTurned>
  AICORE InL1<kTurned> BlockTile(int slot) {
    InL1<kTurned> tile(blocks_[slot].rows, blocks_[slot].cols);
    TASSIGN(tile, address_ + slot * kBytes);
    return tile;
  }

  /// Lines that are evenly apart come at once, unless that is too far for one load.
  template <bool kTurned>
  AICORE void LoadBlock(int slot) {
    const Block& block = blocks_[slot];
    const int lines = kTurned ? block.cols : block.rows;
    const int64_t first = kTurned ? block.col : block.row, at = kTurned ? block.row : block.col;
    for (int line = 0, count = 0; line < lines; line += count) {
      count = lines - line;
      if (matrix_.group != 0) {
        count = Least(matrix_.group - (first + line) % matrix_.group, count);
      }
      if (matrix_.line > kMaxLineStride) count = 1;
      auto tile = BlockTile<kTurned>(slot);
      if (kTurned) {
        tile.SetValidCol(count);
      } else {
        tile.SetValidRow(count);
      }
      TASSIGN(tile, address_ + slot * kBytes + line * C0_SIZE_BYTE);  // the line's part of a box
      Global<kTurned> global(block.matrix + LineOffset(matrix_, first + line) + at,
                             {tile.GetValidRow(), tile.GetValidCol()},
                             {count == 1 ? 1 : matrix_.line});
      TLOAD(tile, global);
    }
  }

  unsigned address_;
  __gm__ T* data_;
  __gm__ T* selected_ = nullptr;
  GemmMatrix matrix_;
  Block blocks_[kSlots] = {};
};

/// The buffers in L0A and L0B, which hold 64 KiB each: two halves that take turns.
template <class T, int kM, int kN>
class Multiplier {
 public:
  /// Elements of a row of the left operand in a half.
  static constexpr int kK = 256 / static_cast<int>(sizeof(T));

  AICORE void SetFree() {
    for (int i = 0; i < 2; ++i) set_flag(PIPE_M, PIPE_MTE1, event_t(i));
  }
  AICORE void AwaitFree() {
    for (int i = 0; i < 2; ++i) wait_flag(PIPE_M, PIPE_MTE1, event_t(i));
  }

  /// acc = left right, added to acc where adds says so, of depth columns and rows: extract(left,
  /// right) puts them into L0 on PIPE_MTE1.
  template <class Acc, class Extract>
  AICORE void Multiply(Acc& acc, int depth, bool adds, const Extract& extract) {
    // A whole left operand lies as its type says; of another each box has to be looked for.
    if (acc.GetValidRow() == kM && depth == kK) {
      TileLeft<T, kM, kK> left;
      MultiplyBy(left, acc, depth, adds, extract);
    } else if (acc.GetValidRow() == kM && depth == kK / 2) {
      TileLeft<T, kM, kK / 2> left;
      MultiplyBy(left, acc, depth, adds, extract);
    } else {
      TileLeftCompact<T, kM, kK, -1, -1> left(acc.GetValidRow(), depth);
      MultiplyBy(left, acc, depth, adds, extract);
    }
  }

 private:
  template <class Left, class Acc, class Extract>
  AICORE void MultiplyBy(Left& left, Acc& acc, int depth, bool adds, const Extract& extract) {
    TileRightCompact<T, kK, kN, -1, -1> right(depth, acc.GetValidCol());
    TASSIGN(left, at_ * kHalfBytes);
    TASSIGN(right, at_ * kHalfBytes);
    wait_flag(PIPE_M, PIPE_MTE1, event_t(at_));  // what these buffers held was multiplied
    extract(left, right);
    set_flag(PIPE_MTE1, PIPE_M, event_t(at_));
    wait_flag(PIPE_MTE1, PIPE_M, event_t(at_));  // operands are in L0
    if (adds) {
      TMATMUL_ACC(acc, left, right);
    } else {
      TMATMUL(acc, left, right);
    }
    set_flag(PIPE_M, PIPE_MTE1, event_t(at_));
    at_ ^= 1;
  }

  static constexpr unsigned kHalfBytes = (kM > kN ? kM : kN) * kK * sizeof(T);

  int at_ = 0;
};

template <class T>
class Product {
 public:
  AICORE Product(__gm__ T* c, __gm__ T* a, __gm__ T* b, __gm__ T* bias, __gm__ T* ones,
                 const GemmTiling& tiling)
      : tiling_(tiling),
        c_(c),
        has_bias_(bias != nullptr),
        a_(kA1, a, tiling.a),
        b_(kB1, b, tiling.b),
        bias_(kBias1, bias, EvenLines(tiling.bias)),
        ones_(kOnes1, ones, EvenLines(1)) {}

  /// This block's share of the tiles of all products.
  AICORE void Run() {
    const int64_t tile_rows = Ceil(tiling_.m, kM), tile_cols = Ceil(tiling_.n, kN);
    const int64_t count = tiling_.batch * tile_rows * tile_cols;
    SetAllFree();
    for (int64_t tile = count * get_block_idx() / get_block_num();
         tile < count * (get_block_idx() + 1) / get_block_num(); ++tile) {
      batch_ = tile / (tile_rows * tile_cols);
      row_ = tile / tile_cols % tile_rows * kM;
      col_ = tile % tile_cols * kN;
      rows_ = Least(tiling_.m - row_, kM);
      cols_ = Least(tiling_.n - col_, kN);
      ComputeTile();
    }
    AwaitAllFree();
  }

 private:
  // A tile of c in L0C. A block in L1 is twice as deep as what is multiplied at a time.
  static constexpr int kM = 128, kN = 128;
  static constexpr int kK = Multiplier<T, kM, kN>::kK;
  static constexpr int kDeep = 2 * kK;
  static constexpr int kASlots = 4, kBSlots = 2;
  using SourceA = Source<T, kM, kDeep, kASlots>;
  using SourceB = Source<T, kDeep, kN, kBSlots>;
  using SourceBias = Source<T, kM, kDeep, 1>;
  using SourceOnes = Source<T, kDeep, kN, 1>;
  using Acc = TileAccCompact<float, kM, kN, -1, -1>;

  static constexpr unsigned kA1 = 0;
  static constexpr unsigned kB1 = kA1 + kASlots * SourceA::kBytes;
  static constexpr unsigned kBias1 = kB1 + kBSlots * SourceB::kBytes;
  static constexpr unsigned kOnes1 = kBias1 + SourceBias::kBytes;
  static constexpr unsigned kAccBytes = kM * kN * sizeof(float);

  // Events between PIPE_MTE1 and PIPE_MTE2: one for each slot of A, then of B, then the bias.
  static constexpr int kBEvent = kASlots;
  static constexpr int kBiasEvent = kASlots + kBSlots;

  AICORE void SetAllFree() {
    for (int slot = 0; slot <= kBiasEvent; ++slot) set_flag(PIPE_MTE1, PIPE_MTE2, event_t(slot));
    for (int i = 0; i < 2; ++i) set_flag(PIPE_FIX, PIPE_M, event_t(i));  // buffers in L0C
    multiplier_.SetFree();
  }

  AICORE void AwaitAllFree() {
    for (int slot = 0; slot <= kBiasEvent; ++slot) wait_flag(PIPE_MTE1, PIPE_MTE2, event_t(slot));
    for (int i = 0; i < 2; ++i) wait_flag(PIPE_FIX, PIPE_M, event_t(i));
    multiplier_.AwaitFree();
  }

  AICORE void ComputeTile() {
    Acc acc(rows_, cols_);
    TASSIGN(acc, acc_at_ * kAccBytes);
    wait_flag(PIPE_FIX, PIPE_M, event_t(acc_at_));  // the accumulator was stored
    started_ = false;
    if (has_bias_) AddBias(acc);
    for (int64_t step = 0; step < tiling_.steps; ++step) {
      a_.Select(batch_, step);
      b_.Select(batch_, step);
      for (int64_t k = 0; k < tiling_.k; k += kDeep) AddBlock(acc, step, k);
    }
    set_flag(PIPE_M, PIPE_FIX, event_t(acc_at_));
    wait_flag(PIPE_M, PIPE_FIX, event_t(acc_at_));  // the tile is computed
    GlobalTensor<T, Shape<1, 1, 1, -1, -1>, Stride<1, 1, 1, -1, 1>> global(
        c_ + batch_ * tiling_.c_batch + row_ * tiling_.c_row + col_, {rows_, cols_},
        {tiling_.c_row});
    TSTORE(global, acc);
    set_flag(PIPE_FIX, PIPE_M, event_t(acc_at_));
    acc_at_ ^= 1;
  }

  AICORE void AddBlock(Acc& acc, int64_t step, int64_t k) {
    const int depth = Least(tiling_.k - k, kDeep);
    const auto a_slot = static_cast<int>((step * Ceil(tiling_.k, kDeep) + k / kDeep) % kASlots);
    wait_flag(PIPE_MTE1, PIPE_MTE2, event_t(a_slot));  // slots are extracted
    wait_flag(PIPE_MTE1, PIPE_MTE2, event_t(kBEvent + b_slot_));
    a_.Load(a_slot, row_, k, rows_, depth);
    b_.Load(b_slot_, k, col_, depth, cols_);
    set_flag(PIPE_MTE2, PIPE_MTE1, event_t(kBEvent + b_slot_));
    wait_flag(PIPE_MTE2, PIPE_MTE1, event_t(kBEvent + b_slot_));  // both are loaded
    for (int at = 0; at < depth; at += kK) {
      Add(acc, a_, a_slot, b_, b_slot_, at, Least(depth - at, kK));
    }
    set_flag(PIPE_MTE1, PIPE_MTE2, event_t(a_slot));
    set_flag(PIPE_MTE1, PIPE_MTE2, event_t(kBEvent + b_slot_));
    b_slot_ ^= 1;
  }

  /// The bias as a product: a column of it times a row of ones.
  AICORE void AddBias(Acc& acc) {
    bias_.Select(0, 0);
    ones_.Select(0, 0);
    wait_flag(PIPE_MTE1, PIPE_MTE2, event_t(kBiasEvent));
    bias_.Load(0, row_, 0, rows_, 1);
    ones_.Load(0, 0, 0, 1, cols_);
    set_flag(PIPE_MTE2, PIPE_MTE1, event_t(kBiasEvent));
    wait_flag(PIPE_MTE2, PIPE_MTE1, event_t(kBiasEvent));
    Add(acc, bias_, 0, ones_, 0, 0, 1);
    set_flag(PIPE_MTE1, PIPE_MTE2, event_t(kBiasEvent));
  }

  /// acc += columns at and on of a slot of a times rows at and on of a slot of b.
  template <class A, class B>
  AICORE void Add(Acc& acc, A& a, int a_slot, B& b, int b_slot, int at, int depth) {
    multiplier_.Multiply(acc, depth, started_, [&](auto& left, auto& right) {
      a.Extract(left, a_slot, 0, at);
      b.Extract(right, b_slot, at, 0);
    });
    started_ = true;
  }

  const GemmTiling& tiling_;
  __gm__ T* c_;
  bool has_bias_;
  SourceA a_;
  SourceB b_;
  SourceBias bias_;
  SourceOnes ones_;
  int64_t batch_ = 0, row_ = 0, col_ = 0;  // of the tile that is computed
  int rows_ = 0, cols_ = 0;
  bool started_ = false;
  int b_slot_ = 0, acc_at_ = 0;
  Multiplier<T, kM, kN> multiplier_;
};

}  // namespace gemm
