// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>

#include "pto/copy_tile.hpp"
#include "pto/index.hpp"
#include "pto/instr/elementwise.hpp"

namespace pto {

/// How many records a merge took from each list.
struct MrgSortExecutedNumList {
  uint16_t mrgSortList0;
  uint16_t mrgSortList1;
  uint16_t mrgSortList2;
  uint16_t mrgSortList3;
};

namespace detail {

inline constexpr TypeRule kSorted = {kHalf | kFloat, kHalf | kFloat};
inline constexpr size_t kSortGroup = 32;  // elements that are sorted together
inline constexpr size_t kMostLists = 4;   // that are merged together

/// A score and an index in 8 bytes; of half the score takes the first 2, and 2 are 0.
template <class T>
struct Record {
  T score;
  uint32_t index;
};
template <>
struct Record<half> {
  half score;
  uint16_t zero;
  uint32_t index;
};

/// Elements of type T that a record takes.
template <class T>
inline constexpr size_t kRecordLength = sizeof(Record<T>) / sizeof(T);

/// A number for the place of a score: a higher one stands before a lower one, positive NaN first,
/// then descending, then negative NaN. The two zeros are equal.
template <class T>
inline int32_t SortKey(T score) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  const auto value = static_cast<float>(score);
  int32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const int32_t number = value == 0 ? 0 : bits ^ (bits >> 31 & kMost);
  return value == value ? number : kMost ^ bits >> 31;
}

/// Writes the sorted records of count scores, equal ones in order, and as many of the group's other
/// places as there is room for, which hold negative NaN.
template <class T>
inline void SortGroup(T* out, size_t room, const T* scores, const uint32_t* indexes, size_t count) {
  Record<T> records[kSortGroup] = {}, sorted[kSortGroup];
  int32_t key[kSortGroup], place[kSortGroup] = {};
  for (size_t i = 0; i < kSortGroup; ++i) {
    records[i].score = i < count ? scores[i] : static_cast<T>(-__builtin_nanf(""));
    records[i].index = i < count ? indexes[i] : 0;
  }
  for (size_t i = 0; i < kSortGroup; ++i) key[i] = SortKey(records[i].score);
  // The place of each is the number of those before it: no branches, all lanes of a vector.
  for (size_t other = 0; other < kSortGroup; ++other) {
    for (size_t i = 0; i < kSortGroup; ++i) {
      const bool is_before = (key[other] > key[i]) | ((key[other] == key[i]) & (other < i));
      place[i] += static_cast<int32_t>(is_before);
    }
  }
  for (size_t i = 0; i < kSortGroup; ++i) sorted[place[i]] = records[i];
  std::memcpy(static_cast<void*>(out), sorted,
              std::min(kSortGroup, room / kRecordLength<T>) * sizeof(Record<T>));
}

template <class Dst, class Src, class Idx>
[[gnu::noinline]] void SortGroups(Dst& dst, Src& src, Idx& idx, bool whole_groups) {
  using T = typename Dst::DType;
  constexpr const char* kOp = "TSORT32";
  static_assert(std::is_same_v<T, typename Src::DType> && (sizeof(T) == 2 || sizeof(T) == 4),
                "TSORT32: expected dst and src of half or float");
  static_assert(std::is_same_v<typename Idx::DType, uint32_t>,
                "TSORT32: expected indexes of uint32");
  static_assert(kIsPlainVec<Dst> && kIsPlainVec<Src> && kIsPlainVec<Idx>,
                "TSORT32: expected RowMajor Vec tiles");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const auto rows = static_cast<int>(LinesOf(dst).count);
    const size_t cols = LinesOf(src).length;
    const auto sorted = static_cast<int>(whole_groups ? cols / kSortGroup * kSortGroup : cols);
    // Of the last group all records are written that there is room for.
    const auto groups =
        static_cast<int>((static_cast<size_t>(sorted) + kSortGroup - 1) / kSortGroup);
    constexpr int kGroup = static_cast<int>(kSortGroup * kRecordLength<T>);
    report(ElementsOf(src), StartAccess(dst, rows, groups * kGroup, true),
           StartAccess(src, rows, sorted, false),
           StartAccess(idx, idx.GetValidRow() == 1 ? 1 : rows, sorted, false));
  };
  npu::Issue(kOp, npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckType<T>(core, kOp, kSorted);
    CheckTile(core, kOp, "dst", dst);
    CheckTile(core, kOp, "src", src);
    CheckTile(core, kOp, "idx", idx);
    const size_t rows = LinesOf(dst).count, cols = LinesOf(src).length;
    const size_t sorted = whole_groups ? cols / kSortGroup * kSortGroup : cols;
    const bool one_idx = idx.GetValidRow() == 1;
    CheckCovers(kOp, "dst", TileFacts(dst), rows, sorted * kRecordLength<T>);
    CheckCovers(kOp, "src", TileFacts(src), rows, sorted);
    CheckCovers(kOp, "idx", TileFacts(idx), one_idx ? 1 : rows, sorted);
    for (size_t row = 0; row < rows; ++row) {
      const uint32_t* indexes = idx.data() + (one_idx ? 0 : row * Idx::Cols);
      for (size_t col = 0; col < sorted; col += kSortGroup) {
        const size_t at = col * kRecordLength<T>;
        if constexpr (IsComputed<T>(kSorted)) {
          SortGroup(dst.data() + row * Dst::Cols + at, Dst::Cols - at,
                    src.data() + row * Src::Cols + col, indexes + col,
                    std::min(kSortGroup, sorted - col));
        }
      }
    }
  });
}

