// SPDX-License-Identifier: Apache-2.0
// What vector cores do of the gradients of attention: p and t from products, and the last step.
#pragma once

#include "attention_backward.hpp"

namespace attention {

/// Data of vector cores. Tensors without strides are contiguous.
template <class T>
struct VectorData {
  __gm__ T* sums[2];  // gradients: of q, or of k and v
  __gm__ float* log_sums;
  __gm__ float* deltas;  // rows of q store them, keys load them
  Operands<T> result, gradient;
};

template <class T, bool kOfKeys>
class BackwardOnVector {
 public:
  AICORE BackwardOnVector(const VectorData<T>& data, __gm__ char* slots,
                          const AttentionTiling& tiling)
      : tiling_(tiling),
        data_(data),
        products_(slots, kProducts, 0),
        terms_(slots + 4 * kProductBytes, 0, 0) {}

  AICORE void Run() {
    for (int i = 0; i < 3; ++i) set_flag(PIPE_V, PIPE_MTE2, event_t(i));
    for (int i = 0; i < 2; ++i) set_flag(PIPE_MTE3, PIPE_V, event_t(i));
    ForEachPlace(tiling_, kOfKeys ? tiling_.keys : tiling_.rows, kGradientRows,
                 [&](const Place& place) {
                   place_ = place;
                   half_ = Half(place.rows);
                   Compute(Blocks<kOfKeys>(tiling_, place));
                 });
    for (int i = 0; i < 3; ++i) wait_flag(PIPE_V, PIPE_MTE2, event_t(i));  // leave no flag set
    for (int i = 0; i < 2; ++i) wait_flag(PIPE_MTE3, PIPE_V, event_t(i));
  }

 private:
  static constexpr int kHalf = kGradientRows / 2;
  static constexpr int kSums = kOfKeys ? 2 : 1;
  using Tile = Full<float, kHalf>;
  using Term = Full<T, kHalf>;
  /// A value for each row of q: along columns where rows are keys.
  using Stat = std::conditional_t<kOfKeys, Line<kBlockRows>, Column<kHalf>>;

  // UB. A pipe's buffers for products are as large as a slot, of which a half is this core's.
  static constexpr unsigned kTileBytes = kHalf * kAttentionWidth * sizeof(float);
  static constexpr unsigned kProducts = 0;
  static constexpr unsigned kTerms = 2 * kProductBytes;  // what is pushed and stored, in turn
  static constexpr unsigned kScratch = kTerms + 2 * kTileBytes;
  static constexpr unsigned kRow = kScratch + kTileBytes;  // of result and gradient
  static constexpr unsigned kWideRow = kRow + 2 * kTileBytes;
  static constexpr unsigned kStats = kWideRow + kTileBytes;  // log_sums, deltas
  static constexpr unsigned kStatBytes = kBlockRows * sizeof(float);
  static constexpr unsigned kBits = kStats + 2 * kStatBytes;
  static_assert(kBits + kHalf * 32 <= 192 * 1024, "expected tiles within UB");
  static constexpr int kStatEvent = 2;  // after those of both buffers for products

  AICORE int width() const { return static_cast<int>(tiling_.width); }
  AICORE int64_t FirstRow(int64_t rows) const {
    return (place_.batch * tiling_.heads + place_.head) * rows;
  }
  template <class TileT>
  AICORE TileT At(unsigned address, int cols) const {
    TileT tile(half_.rows, cols);
    TASSIGN(tile, address);
    return tile;
  }
  AICORE Stat StatAt(int number, int count) const {
    Stat stat(count);
    TASSIGN(stat, kStats + number * kStatBytes);
    return stat;
  }

  AICORE void Compute(const Blocks<kOfKeys>& blocks) {
    if constexpr (!kOfKeys) {
      if (half_.rows != 0) LoadRows();
    }
    for (int block = blocks.first; block < blocks.last; ++block) {
      const int rows = blocks.RowsOf(block);
      if (kOfKeys) LoadStats(int64_t{block} * kBlockRows, rows);
      MakeTerms(block, rows, kOfKeys ? rows : half_.rows);
      if (kOfKeys) set_flag(PIPE_V, PIPE_MTE2, event_t(kStatEvent));
    }
    if (!kOfKeys && half_.rows != 0) set_flag(PIPE_V, PIPE_MTE2, event_t(kStatEvent));
    for (int i = 0; i < kSums; ++i) StoreSum(i, blocks.first < blocks.last);
  }

