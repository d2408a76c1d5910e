// SPDX-License-Identifier: Apache-2.0
// npu_core: mix
// z = softmax(scale q k^T) v, and the logarithm of each row's sum of exponentials. The cube core
// multiplies, a product of q and k ahead; the vector cores keep the largest score of a row and what
// is summed relative to it.
#include "attention.hpp"

namespace {

using namespace pto;
using attention::Half;
using attention::Place;

constexpr int kRows = kAttentionRows, kKeys = kAttentionKeys, kWidth = kAttentionWidth;
constexpr uint32_t kScoreBytes = kRows * kKeys * sizeof(float);
constexpr uint32_t kPartBytes = kRows * kWidth * sizeof(float);
template <class T>
constexpr uint32_t kWeightBytes = kRows * kKeys * sizeof(T);

// Scores q k^T to the vector cores, exponentials of them back, and parts of the result there.
using Scores = TPipe<0, DIR_C2V, kScoreBytes, 2, 2>;
template <class T>
using Weights = TPipe<2, DIR_V2C, kWeightBytes<T>, 2, 2>;
using Parts = TPipe<4, DIR_C2V, kPartBytes, 2, 1>;

/// Blocks of keys that the rows of place take.
AICORE inline int KeyBlocks(const AttentionTiling& tiling, const Place& place) {
  const int64_t end = place.row + place.rows;
  const int64_t keys = tiling.causal && end < tiling.keys ? end : tiling.keys;
  return static_cast<int>(gemm::Ceil(keys, kKeys));
}
AICORE inline int KeysOf(const AttentionTiling& tiling, int block) {
  return gemm::Least(tiling.keys - int64_t{block} * kKeys, kKeys);
}

template <class T>
class OnCube {
 public:
  AICORE OnCube(__gm__ T* q, __gm__ T* k, __gm__ T* v, __gm__ char* slots,
                const AttentionTiling& tiling)
      : tiling_(tiling),
        q_data_(q),
        k_data_(k),
        v_data_(v),
        scores_(slots, 0, 0),
        parts_(slots + 2 * (kScoreBytes + kWeightBytes<T>), 0, 0),
        weights_(slots + 2 * kScoreBytes, kWeights1) {}

  AICORE void Run() {
    SetFree();
    attention::ForEachPlace(tiling_, tiling_.rows, kRows, [&](const Place& place) {
      place_ = place;
      const int blocks = KeyBlocks(tiling_, place);
      q_.Load(0, place.In(q_data_, tiling_.q, place.row), tiling_.q.row, place.rows, width());
      for (int block = 0; block <= blocks; ++block) {
        if (block < blocks) Score(block);
        if (block > 0) Sum(block - 1);
      }
      q_.Release(0);
    });
    AwaitFree();
  }

 private:
  using Acc = TileAccCompact<float, kRows, kKeys, -1, -1>;
  using Multiplier = gemm::Multiplier<T, kRows, kKeys>;
  using Q = attention::Block<T, kRows, 1, 0>;
  using K = attention::Block<T, kKeys, 2, 1>;
  using V = attention::Block<T, kKeys, 2, 3>;
  static_assert(kKeys == kWidth, "products of both kinds have one size");

  static constexpr unsigned kK1 = Q::kBytes, kV1 = kK1 + 2 * K::kBytes;
  static constexpr unsigned kWeights1 = kV1 + 2 * V::kBytes;
  static constexpr int kScore = 0, kPart = 1;  // accumulators and their events

  AICORE int width() const { return static_cast<int>(tiling_.width); }

  AICORE void SetFree() {
    q_.SetFree();
    k_.SetFree();
    v_.SetFree();
    weights_.SetFree();
    multiplier_.SetFree();
    for (int i = 0; i < 2; ++i) set_flag(PIPE_FIX, PIPE_M, event_t(i));
  }
  AICORE void AwaitFree() {
    q_.AwaitFree();
    k_.AwaitFree();
    v_.AwaitFree();
    weights_.AwaitFree();
    multiplier_.AwaitFree();
    for (int i = 0; i < 2; ++i) wait_flag(PIPE_FIX, PIPE_M, event_t(i));
  }