/// Sorted records in UB.
struct SortedList {
  const std::byte* data;
  size_t records;
  size_t taken = 0;
};

/// Merges lists into to, descending; of equal scores that of the first list goes first. With
/// stops_early until one list has ended. Returns the number of records written.
template <class T>
inline size_t MergeLists(std::byte* to, SortedList* lists, size_t count, bool stops_early) {
  constexpr size_t kBytes = sizeof(Record<T>);
  constexpr int64_t kEnded = std::numeric_limits<int64_t>::min();
  int64_t next[kMostLists] = {kEnded, kEnded, kEnded, kEnded};  // keys
  const auto look = [&](size_t i) {
    const SortedList& list = lists[i];
    T value;
    if (list.taken == list.records) return kEnded;
    std::memcpy(static_cast<void*>(&value), list.data + list.taken * kBytes, sizeof(T));
    return static_cast<int64_t>(SortKey(value));
  };
  for (size_t i = 0; i < count; ++i) next[i] = look(i);
  for (size_t written = 0;; ++written) {
    const size_t low = next[1] > next[0] ? 1 : 0, high = next[3] > next[2] ? 3 : 2;
    const size_t first = next[high] > next[low] ? high : low;
    if (next[first] == kEnded) return written;
    SortedList& list = lists[first];
    std::memmove(to + written * kBytes, list.data + list.taken * kBytes, kBytes);
    ++list.taken;
    next[first] = look(first);
    if (next[first] == kEnded && stops_early) return written + 1;
  }
}

NPU_ONE_BODY(void CheckBlockLength(uint32_t length, int columns)) {
  const auto given = static_cast<int32_t>(length);  // by a caller with an int
  if (given <= 0 || given % 64 != 0) {
    npu::RaiseFault("TMRGSORT", "a blockLen of a multiple of 64", npu::TextOf(given));
  }
  const int64_t merged = static_cast<int64_t>(length) * static_cast<int64_t>(kMostLists);
  if (columns % merged == 0 && columns / merged >= 1 && columns / merged <= 255) return;
  npu::RaiseFault(
      "TMRGSORT",
      "a src of 1 to 255 times " + npu::TextOf(merged) + " valid columns (4 blocks of blockLen)",
      npu::TextOf(columns));
}

template <class Dst, class... Src>
constexpr void CheckMergedTypes() {
  using T = typename Dst::DType;
  static_assert(
      (sizeof(T) == 2 || sizeof(T) == 4) && (std::is_same_v<T, typename Src::DType> && ...),
      "TMRGSORT: expected tiles of half, or of float");
  static_assert(Dst::Rows == 1 && ((Src::Rows == 1) && ...), "TMRGSORT: expected tiles of one row");
  static_assert(kIsPlainVec<Dst> && (kIsPlainVec<Src> && ...),
                "TMRGSORT: expected RowMajor Vec tiles");
}