  /// Loads the statistics of rows of q into lines.
  AICORE void LoadLine(int number, __gm__ float* data, int64_t row, int count) {
    Line<kBlockRows> line(count);
    TASSIGN(line, kStats + number * kStatBytes);
    Rows<float> global(data + FirstRow(tiling_.rows) + row, {1, count}, {count});
    TLOAD(line, global);
  }
  AICORE void LoadStats(int64_t row, int count) {
    wait_flag(PIPE_V, PIPE_MTE2, event_t(kStatEvent));  // those before were used
    LoadLine(0, data_.log_sums, row, count);
    LoadLine(1, data_.deltas, row, count);
    set_flag(PIPE_MTE2, PIPE_V, event_t(kStatEvent));
    wait_flag(PIPE_MTE2, PIPE_V, event_t(kStatEvent));  // they are there
  }

  /// Loads the statistics of own rows, and makes and stores their deltas.
  AICORE void LoadRows() {
    const int64_t row = place_.row + half_.first;
    const Operands<T> operands[2] = {data_.result, data_.gradient};
    wait_flag(PIPE_V, PIPE_MTE2, event_t(kStatEvent));  // those before were used
    LoadLine(0, data_.log_sums, row, half_.rows);
    Term loaded[2] = {At<Term>(kRow, width()), At<Term>(kRow + kTileBytes, width())};
    for (int i = 0; i < 2; ++i) {
      const int64_t stride = half_.rows == 1 ? width() : operands[i].matrix.row;
      Rows<T> global(place_.In(operands[i].data, operands[i].matrix, row), {half_.rows, width()},
                     {stride});
      TLOAD(loaded[i], global);
    }
    set_flag(PIPE_MTE2, PIPE_V, event_t(kStatEvent));
    wait_flag(PIPE_MTE2, PIPE_V, event_t(kStatEvent));  // they are there
    Tile product = At<Tile>(kWideRow, width()), scratch = At<Tile>(kScratch, width());
    if constexpr (std::is_same_v<T, float>) {
      TMUL(product, loaded[0], loaded[1]);
    } else {
      TCVT(product, loaded[0], RoundMode::CAST_NONE);
      TCVT(scratch, loaded[1], RoundMode::CAST_NONE);
      TMUL(product, product, scratch);
    }
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);  // the deltas before were stored
    Stat delta = StatAt(1, half_.rows);
    TROWSUM(delta, product, scratch);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);  // deltas are there
    Line<kBlockRows> line(half_.rows);
    TASSIGN(line, kStats + kStatBytes);
    Rows<float> global(data_.deltas + FirstRow(tiling_.rows) + row, {1, half_.rows}, {half_.rows});
    TSTORE(global, line);
    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  }

  /// The next tile of the cube core, to be given back by Release.
  AICORE Tile Pop(int cols) {
    Tile tile = At<Tile>(0, cols);
    wait_flag(PIPE_V, PIPE_MTE2, event_t(popped_));  // this buffer was used
    PopHalf(products_, tile, half_);
    set_flag(PIPE_MTE2, PIPE_V, event_t(popped_));
    wait_flag(PIPE_MTE2, PIPE_V, event_t(popped_));  // the tile is there
    popped_ ^= 1;
    return tile;
  }
  AICORE void Release(int buffer) { set_flag(PIPE_V, PIPE_MTE2, event_t(buffer)); }

  /// Pushes p, of keys, and t for a block.
  AICORE void MakeTerms(int block, int cols, int stats) {
    const int first = popped_;
    Stat log_sums = StatAt(0, stats), deltas = StatAt(1, stats);
    Tile p = Pop(cols);
    if (half_.rows != 0) Exponentiate(p, log_sums, block);
    if (kOfKeys) Push(p);
    Tile t = Pop(cols);
    if (half_.rows != 0) {
      if constexpr (kOfKeys) {
        TCOLEXPANDSUB(t, t, deltas);
      } else {
        TROWEXPANDSUB(t, t, deltas);
      }
      TMUL(t, t, p);
    }
    Release(first);
    Push(t);
    Release(first ^ 1);
  }

  /// p = exp(scale p - log_sums)
  AICORE void Exponentiate(Tile& p, Stat& log_sums, int block) {
    TMULS(p, p, tiling_.scale);
    const int64_t diagonal = place_.row + half_.first - int64_t{block} * kBlockRows;
    const bool has_all = kOfKeys ? diagonal + half_.rows <= 1 : diagonal >= kBlockRows - 1;
    if (tiling_.causal && !has_all) {
      Tile scratch = At<Tile>(kScratch, p.GetValidCol());
      KeepTriangle<kOfKeys>(p, static_cast<int>(diagonal), scratch, kBits);
    }
    if constexpr (kOfKeys) {
      TCOLEXPANDEXPDIF(p, p, log_sums);
    } else {
      TROWEXPANDEXPDIF(p, p, log_sums);
    }
  }

  /// A tile of what is pushed or stored, free to be written.
  AICORE Term NextTerm(int cols) {
    Term term = At<Term>(kTerms + out_ * kTileBytes, cols);
    wait_flag(PIPE_MTE3, PIPE_V, event_t(out_));  // it was pushed or stored
    return term;
  }
  AICORE void Round(Term& term, Tile& tile) const {
    if constexpr (std::is_same_v<T, float>) {
      TMOV(term, tile);
    } else {
      TCVT(term, tile, RoundMode::CAST_RINT, SaturationMode::OFF);
    }
  }
  AICORE void FinishTerm() {
    set_flag(PIPE_V, PIPE_MTE3, event_t(out_));
    wait_flag(PIPE_V, PIPE_MTE3, event_t(out_));  // the tile is there
  }

  AICORE void Push(Tile& tile) {
    Term term = NextTerm(tile.GetValidCol());
    if (half_.rows != 0) Round(term, tile);
    FinishTerm();
    PushHalf(terms_, term, half_);
    set_flag(PIPE_MTE3, PIPE_V, event_t(out_));
    out_ ^= 1;
  }

  /// Stores a sum, that of t multiplied with scale; one over nothing is 0.
  AICORE void StoreSum(int number, bool is_there) {
    const int buffer = popped_;
    Tile sum = is_there ? Pop(width()) : At<Tile>(kScratch, width());
    if (half_.rows != 0) {
      if (!is_there) TEXPANDS(sum, 0.0f);
      if (number == 0) TMULS(sum, sum, tiling_.scale);
      Term term = NextTerm(width());
      Round(term, sum);
      FinishTerm();
      const int64_t rows = kOfKeys ? tiling_.keys : tiling_.rows;
      const int64_t row = FirstRow(rows) + place_.row + half_.first;
      Rows<T> global(data_.sums[number] + row * width(), {half_.rows, width()}, {width()});
      TSTORE(global, term);
      set_flag(PIPE_MTE3, PIPE_V, event_t(out_));
      out_ ^= 1;
    }
    if (is_there) Release(buffer);
  }

  const AttentionTiling& tiling_;
  const VectorData<T>& data_;
  Products products_;
  Terms<T> terms_;
  Place place_ = {};
  Half half_{0};
  int popped_ = 0, out_ = 0;
};

