// SPDX-License-Identifier: Apache-2.0
// What the kernels of cross entropy share: labels, which the scalar pipe reads, and columns with a
// value for each row of a tile, which it writes.
#pragma once

#include "pto/common/debug.h"
#include "rows.hpp"
#include "tiling/labels.h"

namespace labels {

using namespace pto;

/// The labels of rows.
class Reader {
 public:
  AICORE Reader(GM_ADDR data, const Labels& labels)
      : data_((__gm__ int64_t*)data), labels_(labels) {}

  AICORE bool IsIgnored(int64_t row) const { return At(row) == labels_.ignored; }

  /// The class of a row that is not ignored.
  AICORE int64_t ClassOf(int64_t row) const {
    const int64_t label = At(row);
    PTO_ASSERT(label >= 0 && label < labels_.classes,
               "a label is one of the classes or ignore_index");
    return label;
  }

  /// How many rows are not ignored.
  AICORE int64_t Count() const {
    int64_t count = 0;
    for (int64_t row = 0; row < labels_.rows; ++row) count += IsIgnored(row) ? 0 : 1;
    return count;
  }

 private:
  AICORE int64_t At(int64_t row) const { return data_[row * labels_.stride]; }

  __gm__ int64_t* data_;
  const Labels& labels_;
};

/// Element at of a tensor, in the type that it is computed in.
template <class T>
AICORE rows::Wide<T> WideAt(__gm__ const T* data, int64_t at) {
  return static_cast<rows::Wide<T>>(data[at]);
}

/// A column in UB that the scalar pipe fills and the vector pipe reads.
template <class Stat>
class Column {
 public:
  AICORE Column() { set_flag(PIPE_V, PIPE_S, EVENT_ID0); }        // starts free
  AICORE void Finish() { wait_flag(PIPE_V, PIPE_S, EVENT_ID0); }  // leaves no flag set

  /// stat[i] = value(i) for each valid row; until Release it is for reading.
  template <class Value>
  AICORE void Fill(Stat& stat, const Value& value) {
    wait_flag(PIPE_V, PIPE_S, EVENT_ID0);  // the column was read
    for (int row = 0; row < stat.GetValidRow(); ++row) stat.SetValue(row, value(row));
    set_flag(PIPE_S, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_S, PIPE_V, EVENT_ID0);  // the column is there
  }
  AICORE void Release() { set_flag(PIPE_V, PIPE_S, EVENT_ID0); }
};

/// change(row) for those rows < count that is_changed(row) names: by the scalar pipe, between what
/// the vector pipe did before and does after.
template <class IsChanged, class Change>
AICORE void ChangeRows(int count, const IsChanged& is_changed, const Change& change) {
  bool waited = false;
  for (int row = 0; row < count; ++row) {
    if (!is_changed(row)) continue;
    if (!waited) {
      set_flag(PIPE_V, PIPE_S, EVENT_ID1);
      wait_flag(PIPE_V, PIPE_S, EVENT_ID1);  // what is changed was computed
      waited = true;
    }
    change(row);
  }
  if (!waited) return;
  set_flag(PIPE_S, PIPE_V, EVENT_ID1);
  wait_flag(PIPE_S, PIPE_V, EVENT_ID1);  // rows are changed
}

/// A column at address as a row of the same memory, to be stored.
template <class Acc, int kLength>
using Line = Tile<TileType::Vec, Acc, 1, kLength, BLayout::RowMajor, 1, -1>;

/// Stores the elements of line one behind the other.
template <class LineT, class T>
AICORE void StoreLine(__gm__ T* to, LineT& line) {
  strided::Global<T> global(to, {1, line.GetValidCol()}, {line.GetValidCol(), 1});
  TSTORE(global, line);
}

/// Stores count elements, which lie at address in the type that T is computed in, rounded to T,
/// where that is another type at scratch. The vector pipe has no more to do with them.
template <class T, int kLength>
AICORE void StoreRounded(__gm__ T* to, unsigned address, int count, unsigned scratch = 0) {
  using Acc = rows::Wide<T>;
  Line<Acc, kLength> line(count);
  TASSIGN(line, address);
  if constexpr (std::is_same_v<T, Acc>) {
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID2);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID2);  // the line is computed
    StoreLine(to, line);
  } else {
    constexpr int kBlock = 32 / sizeof(T);
    Line < T, kLength<kBlock ? kBlock : kLength> rounded(count);
    TASSIGN(rounded, scratch);
    TCVT(rounded, line, RoundMode::CAST_RINT, SaturationMode::OFF);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID2);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID2);  // the line is computed and rounded
    StoreLine(to, rounded);
  }
}

}  // namespace labels
