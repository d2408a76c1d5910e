// SPDX-License-Identifier: Apache-2.0
// The k best elements of each row and their places, in order.
#include "topk.hpp"

namespace {

using namespace pto;
using topk::At;
using topk::Best;
using topk::Chunk;
using topk::Kind;
using topk::Taken;

/// The elements of a row in float, a chunk at a time, the next one loaded ahead.
template <class T>
class Row {
 public:
  AICORE Row() {
    for (int b = 0; b < 2; ++b) set_flag(PIPE_S, PIPE_MTE2, event_t(b));  // buffers start free
    set_flag(PIPE_S, PIPE_V, EVENT_ID2);
  }
  AICORE void Finish() {  // leaves no flag set
    for (int b = 0; b < 2; ++b) wait_flag(PIPE_S, PIPE_MTE2, event_t(b));
    wait_flag(PIPE_S, PIPE_V, EVENT_ID2);
  }

  /// scan(chunk, index of its first element) for each chunk, until it returns false. What scan does
  /// ends on the scalar pipe.
  template <class Scan>
  AICORE void ForEachChunk(__gm__ T* row, int64_t length, const Scan& scan) {
    const int64_t chunks = (length + topk::kChunk - 1) / topk::kChunk;
    Load(row, length, 0);
    bool goes_on = true;
    for (int64_t chunk = 0; chunk < chunks && goes_on; ++chunk) {
      const bool has_next = chunk + 1 < chunks;
      if (has_next) Load(row, length, chunk + 1);
      const int b = static_cast<int>(chunk % 2);
      wait_flag(PIPE_MTE2, PIPE_V, event_t(b));  // the chunk is loaded
      wait_flag(PIPE_S, PIPE_V, EVENT_ID2);      // the one before was scanned
      goes_on = scan(Widen(loaded_[b]), chunk * topk::kChunk);
      set_flag(PIPE_S, PIPE_V, EVENT_ID2);
      set_flag(PIPE_S, PIPE_MTE2, event_t(b));
      if (goes_on || !has_next) continue;
      wait_flag(PIPE_MTE2, PIPE_V, event_t(b ^ 1));  // nobody looks at what was loaded ahead
      set_flag(PIPE_S, PIPE_MTE2, event_t(b ^ 1));
    }
  }

 private:
  using Loaded = topk::Line<T, topk::kChunk>;
  static constexpr bool kWidens = !std::is_same_v<T, float>;
  static constexpr unsigned kLoadedBytes = topk::kChunk * sizeof(T);

  AICORE void Load(__gm__ T* row, int64_t length, int64_t chunk) {
    const int b = static_cast<int>(chunk % 2);
    const int64_t at = chunk * topk::kChunk, left = length - at;
    const int count = static_cast<int>(left < topk::kChunk ? left : topk::kChunk);
    loaded_[b] = At<Loaded>(topk::kChunks + b * kLoadedBytes, count);
    GlobalTensor<T, Shape<1, 1, 1, 1, -1>, Stride<1, 1, 1, -1, 1>> global(row + at, {count},
                                                                          {count});
    wait_flag(PIPE_S, PIPE_MTE2, event_t(b));  // the buffer was scanned
    LoadAsView(loaded_[b], global);
    set_flag(PIPE_MTE2, PIPE_V, event_t(b));
  }

  AICORE Chunk Widen(Loaded& loaded) const {
    if constexpr (kWidens) {
      Chunk wide = At<Chunk>(topk::kChunks + 2 * kLoadedBytes, loaded.GetValidCol());
      TCVT(wide, loaded, RoundMode::CAST_NONE);
      return wide;
    } else {
      return loaded;
    }
  }

