// SPDX-License-Identifier: Apache-2.0
// The k best elements of a row by the instructions that sort. Elements that may be among them are
// picked by a comparison, and what was picked is sorted and merged into the best so far, whose last
// one is the next to be compared with.
#pragma once

#include "pto/pto-inst.hpp"
#include "pto/view.hpp"
#include "tiling/topk.h"

namespace topk {

using namespace pto;

constexpr int kChunk = 4096;  // elements of a row that are loaded at once
constexpr int kMost = 2048;   // elements that are sorted, or kept, at once
constexpr int kEnough = 32;   // picked elements that are worth being sorted: a group of TSORT32

/// Places in UB.
enum Place : unsigned {
  kChunks = 0,  // two
  kMask = 32 * 1024,
  kKeys = 34 * 1024,
  kIndexes = 42 * 1024,
  kSorted = 50 * 1024,  // two
  kBest = 82 * 1024,
  kMerged = 98 * 1024,
  kScores = 130 * 1024,
  kNarrowed = 138 * 1024,
  kNumbers = 142 * 1024,
  kWideNumbers = 150 * 1024,
};

template <class T, int kLength>
using Line = Tile<TileType::Vec, T, 1, kLength, BLayout::RowMajor, 1, -1>;
using Chunk = Line<float, kChunk>;
using Keys = Line<float, kMost>;
using Indexes = Line<uint32_t, kMost>;
using Records = Line<float, 2 * kMost>;
using Mask = Line<uint8_t, kChunk / 8>;
using MaskWords = Line<uint32_t, kChunk / 32>;

template <class TileT>
AICORE TileT At(unsigned place, int count) {
  TileT tile(count);
  TASSIGN(tile, place);
  return tile;
}

/// What stands behind all others when records are sorted.
AICORE inline float LastKey() { return -__builtin_nanf(""); }
AICORE inline bool IsNan(float value) { return value != value; }

/// Elements at least, or strictly, as good as a value.
struct Bound {
  float value;
  bool is_strict;
};

/// What is looked for: numbers and, where they count as largest, NaN, or NaN alone, which stand
/// behind the smallest numbers.
enum class Kind { kLargest, kSmallest, kNan };

/// Which elements come before which: in descending or ascending order, of equal ones and of NaN
/// the first one.
struct Order {
  Kind kind;

  /// A bound that all elements of this kind pass.
  AICORE Bound None() const {
    return {kind == Kind::kLargest ? -__builtin_inff() : __builtin_inff(), false};
  }
  AICORE bool Passes(float value, Bound bound) const {
    if (kind == Kind::kNan) return IsNan(value);
    if (kind == Kind::kLargest)
      return bound.is_strict ? !(value <= bound.value) : !(value < bound.value);
    return bound.is_strict ? value < bound.value : value <= bound.value;
  }
  /// Bits of mask for elements that pass, or, where this is true, for the others.
  AICORE bool IsInverted() const { return kind != Kind::kSmallest; }
  AICORE void Compare(Mask& mask, Chunk& x, Bound bound) const {
    if (kind == Kind::kNan) {
      TCMP(mask, x, x, CmpMode::EQ);
    } else if ((kind == Kind::kLargest) == bound.is_strict) {
      TCMPS(mask, x, bound.value, CmpMode::LE);
    } else {
      TCMPS(mask, x, bound.value, CmpMode::LT);
    }
  }
  /// An element as a key, which is sorted in descending order.
  AICORE float KeyOf(float value) const {
    if (kind == Kind::kNan) return LastKey();  // whatever its sign
    if (kind == Kind::kLargest) return IsNan(value) ? __builtin_nanf("") : value;
    return -value;
  }
  AICORE float ValueOf(float key) const { return kind == Kind::kLargest ? key : -key; }
  /// True if key a is before key b whatever their places.
  AICORE bool IsBefore(float a, float b) const {
    if (IsNan(a) || IsNan(b)) return kind == Kind::kLargest && IsNan(a) && !IsNan(b);
    return a > b;
  }
};

/// An element that was among the best of a row.
struct Taken {
  float key;
  int64_t index;  // -1: none
};

/// The best elements so far, as sorted records, and those picked to be sorted in. Keys of both are
/// written by the scalar pipe.
class Best {
 public:
  AICORE Best() {
    auto indexes = At<Line<int32_t, kMost>>(kIndexes, kMost);
    TEXPANDS(indexes, 0);  // records of padding have some
    auto words = At<Line<int32_t, kChunk / 32>>(kMask, kChunk / 32);
    TEXPANDS(words, 0);  // the last word of a mask may have no bits
  }

  /// Begins to look for the want best behind last.
  AICORE void Start(Order order, int want, Taken last) {
    order_ = order;
    want_ = want;
    last_ = last;
    count_ = picked_ = 0;
    bound_ = order.None();
  }

