// SPDX-License-Identifier: Apache-2.0
// Gradients of attention. With p = exp(scale q k^T - log_sums) and t = p (gradient v^T - delta),
// delta a row's sum of result * gradient, that of q is scale t k, that of k is scale t^T q, that of
// v is p^T gradient. Each is summed on the cube core, over blocks of keys or, where rows are keys
// (kOfKeys), over blocks of rows of q: t and p come turned from products the other way round.
#pragma once

#include "attention.hpp"

namespace attention {

constexpr int kGradientRows = kAttentionGradientRows;
constexpr int kBlockRows = kAttentionKeys;
constexpr uint32_t kProductBytes = kGradientRows * kBlockRows * sizeof(float);
template <class T>
constexpr uint32_t kTermBytes = kGradientRows * kBlockRows * sizeof(T);

// Products and sums to the vector cores, p (of keys alone) and t back.
using Products = TPipe<0, DIR_C2V, kProductBytes, 4, 2>;
template <class T>
using Terms = TPipe<2, DIR_V2C, kTermBytes<T>, 4, 2>;

/// What is summed over for a place: blocks from first to last.
template <bool kOfKeys>
struct Blocks {
  int first, last;
  int64_t length;  // rows in all of them

  AICORE Blocks(const AttentionTiling& tiling, const Place& place)
      : first(0), length(kOfKeys ? tiling.rows : tiling.keys) {
    last = static_cast<int>(gemm::Ceil(length, kBlockRows));
    if (!tiling.causal) return;
    if (kOfKeys) {
      first = gemm::Least(place.row / kBlockRows, last);
    } else {
      last = gemm::Least(gemm::Ceil(place.row + place.rows, kBlockRows), last);
    }
  }
  AICORE int RowsOf(int block) const {
    return gemm::Least(length - int64_t{block} * kBlockRows, kBlockRows);
  }
};

/// Operands: own rows, and those of blocks, for scores and for the gradient of p.
template <class T>
struct Operands {
  __gm__ T* data;
  AttentionMatrix matrix;
};

template <class T, bool kOfKeys>
class BackwardOnCube {
 public:
  AICORE BackwardOnCube(Operands<T> q, Operands<T> k, Operands<T> v, Operands<T> gradient,
                        __gm__ char* slots, const AttentionTiling& tiling)
      : tiling_(tiling),
        own_{kOfKeys ? k : q, kOfKeys ? v : gradient},
        other_{kOfKeys ? q : k, kOfKeys ? gradient : v},
        products_(slots, 0, 0),
        terms_(slots + 4 * kProductBytes, kTerms1) {}

  AICORE void Run() {
    SetFree();
    ForEachPlace(tiling_, kOfKeys ? tiling_.keys : tiling_.rows, kGradientRows,
                 [&](const Place& place) {
                   place_ = place;
                   const Blocks<kOfKeys> blocks(tiling_, place);
                   if (blocks.first < blocks.last) Compute(blocks);
                 });
    AwaitFree();
  }

 private:
  using Acc = TileAccCompact<float, kGradientRows, kBlockRows, -1, -1>;
  using Multiplier = gemm::Multiplier<T, kGradientRows, kBlockRows>;
  static_assert(kBlockRows == kAttentionWidth, "products of both kinds have one size");
  using Own0 = Block<T, kGradientRows, 1, 0>;
  using Own1 = Block<T, kGradientRows, 1, 1>;
  using Other0 = Block<T, kBlockRows, 2, 2>;
  using Other1 = Block<T, kBlockRows, 2, 4>;
  static constexpr unsigned kOther1 = 2 * Own0::kBytes;
  static constexpr unsigned kTerms1 = kOther1 + 4 * Other0::kBytes;

  // Accumulators, with an event each: of both products and both sums.
  static constexpr int kProduct = 0, kSum = 2, kAccumulators = 4;

  AICORE int width() const { return static_cast<int>(tiling_.width); }

  AICORE void SetFree() {
    own0_.SetFree();
    own1_.SetFree();
    other0_.SetFree();
    other1_.SetFree();
    terms_.SetFree();
    multiplier_.SetFree();
    for (int i = 0; i < kAccumulators; ++i) set_flag(PIPE_FIX, PIPE_M, event_t(i));
  }
  AICORE void AwaitFree() {
    own0_.AwaitFree();
    own1_.AwaitFree();
    other0_.AwaitFree();
    other1_.AwaitFree();
    terms_.AwaitFree();
    multiplier_.AwaitFree();
    for (int i = 0; i < kAccumulators; ++i) wait_flag(PIPE_FIX, PIPE_M, event_t(i));
  }