  /// Pushes q k^T for a block of keys.
  AICORE void Score(int block) {
    const int keys = KeysOf(tiling_, block), slot = block % 2;
    k_.Load(slot, place_.In(k_data_, tiling_.k, int64_t{block} * kKeys), tiling_.k.row, keys,
            width());
    Push(scores_, kScore, keys, width(), [&](auto& left, auto& right, int at) {
      q_.Extract(left, 0, 0, at);
      k_.ExtractTurned(right, slot, at, 0);
    });
    k_.Release(slot);
  }

  /// Pushes the product of exponentials and a block of v.
  AICORE void Sum(int block) {
    const int keys = KeysOf(tiling_, block), slot = block % 2;
    v_.Load(slot, place_.In(v_data_, tiling_.v, int64_t{block} * kKeys), tiling_.v.row, keys,
            width());
    weights_.Pop(place_.rows, keys);
    Push(parts_, kPart, width(), keys, [&](auto& left, auto& right, int at) {
      weights_.Extract(left, 0, at);
      v_.Extract(right, slot, at, 0);
    });
    weights_.Release();
    v_.Release(slot);
  }

  /// Pushes a product of rows x depth and depth x cols: extract(left, right, at) puts operands from
  /// at on into L0.
  template <class Pipe, class Extract>
  AICORE void Push(Pipe& pipe, int number, int cols, int depth, const Extract& extract) {
    Acc acc(place_.rows, cols);
    TASSIGN(acc, number * kScoreBytes);
    wait_flag(PIPE_FIX, PIPE_M, event_t(number));  // the accumulator was pushed
    for (int at = 0; at < depth; at += Multiplier::kK) {
      multiplier_.Multiply(acc, gemm::Least(depth - at, Multiplier::kK), at > 0,
                           [&](auto& left, auto& right) { extract(left, right, at); });
    }
    set_flag(PIPE_M, PIPE_FIX, event_t(number));
    wait_flag(PIPE_M, PIPE_FIX, event_t(number));  // the product is there
    TPUSH<Pipe, Acc, TILE_UP_DOWN>(pipe, acc);
    set_flag(PIPE_FIX, PIPE_M, event_t(number));
  }

  const AttentionTiling& tiling_;
  __gm__ T* q_data_;
  __gm__ T* k_data_;
  __gm__ T* v_data_;
  Scores scores_;
  Parts parts_;
  attention::Popped<Weights<T>, T, kRows, kKeys, 5> weights_;
  Q q_{0};
  K k_{kK1};
  V v_{kV1};
  Multiplier multiplier_;
  Place place_ = {};
};

template <class T>
class OnVector {
 public:
  AICORE OnVector(__gm__ T* z, __gm__ float* log_sums, __gm__ char* slots,
                  const AttentionTiling& tiling)
      : tiling_(tiling),
        z_(z),
        log_sums_(log_sums),
        scores_(slots, kScores, 0),
        weights_(slots + 2 * kScoreBytes, 0, 0),
        parts_(slots + 2 * (kScoreBytes + kWeightBytes<T>), kPart, 0) {}

  AICORE void Run() {
    for (int i = 0; i < 3; ++i) set_flag(PIPE_V, PIPE_MTE2, event_t(i));
    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
    attention::ForEachPlace(tiling_, tiling_.rows, kRows, [&](const Place& place) {
      place_ = place;
      half_ = Half(place.rows);
      const int blocks = KeyBlocks(tiling_, place);
      Start();
      for (int block = 0; block <= blocks; ++block) {
        if (block < blocks) Weigh(block);
        if (block > 0) Add(block - 1);
      }
      Store(blocks > 0);
    });
    for (int i = 0; i < 3; ++i) wait_flag(PIPE_V, PIPE_MTE2, event_t(i));  // leave no flag set
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  }

 private:
  static constexpr int kHalf = kRows / 2;
  using Full = attention::Full<float, kHalf>;
  using Weight = attention::Full<T, kHalf>;
  using Column = attention::Column<kHalf>;