template <class Dst, class Src>
[[gnu::noinline]] void MergeBlocks(Dst& dst, Src& src, uint32_t block_length) {
  using T = typename Dst::DType;
  CheckMergedTypes<Dst, Src>();
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    report(ElementsOf(src), StartAccess(dst, 1, static_cast<int>(LinesOf(src).length), true),
           Reads(src));
  };
  npu::Issue("TMRGSORT", npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckType<T>(core, "TMRGSORT", kSorted);
    CheckTile(core, "TMRGSORT", "dst", dst);
    CheckTile(core, "TMRGSORT", "src", src);
    const size_t columns = LinesOf(src).length;
    CheckBlockLength(block_length, static_cast<int>(columns));
    CheckCovers("TMRGSORT", "dst", TileFacts(dst), 1, columns);
    const size_t bytes = block_length * sizeof(T), merged = bytes * kMostLists;
    auto* to = reinterpret_cast<std::byte*>(dst.data());
    const auto* from = reinterpret_cast<const std::byte*>(src.data());
    for (size_t at = 0; at < columns * sizeof(T); at += merged) {
      SortedList lists[kMostLists];
      for (size_t i = 0; i < kMostLists; ++i)
        lists[i] = {from + at + i * bytes, bytes / sizeof(Record<T>)};
      if constexpr (IsComputed<T>(kSorted)) MergeLists<T>(to + at, lists, kMostLists, false);
    }
  });
}

/// How many records a merge writes, for observers.
template <bool kStopsEarly, class... Src>
inline size_t MergedRecords(const Src&... src) {
  using T = std::common_type_t<typename Src::DType...>;
  SortedList lists[kMostLists] = {
      {reinterpret_cast<const std::byte*>(src.data()), LinesOf(src).length / kRecordLength<T>}...};
  size_t records = 0;
  for (const SortedList& list : lists) records += list.records;
  if (!kStopsEarly || !(npu::IsPlace(src.data()) && ...)) return records;
  const auto copy = std::make_unique<std::byte[]>(records * sizeof(Record<T>));
  if constexpr (IsComputed<T>(kSorted)) {
    records = MergeLists<T>(copy.get(), lists, sizeof...(Src), true);
  }
  return records;
}

template <bool kStopsEarly, class Dst, class Tmp, class... Src>
[[gnu::noinline]] void MergeTiles(Dst& dst, MrgSortExecutedNumList& executed, Tmp& tmp,
                                  Src&... src) {
  using T = typename Dst::DType;
  CheckMergedTypes<Dst, Tmp, Src...>();
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    // Records are merged into tmp, and what dst takes is copied from there.
    const int merged = static_cast<int>(MergedRecords<kStopsEarly>(src...) * kRecordLength<T>);
    const int taken = static_cast<int>(LinesOf(dst).length);
    // What the merge has just written itself need not have been there.
    report(ElementsOf(dst), Writes(dst), StartAccess(tmp, 1, merged, true),
           StartAccess(tmp, 1, taken > merged ? taken : 0, false), Reads(src)...);
  };
  const auto merge = [&] {
    const npu::Core& core = *npu::current_core;
    CheckType<T>(core, "TMRGSORT", kSorted);
    CheckTile(core, "TMRGSORT", "dst", dst);
    CheckTile(core, "TMRGSORT", "tmp", tmp);
    (CheckTile(core, "TMRGSORT", "a source", src), ...);
    SortedList lists[kMostLists] = {{reinterpret_cast<const std::byte*>(src.data()),
                                     LinesOf(src).length / kRecordLength<T>}...};
    size_t records = 0;
    for (const SortedList& list : lists) records += list.records;
    const size_t written = LinesOf(dst).length;
    CheckCovers("TMRGSORT", "tmp", TileFacts(tmp), 1,
                std::max(records * kRecordLength<T>, written));
    if constexpr (IsComputed<T>(kSorted)) {
      MergeLists<T>(reinterpret_cast<std::byte*>(tmp.data()), lists, sizeof...(Src), kStopsEarly);
    }
    std::memmove(static_cast<void*>(dst.data()), tmp.data(), written * sizeof(T));
    if (!kStopsEarly) return;
    const auto taken = [&](size_t i) { return static_cast<uint16_t>(lists[i].taken); };
    executed = {taken(0), taken(1), taken(2), taken(3)};
  };
  npu::Issue("TMRGSORT", npu::Pipe::kV, call_site, operands, merge, kStopsEarly);
}

}  // namespace detail