  /// Raises the bound to what the first elements of a row show: the best of kColumns disjoint parts
  /// are elements, of which the k-th best is a bound. Before anything was picked.
  template <int kColumns = 32>
  AICORE void BoundBy(Chunk& x) {
    const int rows = x.GetValidCol() / kColumns;
    if constexpr (4 * kColumns <= kMost) {
      if (2 * want_ > kColumns && rows >= 8) return BoundBy<4 * kColumns>(x);
    }
    if (want_ > kColumns || rows < 2) return;
    Tile<TileType::Vec, float, kChunk / kColumns, kColumns, BLayout::RowMajor, -1, -1> parts(
        rows, kColumns);
    parts.data() = x.data();
    Line<float, kColumns> best(kColumns);
    TASSIGN(best, kKeys);
    BestOfParts(best, parts);
    const unsigned sorted = Sort(kColumns);
    set_flag(PIPE_V, PIPE_S, EVENT_ID1);
    wait_flag(PIPE_V, PIPE_S, EVENT_ID1);  // parts are sorted
    const float key = At<Records>(sorted, 2 * kColumns).GetValue(2 * (want_ - 1));
    if (!IsNan(key)) bound_ = {order_.ValueOf(key), false};
  }

  /// mask: what Consider is for.
  AICORE void Compare(Mask& mask, Chunk& x) const { order_.Compare(mask, x, bound_); }
  AICORE bool IsInverted() const { return order_.IsInverted(); }

  /// Picks an element if it may be among the best.
  AICORE void Consider(float value, int64_t index) {
    if (!order_.Passes(value, bound_)) return;
    const float key = order_.KeyOf(value);
    if (last_.index >= 0 && IsTaken(key, index)) return;
    keys_.SetValue(picked_, key);
    indexes_.SetValue(picked_, static_cast<uint32_t>(index));
    if (++picked_ == kMost) Flush();
  }

  /// Sorts in what was picked, if that is worth it or must be.
  AICORE void Settle(bool must) {
    if (picked_ >= (must ? 1 : kEnough)) Flush();
  }

  /// True if no element that follows in the row can be among the best.
  AICORE bool IsFinal() const {
    return count_ == want_ && (order_.kind == Kind::kNan || IsNan(bound_.value));
  }

  AICORE int count() const { return count_; }
  /// The last one of the best, for the scalar pipe.
  AICORE Taken Last() const {
    auto records = At<Records>(kBest, 2 * count_);
    auto numbers = At<Line<uint32_t, 2 * kMost>>(kBest, 2 * count_);
    const auto at = static_cast<uint32_t>(2 * (count_ - 1));
    return {records.GetValue(at), static_cast<int64_t>(numbers.GetValue(at + 1))};
  }

 private:
  template <class Line, class Parts>
  AICORE void BestOfParts(Line& best, Parts& parts) const {
    if (order_.kind == Kind::kLargest) {
      TCOLMAX(best, parts);
      return;
    }
    TCOLMIN(best, parts);
    auto mask = At<Mask>(kMask, (best.GetValidCol() + 7) / 8);
    auto scratch = At<Keys>(kMerged, kMost);
    TCMP(mask, best, best, CmpMode::EQ);
    TMULS(best, best, -1.0f);
    TSELS(best, mask, best, scratch, LastKey());  // a part with NaN shows nothing
  }

  AICORE bool IsTaken(float key, int64_t index) const {
    if (order_.IsBefore(key, last_.key)) return true;
    return !order_.IsBefore(last_.key, key) && index <= last_.index;
  }

  /// Sorts the first count keys, 32 times a power of 4; returns where their records are.
  AICORE static unsigned Sort(int count) {
    auto keys = At<Keys>(kKeys, count);
    auto indexes = At<Indexes>(kIndexes, count);
    unsigned from = kSorted, to = kSorted + 2 * kMost * sizeof(float);
    auto groups = At<Records>(from, 2 * count);
    TSORT32(groups, keys, indexes);
    for (int block = 32; block < count; block *= 4) {
      auto src = At<Records>(from, 2 * count), dst = At<Records>(to, 2 * count);
      TMRGSORT(dst, src, static_cast<uint32_t>(2 * block));
      const unsigned merged = to;
      to = from;
      from = merged;
    }
    return from;
  }

  AICORE void Flush() {
    int padded = 32;
    while (padded < picked_) padded *= 4;
    for (int i = picked_; i < padded; ++i) keys_.SetValue(i, LastKey());
    set_flag(PIPE_S, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_S, PIPE_V, EVENT_ID0);  // keys and indexes are there
    Merge(Sort(padded));
    set_flag(PIPE_V, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_S, EVENT_ID0);  // they were read, the best are known
    picked_ = 0;
    if (count_ == want_) bound_ = {order_.ValueOf(Last().key), true};
  }

  /// The best of the best and of the sorted records of what was picked.
  AICORE void Merge(unsigned sorted) {
    const int all = count_ + picked_, kept = all < want_ ? all : want_;
    auto best = At<Records>(kBest, 2 * kept);
    if (count_ == 0) {
      auto first = At<Records>(sorted, 2 * kept);
      TMOV(best, first);
    } else {
      auto old = At<Records>(kBest, 2 * count_), more = At<Records>(sorted, 2 * picked_);
      auto merged = At<Line<float, 4 * kMost>>(kMerged, 2 * all);
      MrgSortExecutedNumList executed;
      TMRGSORT<Records, decltype(merged), Records, Records, false>(best, executed, merged, old,
                                                                   more);
    }
    count_ = kept;
  }

  Keys keys_ = At<Keys>(kKeys, kMost);
  Indexes indexes_ = At<Indexes>(kIndexes, kMost);
  Order order_ = {};
  Bound bound_ = {};
  Taken last_ = {};
  int want_ = 0;
  int count_ = 0;
  int picked_ = 0;
};

}  // namespace topk