/// What a kernel gets: gradients of q, or of k and v; result is null where they are of keys.
struct GradientArgs {
  GM_ADDR sums[2];
  GM_ADDR deltas;
  GM_ADDR q;
  GM_ADDR k;
  GM_ADDR v;
  GM_ADDR result;
  GM_ADDR gradient;
  GM_ADDR log_sums;
  GM_ADDR slots;
};

/// One of this pass alone: that of the other core has the same name, and another body.
template <class T, bool kOfKeys>
AICORE static void RunBackward(const GradientArgs& args, const AttentionBackwardTiling& tiling) {
  const AttentionTiling& forward = tiling.forward;
  const Operands<T> gradient = {(__gm__ T*)args.gradient, tiling.gradient};
  __gm__ char* slots =
      (__gm__ char*)args.slots + get_block_idx() * AttentionGradientSlotBytes(sizeof(T));
#ifdef __DAV_CUBE__
  const Operands<T> q = {(__gm__ T*)args.q, forward.q}, k = {(__gm__ T*)args.k, forward.k},
                    v = {(__gm__ T*)args.v, forward.v};
  BackwardOnCube<T, kOfKeys>(q, k, v, gradient, slots, forward).Run();
#else
  const VectorData<T> data = {{(__gm__ T*)args.sums[0], (__gm__ T*)args.sums[1]},
                              (__gm__ float*)args.log_sums,
                              (__gm__ float*)args.deltas,
                              {(__gm__ T*)args.result, tiling.result},
                              gradient};
  BackwardOnVector<T, kOfKeys>(data, slots, forward).Run();
#endif
}

}  // namespace attention