  AICORE void Compute(const Blocks<kOfKeys>& blocks) {
    own0_.Load(0, place_.In(own_[0].data, own_[0].matrix, place_.row), own_[0].matrix.row,
               place_.rows, width());
    own1_.Load(0, place_.In(own_[1].data, own_[1].matrix, place_.row), own_[1].matrix.row,
               place_.rows, width());
    for (int i = 0; i < kSums; ++i) wait_flag(PIPE_FIX, PIPE_M, event_t(kSum + i));
    for (int block = blocks.first; block <= blocks.last; ++block) {
      if (block < blocks.last) Multiply(block, blocks.RowsOf(block));
      if (block > blocks.first) Add(block - 1, blocks.RowsOf(block - 1), block - 1 > blocks.first);
    }
    own0_.Release(0);
    own1_.Release(0);
    for (int i = 0; i < kSums; ++i) {
      Acc sum = AccAt(kSum + i, width());
      Push(sum, kSum + i);
    }
  }

  /// Pushes the products of own rows and those of a block.
  AICORE void Multiply(int block, int rows) {
    const int slot = block % 2;
    const int64_t from = int64_t{block} * kBlockRows;
    other0_.Load(slot, place_.In(other_[0].data, other_[0].matrix, from), other_[0].matrix.row,
                 rows, width());
    other1_.Load(slot, place_.In(other_[1].data, other_[1].matrix, from), other_[1].matrix.row,
                 rows, width());
    MultiplyBy(own0_, other0_, slot, kProduct, rows);
    MultiplyBy(own1_, other1_, slot, kProduct + 1, rows);
  }
  template <class Own, class Other>
  AICORE void MultiplyBy(Own& own, Other& other, int slot, int number, int rows) {
    Acc acc = AccAt(number, rows);
    wait_flag(PIPE_FIX, PIPE_M, event_t(number));  // the product before was pushed
    for (int at = 0; at < width(); at += Multiplier::kK) {
      multiplier_.Multiply(acc, gemm::Least(width() - at, Multiplier::kK), at > 0,
                           [&](auto& left, auto& right) {
                             own.Extract(left, 0, 0, at);
                             other.ExtractTurned(right, slot, at, 0);
                           });
    }
    Push(acc, number);
  }

  /// Adds products of terms and a block to the sums.
  AICORE void Add(int block, int rows, bool adds) {
    const int slot = block % 2;
    if (kOfKeys) AddTo(kSum + 1, other1_, slot, rows, adds);
    AddTo(kSum, other0_, slot, rows, adds);
    other0_.Release(slot);
    other1_.Release(slot);
  }
  template <class Other>
  AICORE void AddTo(int number, Other& other, int slot, int rows, bool adds) {
    Acc acc = AccAt(number, width());
    terms_.Pop(place_.rows, rows);
    for (int at = 0; at < rows; at += Multiplier::kK) {
      multiplier_.Multiply(acc, gemm::Least(rows - at, Multiplier::kK), adds || at > 0,
                           [&](auto& left, auto& right) {
                             terms_.Extract(left, 0, at);
                             other.Extract(right, slot, at, 0);
                           });
    }
    terms_.Release();
  }

  AICORE Acc AccAt(int number, int cols) const {
    Acc acc(place_.rows, cols);
    TASSIGN(acc, number * kProductBytes);
    return acc;
  }
  AICORE void Push(Acc& acc, int number) {
    set_flag(PIPE_M, PIPE_FIX, event_t(number));
    wait_flag(PIPE_M, PIPE_FIX, event_t(number));  // the product is there
    TPUSH<Products, Acc, TILE_UP_DOWN>(products_, acc);
    set_flag(PIPE_FIX, PIPE_M, event_t(number));
  }

  static constexpr int kSums = kOfKeys ? 2 : 1;

  const AttentionTiling& tiling_;
  Operands<T> own_[2], other_[2];
  Products products_;
  Popped<Terms<T>, T, kGradientRows, kBlockRows, 6> terms_;
  Own0 own0_{0};
  Own1 own1_{Own0::kBytes};
  Other0 other0_{kOther1};
  Other1 other1_{kOther1 + 2 * Other0::kBytes};
  Multiplier multiplier_;
  Place place_ = {};
};

}  // namespace attention