  // UB. Of each buffer for scores a half is this core's: what is behind it has other uses.
  static constexpr unsigned kTileBytes = kHalf * kWidth * sizeof(float);
  static constexpr unsigned kScores = 0;
  static constexpr unsigned kSum = 1 * kTileBytes;     // of the parts
  static constexpr unsigned kResult = 3 * kTileBytes;  // what is pushed and stored
  static constexpr unsigned kPart = 4 * kTileBytes;
  static constexpr unsigned kColumns = 5 * kTileBytes;
  static constexpr unsigned kBits = kColumns + 2048;
  static_assert(kBits + kHalf * 32 <= 192 * 1024, "expected tiles within UB");
  static constexpr int kPartEvent = 2;  // after those of both buffers for scores

  AICORE int width() const { return static_cast<int>(tiling_.width); }
  template <class TileT = Full>
  AICORE TileT At(unsigned address, int cols) const {
    TileT tile(half_.rows, cols);
    TASSIGN(tile, address);
    return tile;
  }
  AICORE Column ColumnAt(int number) const {
    Column column(half_.rows);
    TASSIGN(column, kColumns + number * kHalf * sizeof(float));
    return column;
  }
  AICORE Column Largest() const { return ColumnAt(largest_); }  // scores so far
  AICORE Column NextLargest() const { return ColumnAt(largest_ ^ 1); }
  AICORE Column Sums() const { return ColumnAt(2); }  // of exponentials relative to it
  AICORE Column Spare() const { return ColumnAt(3); }
  AICORE Column Change(int block) const { return ColumnAt(4 + block % 2); }

  AICORE void Start() {
    if (half_.rows == 0) return;
    Column largest = Largest(), sums = Sums();
    Full sum = At(kSum, width());
    TEXPANDS(largest, -__builtin_inff());
    TEXPANDS(sums, 0.0f);
    TEXPANDS(sum, 0.0f);
  }