/// Columns of the scratch tile of a merge.
template <class... Src>
constexpr uint32_t GETMRGSORTTMPSIZE() {
  return (static_cast<uint32_t>(Src::Cols) + ...);
}

/// Each 32 valid columns of a row of src, sorted in descending order, go to dst as records of 8
/// bytes: the score (half: and 2 bytes of 0), then the uint32 of idx at its place. Equal scores
/// stay in order; NaN stands at the end that its sign tells.
///   dst, src  Vec RowMajor tiles of half or float; valid rows as in dst
///   idx       Vec RowMajor tile of uint32; one valid row serves all rows of src
/// Valid columns behind the last 32 are left out, but with a scratch tile, not touched here.
/// Pipe V. Source: PTO ISA, TSORT32.
template <class Dst, class Src, class Idx>
[[gnu::always_inline]] inline RecordEvent TSORT32(Dst& dst, Src& src, Idx& idx) {
  detail::SortGroups(dst, src, idx, true);
  npu::KeepCallSite();
  return {};
}
template <class Dst, class Src, class Idx, class Tmp>
[[gnu::always_inline]] inline RecordEvent TSORT32(Dst& dst, Src& src, Idx& idx, Tmp&) {
  detail::SortGroups(dst, src, idx, false);
  npu::KeepCallSite();
  return {};
}

/// Merges each four blocks of src that follow one another, sorted records as TSORT32 writes them,
/// into one of dst. Of equal scores that of the first block goes first.
///   dst, src  Vec tiles of one row of half or float; the valid columns of src are a multiple of 4
///             blocks
///   blockLen  elements of a block, a multiple of 64
/// Pipe V. Source: PTO ISA, TMRGSORT.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TMRGSORT(Dst& dst, Src& src, uint32_t blockLen,
                                                   Events&... events) {
  (events.Wait(), ...);
  detail::MergeBlocks(dst, src, blockLen);
  npu::KeepCallSite();
  return {};
}

/// dst = the first of the records of two, three or four sorted sources, merged as above.
///   dst       Vec tile of one row; its valid columns are written. May be one of the sources
///   executed  with kExhausted, which ends the merge when one source has ended: the records taken
///             from each source; dst behind them is what was in tmp
///   tmp       scratch tile with room for all records: the merge goes there
template <class Dst, class Tmp, class Src0, class Src1, class Src2, class Src3, bool kExhausted,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TMRGSORT(Dst& dst, MrgSortExecutedNumList& executed,
                                                   Tmp& tmp, Src0& src0, Src1& src1, Src2& src2,
                                                   Src3& src3, Events&... events) {
  (events.Wait(), ...);
  detail::MergeTiles<kExhausted>(dst, executed, tmp, src0, src1, src2, src3);
  npu::KeepCallSite();
  return {};
}
template <class Dst, class Tmp, class Src0, class Src1, class Src2, bool kExhausted,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TMRGSORT(Dst& dst, MrgSortExecutedNumList& executed,
                                                   Tmp& tmp, Src0& src0, Src1& src1, Src2& src2,
                                                   Events&... events) {
  (events.Wait(), ...);
  detail::MergeTiles<kExhausted>(dst, executed, tmp, src0, src1, src2);
  npu::KeepCallSite();
  return {};
}
template <class Dst, class Tmp, class Src0, class Src1, bool kExhausted, class... Events>
[[gnu::always_inline]] inline RecordEvent TMRGSORT(Dst& dst, MrgSortExecutedNumList& executed,
                                                   Tmp& tmp, Src0& src0, Src1& src1,
                                                   Events&... events) {
  (events.Wait(), ...);
  detail::MergeTiles<kExhausted>(dst, executed, tmp, src0, src1);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