  Loaded loaded_[2] = {Loaded(0), Loaded(0)};
};

/// Has best consider the elements that mask names.
AICORE void ScanMask(Best& best, const Chunk& x, int64_t first) {
  const auto words = At<topk::MaskWords>(topk::kMask, topk::kChunk / 32);
  const uint32_t inverted = best.IsInverted() ? UINT32_MAX : 0;
  const int count = x.GetValidCol();
  for (int at = 0; at < count; at += 32) {
    uint32_t bits = words.GetValue(at / 32) ^ inverted;
    if (count - at < 32) bits &= (1u << (count - at)) - 1;
    for (; bits != 0; bits &= bits - 1) {
      const int i = at + __builtin_ctz(bits);
      best.Consider(x.GetValue(i), first + i);
    }
  }
}

/// Finds the want best elements of a row behind last.
template <class T>
AICORE void Find(Row<T>& row, Best& best, __gm__ T* data, int64_t length, topk::Order order,
                 int want, Taken last) {
  best.Start(order, want, last);
  row.ForEachChunk(data, length, [&](Chunk x, int64_t first) {
    if (first == 0 && last.index < 0 && order.kind != Kind::kNan) best.BoundBy(x);
    auto mask = At<topk::Mask>(topk::kMask, (x.GetValidCol() + 7) / 8);
    best.Compare(mask, x);
    set_flag(PIPE_V, PIPE_S, EVENT_ID2);
    wait_flag(PIPE_V, PIPE_S, EVENT_ID2);  // the mask is there
    ScanMask(best, x, first);
    best.Settle(first + topk::kChunk >= length);
    return !best.IsFinal();
  });
}

/// Stores count elements one behind the other.
template <class LineT, class T>
AICORE void StoreLine(__gm__ T* to, LineT& line) {
  const int count = line.GetValidCol();
  GlobalTensor<T, Shape<1, 1, 1, 1, -1>, Stride<1, 1, 1, -1, 1>> global(to, {count}, {count});
  TSTORE(global, line);
}

/// Stores the scores and indexes of the best; negated: keys are negative values.
template <class T>
AICORE void Emit(const Best& best, bool negated, __gm__ T* values, __gm__ int64_t* indexes) {
  const int count = best.count();
  auto records = At<topk::Records>(topk::kBest, 2 * count);
  auto words = At<topk::Line<int32_t, 2 * topk::kMost>>(topk::kBest, 2 * count);
  auto scores = At<topk::Keys>(topk::kScores, count);
  auto numbers = At<topk::Line<int32_t, topk::kMost>>(topk::kNumbers, count);
  auto wide_numbers = At<topk::Line<int64_t, topk::kMost>>(topk::kWideNumbers, count);
  auto narrowed = At<topk::Line<T, topk::kMost>>(topk::kNarrowed, count);
  wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);  // what was there was stored
  TGATHER<decltype(scores), decltype(records), MaskPattern::P0101>(scores, records);
  TGATHER<decltype(numbers), decltype(words), MaskPattern::P1010>(numbers, words);
  if (negated) TMULS(scores, scores, -1.0f);
  if constexpr (!std::is_same_v<T, float>)
    TCVT(narrowed, scores, RoundMode::CAST_RINT, SaturationMode::OFF);
  TCVT(wide_numbers, numbers, RoundMode::CAST_NONE);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);  // values and indexes are there
  if constexpr (std::is_same_v<T, float>) {
    StoreLine(values, scores);
  } else {
    StoreLine(values, narrowed);
  }
  StoreLine(indexes, wide_numbers);
  set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
}

/// The k best of a row, as many at a time as UB holds.
template <class T>
AICORE void SelectRow(Row<T>& row, Best& best, __gm__ T* data, const TopkTiling& tiling,
                      __gm__ T* values, __gm__ int64_t* indexes) {
  const bool largest = tiling.largest != 0;
  topk::Order order = {largest ? Kind::kLargest : Kind::kSmallest};
  Taken last = {0, -1};
  for (int64_t done = 0; done < tiling.k;) {
    const int64_t left = tiling.k - done;
    const int want = static_cast<int>(left < topk::kMost ? left : topk::kMost);
    Find(row, best, data, tiling.length, order, want, last);
    const bool ended = best.count() < want;  // of the smallest numbers: what is left is NaN
    if (best.count() > 0) {
      last = best.Last();
      Emit(best, !largest, values + done, indexes + done);
      done += best.count();
    }
    if (!ended) continue;
    if (order.kind == Kind::kNan) break;  // somebody writes to x meanwhile
    order.kind = Kind::kNan;
    last = {0, -1};
  }
}

AICORE int64_t OffsetOf(const TopkTiling& tiling, int64_t row) {
  int64_t offset = 0;
  for (int64_t d = tiling.dims - 1; d >= 0; --d) {
    offset += row % tiling.shape[d] * tiling.stride[d];
    row /= tiling.shape[d];
  }
  return offset;
}

template <class T>
AICORE void Run(GM_ADDR values, GM_ADDR indexes, GM_ADDR x, const TopkTiling& tiling) {
  Row<T> row;
  Best best;
  set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);  // the place of results starts free
  const int64_t end = tiling.rows * (get_block_idx() + 1) / get_block_num();
  for (int64_t r = tiling.rows * get_block_idx() / get_block_num(); r < end; ++r) {
    SelectRow(row, best, (__gm__ T*)x + OffsetOf(tiling, r), tiling,
              (__gm__ T*)values + r * tiling.k, (__gm__ int64_t*)indexes + r * tiling.k);
  }
  wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);  // leave no flag set
  row.Finish();
}

}  // namespace

extern "C" __global__ AICORE void my_topk_float(GM_ADDR values, GM_ADDR indexes, GM_ADDR x,
                                                TopkTiling tiling) {
  Run<float>(values, indexes, x, tiling);
}

extern "C" __global__ AICORE void my_topk_half(GM_ADDR values, GM_ADDR indexes, GM_ADDR x,
                                               TopkTiling tiling) {
  Run<half>(values, indexes, x, tiling);
}

extern "C" __global__ AICORE void my_topk_bfloat16(GM_ADDR values, GM_ADDR indexes, GM_ADDR x,
                                                   TopkTiling tiling) {
  Run<bfloat16_t>(values, indexes, x, tiling);
}