  /// Pushes the exponentials of a block of scores, relative to the largest score so far.
  AICORE void Weigh(int block) {
    const int keys = KeysOf(tiling_, block);
    Full scores = At(0, keys);
    wait_flag(PIPE_V, PIPE_MTE2, event_t(scores_at_));  // the scores before were read
    attention::PopHalf(scores_, scores, half_);
    set_flag(PIPE_MTE2, PIPE_V, event_t(scores_at_));
    wait_flag(PIPE_MTE2, PIPE_V, event_t(scores_at_));  // scores are there
    Weight weights = At<Weight>(kResult, keys);
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);  // the exponentials before were pushed
    if (half_.rows != 0) Exponentiate(scores, weights, block);
    set_flag(PIPE_V, PIPE_MTE2, event_t(scores_at_));
    scores_at_ ^= 1;
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);  // exponentials are there
    attention::PushHalf(weights_, weights, half_);
    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  }

  AICORE void Exponentiate(Full& scores, Weight& weights, int block) {
    Full scratch = At(kResult, scores.GetValidCol());
    Column before = Largest(), largest = NextLargest(), change = Change(block);
    Column sums = Sums(), sum = Spare();
    TMULS(scores, scores, tiling_.scale);
    const int64_t diagonal = place_.row + half_.first - int64_t{block} * kKeys;
    if (tiling_.causal && diagonal < kKeys) {
      attention::KeepTriangle<false>(scores, static_cast<int>(diagonal), scratch, kBits);
    }
    TROWMAX(largest, scores, scratch);
    TMAX(largest, largest, before);
    largest_ ^= 1;
    TSUB(change, before, largest);
    TEXP(change, change);
    if constexpr (std::is_same_v<T, float>) {
      TROWEXPANDEXPDIF(weights, scores, largest);
      TROWSUM(sum, weights, scores);
    } else {
      TROWEXPANDEXPDIF(scores, scores, largest);
      TROWSUM(sum, scores, scratch);
      TCVT(weights, scores, RoundMode::CAST_RINT, SaturationMode::OFF);
    }
    TMUL(sums, sums, change);
    TADD(sums, sums, sum);
  }

  /// Adds the part of a block to what is summed, which becomes relative to the same score.
  AICORE void Add(int block) {
    Full part = At(0, width());
    wait_flag(PIPE_V, PIPE_MTE2, event_t(kPartEvent));  // the part before was added
    attention::PopHalf(parts_, part, half_);
    set_flag(PIPE_MTE2, PIPE_V, event_t(kPartEvent));
    wait_flag(PIPE_MTE2, PIPE_V, event_t(kPartEvent));  // the part is there
    if (half_.rows != 0) {
      Full sum = At(kSum, width());
      Column change = Change(block);
      TROWEXPANDMUL(sum, sum, change);
      TADD(sum, sum, part);
    }
    set_flag(PIPE_V, PIPE_MTE2, event_t(kPartEvent));
  }

  /// Stores the rows of this core; where there is no key they are 0.
  AICORE void Store(bool has_keys) {
    if (half_.rows == 0) return;
    const int64_t row =
        (place_.batch * tiling_.heads + place_.head) * tiling_.rows + place_.row + half_.first;
    Full sum = At(kSum, width());
    Weight result = At<Weight>(kResult, width());
    Column largest = Largest(), sums = Sums(), log_sum = Spare();
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);  // what is there was stored
    if (!has_keys) TEXPANDS(sums, 1.0f);
    if constexpr (std::is_same_v<T, float>) {
      TROWEXPANDDIV(result, sum, sums);
    } else {
      TROWEXPANDDIV(sum, sum, sums);
      TCVT(result, sum, RoundMode::CAST_RINT, SaturationMode::OFF);
    }
    TLOG(log_sum, sums);
    TADD(log_sum, log_sum, largest);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);  // results are there
    attention::Rows<T> z(z_ + row * width(), {half_.rows, width()}, {width()});
    TSTORE(z, result);
    attention::Line<kHalf> line(half_.rows);
    TASSIGN(line, kColumns + 3 * kHalf * sizeof(float));
    attention::Rows<float> log_sums(log_sums_ + row, {1, half_.rows}, {half_.rows});
    TSTORE(log_sums, line);
    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  }

  const AttentionTiling& tiling_;
  __gm__ T* z_;
  __gm__ float* log_sums_;
  Scores scores_;
  Weights<T> weights_;
  Parts parts_;
  Place place_ = {};
  Half half_{0};
  int largest_ = 0, scores_at_ = 0;
};

template <class T>
AICORE void Run(GM_ADDR z, GM_ADDR log_sums, GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR slots,
                const AttentionTiling& tiling) {
  __gm__ char* own = (__gm__ char*)slots + get_block_idx() * AttentionSlotBytes(sizeof(T));
#ifdef __DAV_CUBE__
  OnCube<T>((__gm__ T*)q, (__gm__ T*)k, (__gm__ T*)v, own, tiling).Run();
#else
  OnVector<T>((__gm__ T*)z, (__gm__ float*)log_sums, own, tiling).Run();
#endif
}

}  // namespace

extern "C" __global__ AICORE void my_flash_attention_float(GM_ADDR z, GM_ADDR log_sums, GM_ADDR q,
                                                           GM_ADDR k, GM_ADDR v, GM_ADDR slots,
                                                           AttentionTiling tiling) {
  Run<float>(z, log_sums, q, k, v, slots, tiling);
}

extern "C" __global__ AICORE void my_flash_attention_half(GM_ADDR z, GM_ADDR log_sums, GM_ADDR q,
                                                          GM_ADDR k, GM_ADDR v, GM_ADDR slots,
                                                          AttentionTiling tiling) {
  Run<half>(z, log_sums, q, k, v, slots, tiling);
}

extern "C" __global__ AICORE void my_flash_attention_bfloat16(GM_ADDR z, GM_ADDR log_sums,
                                                              GM_ADDR q, GM_ADDR k, GM_ADDR v,
                                                              GM_ADDR slots,
                                                              AttentionTiling tiling) {
  Run<bfloat16_t>(z, log_sums, q, k, v, slots, tiling);
}
