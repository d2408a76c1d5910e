// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "pto/inner_flags.hpp"
#include "pto/instr/elementwise.hpp"
#include "pto/table.hpp"
#include "pto/traits.hpp"

namespace pto {

namespace detail {

constexpr Beyond BeyondOf(GatherOOB oob) { return static_cast<Beyond>(oob); }

template <class Dst, class Idx>
void GatherTableRows(npu::Core& core, const Dst& dst, const Table& table, const Idx& idx,
                     Beyond beyond) {
  using T = typename Dst::DType;
  const auto rows = static_cast<size_t>(std::clamp(dst.GetValidRow(), 0, Dst::Rows));
  if (beyond == Beyond::kLeftOut && table.global.Boxed())
    std::memset(static_cast<void*>(dst.data()), 0, Dst::Numel * sizeof(T));
  for (size_t row = 0; row < rows; ++row) {
    const size_t place = PlaceOf(beyond, RowIndex(idx, row), table.rows);
    if (!IsLeftOut(beyond, place, table.rows)) {
      ForEachRowPiece(dst, table, row, place, [&](T* to, const char* from, size_t count) {
        CheckInMemory(core, "MGATHER", table.global.data, from, count * sizeof(T));
        std::memcpy(static_cast<void*>(to), from, count * sizeof(T));
      });
    } else if (!table.global.Boxed()) {
      std::memset(static_cast<void*>(ElementOf(dst, row, 0)), 0, MovedCols(dst, table) * sizeof(T));
    }
  }
}

template <class Dst, class Idx>
void GatherTableElements(npu::Core& core, const Dst& dst, const Table& table, const Idx& idx,
                         Beyond beyond) {
  using T = typename Dst::DType;
  const size_t count = table.rows * table.cols;
  ForEachElement(dst, [&](size_t row, size_t col) {
    const auto index = static_cast<uint32_t>(*ElementOf(idx, row, col));
    const size_t place = PlaceOf(beyond, index, count);
    T value = {};
    if (!IsLeftOut(beyond, place, count)) {
      const char* from = table.Element(place);
      CheckInMemory(core, "MGATHER", table.global.data, from, sizeof(T));
      std::memcpy(static_cast<void*>(&value), from, sizeof(T));
    }
    *ElementOf(dst, row, col) = value;
  });
}

template <class Dst, class Global, class Idx>
[[gnu::noinline]] void GatherFromTable(Dst& dst, Global& global, Idx& idx, bool by_rows,
                                       Beyond beyond) {
  CheckPairing<Dst, Global>();
  const void* call_site = __builtin_return_address(0);
  const Table table(global);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const npu::Work work = {ElementsOf(dst).elements,
                            ElementsOf(dst).elements * sizeof(*dst.data()), 0};
    const bool is_whole = by_rows && beyond == Beyond::kLeftOut && table.global.Boxed();
    CheckIndexed(*npu::current_core, "MGATHER", "dst", dst, table, idx, by_rows);
    report(work,
           is_whole ? AccessOfWhole(TileFacts(dst), true) : MovedPart(dst, table, by_rows, true),
           PlacesInTable(dst, table, idx, by_rows, beyond, false), ReadsIndexes(dst, idx, by_rows));
  };
  const npu::Pipe pipe = PipeOfTable("MGATHER", by_rows, npu::Pipe::kMte2);
  BeginTable("MGATHER", pipe);
  npu::Issue("MGATHER", pipe, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    CheckIndexed(core, "MGATHER", "dst", dst, table, idx, by_rows);
    if (by_rows) {
      GatherTableRows(core, dst, table, idx, beyond);
    } else {
      GatherTableElements(core, dst, table, idx, beyond);
    }
  });
  EndTable("MGATHER", pipe);
}

/// Indexes in global memory, rows of them stride[3] apart.
template <class Idx>
inline uint32_t GlobalIndex(npu::Core& core, const Idx& idx, int64_t at) {
  using Index = typename Idx::RawDType;
  const auto* start = reinterpret_cast<const char*>(idx.data());
  const char* place = start + at * static_cast<int64_t>(sizeof(Index));
  CheckInMemory(core, "MGATHER", start, place, sizeof(Index));
  Index index;
  std::memcpy(&index, place, sizeof(index));
  return static_cast<uint32_t>(index);
}

/// The indexes that are read: rows of them, stride[3] apart.
template <class Idx>
inline npu::Access IndexAccess(const Idx& idx, size_t rows, size_t cols) {
  constexpr size_t kBytes = sizeof(typename Idx::RawDType);
  const auto pitch = static_cast<size_t>(std::max<int64_t>(idx.GetStride(3), 0)) * kBytes;
  return {npu::Space::kGm, false, idx.data(), cols == 0 ? 0 : rows, cols * kBytes, pitch};
}

template <class Dst, class Global, class Idx>
inline void CheckGatherToL1(const npu::Core& core, const Dst& dst, const Table& table) {
  static_assert(Dst::Loc == TileType::Mat && !Dst::isRowMajor && Dst::isInnerRowMajor,
                "MGATHER: expected a Mat tile of layout NZ, for indexes in global memory");
  static_assert(Global::layout == Layout::ND &&
                    std::is_same_v<typename Global::RawDType, typename Dst::DType>,
                "MGATHER: expected a table of layout ND and the element type of dst");
  static_assert(std::is_integral_v<typename Idx::RawDType> && sizeof(typename Idx::RawDType) == 4,
                "MGATHER: expected indexes of int32 or uint32");
  CheckType<typename Dst::DType>(core, "MGATHER", kTableTypes);
  CheckTile(core, "MGATHER", "dst", dst);
  if (table.rows == 0 || table.cols == 0) RaiseEmpty("MGATHER");
}

/// Rows of a table to boxes in L1. The rest of a row's last block is 0.
template <class Dst, class Global, class Idx>
[[gnu::noinline]] void GatherRowsToL1(Dst& dst, Global& global, Idx& idx, Beyond beyond) {
  using T = typename Dst::DType;
  const void* call_site = __builtin_return_address(0);
  const Table table(global);
  const auto operands = [&](auto report) __attribute__((cold)) {
    constexpr size_t kRun = Order<Dst>::kRun;
    npu::Core& core = *npu::current_core;
    CheckGatherToL1<Dst, Global, Idx>(core, dst, table);
    const auto to = LinesOf(dst);
    npu::AccessList read;
    for (size_t row = 0; row < to.count; ++row) {
      const uint32_t index = GlobalIndex(core, idx, static_cast<int64_t>(row));
      const size_t place = PlaceOf(beyond, index, table.rows);
      if (IsLeftOut(beyond, place, table.rows)) continue;
      read.AddBytes(npu::Space::kGm, false, table.Element(place, 0), to.length * sizeof(T));
    }
    const LinePart blocks = {0, 0, to.count, (to.length + kRun - 1) / kRun * kRun};
    report(ElementsOf(dst),
           beyond == Beyond::kLeftOut ? AccessOfWhole(TileFacts(dst), true)
                                      : AccessOf(TileFacts(dst), blocks, true),
           read, IndexAccess(idx, 1, to.count));
  };
  npu::Issue("MGATHER", npu::Pipe::kMte2, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    CheckGatherToL1<Dst, Global, Idx>(core, dst, table);
    const auto to = LinesOf(dst);
    if (beyond == Beyond::kLeftOut)
      std::memset(static_cast<void*>(dst.data()), 0, Dst::Numel * sizeof(T));
    for (size_t row = 0; row < to.count; ++row) {
      const uint32_t index = GlobalIndex(core, idx, static_cast<int64_t>(row));
      const size_t place = PlaceOf(beyond, index, table.rows);
      if (IsLeftOut(beyond, place, table.rows)) continue;
      const char* from = table.Element(place, 0);
      CheckInMemory(core, "MGATHER", table.global.data, from, to.length * sizeof(T));
      for (size_t col = 0; col < to.length; col += Order<Dst>::kRun) {
        T* block = to(row, col);
        const size_t count = std::min(Order<Dst>::kRun, to.length - col);
        std::memset(static_cast<void*>(block), 0, Order<Dst>::kRun * sizeof(T));
        std::memcpy(static_cast<void*>(block), from + col * sizeof(T), count * sizeof(T));
      }
    }
  });
}

/// Elements of a table to boxes in L1, by way of scratch, which holds them in the order of dst.
template <class Dst, class Global, class Idx, class Scratch>
[[gnu::noinline]] void GatherElementsToL1(Dst& dst, Global& global, Idx& idx, Scratch& scratch,
                                          Beyond beyond) {
  using T = typename Dst::DType;
  static_assert(std::is_same_v<typename Scratch::RawDType, T>,
                "MGATHER: expected scratch of the element type of dst");
  constexpr size_t kBytes = Dst::Numel * sizeof(T);
  const void* call_site = __builtin_return_address(0);
  const Table table(global);
  auto* place = reinterpret_cast<char*>(scratch.data());
  const auto operands = [&](auto report) __attribute__((cold)) {
    npu::Core& core = *npu::current_core;
    CheckGatherToL1<Dst, Global, Idx>(core, dst, table);
    const auto [rows, cols] = ValidExtent(dst);
    const size_t count = table.rows * table.cols;
    npu::AccessList read;
    ForEachElement(dst, [&](size_t row, size_t col) {
      const int64_t at = static_cast<int64_t>(row) * idx.GetStride(3) + static_cast<int64_t>(col);
      const size_t found = PlaceOf(beyond, GlobalIndex(core, idx, at), count);
      if (IsLeftOut(beyond, found, count)) return;
      read.AddBytes(npu::Space::kGm, false, table.Element(found), sizeof(T));
    });
    report(ElementsOf(dst), AccessOfWhole(TileFacts(dst), true), read, IndexAccess(idx, rows, cols),
           npu::Access{npu::Space::kGm, true, place, 1, kBytes, kBytes});
  };
  npu::Issue("MGATHER", npu::Pipe::kMte2, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    CheckGatherToL1<Dst, Global, Idx>(core, dst, table);
    CheckInMemory(core, "MGATHER", place, place, kBytes);
    std::memset(place, 0, kBytes);
    const size_t count = table.rows * table.cols;
    ForEachElement(dst, [&](size_t row, size_t col) {
      const int64_t at = static_cast<int64_t>(row) * idx.GetStride(3) + static_cast<int64_t>(col);
      const size_t found = PlaceOf(beyond, GlobalIndex(core, idx, at), count);
      if (IsLeftOut(beyond, found, count)) return;
      const char* from = table.Element(found);
      CheckInMemory(core, "MGATHER", table.global.data, from, sizeof(T));
      const auto offset = static_cast<size_t>(ElementOf(dst, row, col) - dst.data());
      std::memcpy(place + offset * sizeof(T), from, sizeof(T));
    });
    std::memcpy(static_cast<void*>(dst.data()), place, kBytes);
  });
}

}  // namespace detail

/// Row i of dst = row indexes[0, i] of src (Row), or dst[i, j] = element indexes[i, j] of src in
/// row-major order (Elem), over the valid region of dst.
///   dst      Vec tile of elements of 8, 16 or 32 bits (A5 also 8-bit floats): RowMajor, or NZ for
///   a src of layout NZ,
///            whose whole rows it then takes; or a Mat tile of layout NZ for Row, whose indexes are
///            a global tensor
///   src      global tensor of its dtype: of layout ND packed, for Row with any stride[3]; or NZ
///   indexes  Vec tile of int32 or uint32 that counts as unsigned, RowMajor or one column; of Row
///            one valid row or column
///   kOob     see GatherOOB. Memory outside of the allocation of src is a fault
/// On A2/A3 pipe MTE2 for rows, S for elements, in order with the other pipes of UB without flags;
/// on A5 pipe V, to a Mat tile MTE2. Source: PTO ISA, MGATHER.
template <Coalesce kMode, GatherOOB kOob, class Dst, class Global, class Idx, class... Events,
          std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent MGATHER(Dst& dst, Global& src, Idx& indexes,
                                                  Events&... events) {
  (events.Wait(), ...);
  if (detail::IsOfCubeCore<Dst>()) return {};
  if constexpr (is_global_data_v<Idx>) {
    static_assert(kMode == Coalesce::Row, "MGATHER: expected scratch, for elements to a Mat tile");
    detail::GatherRowsToL1(dst, src, indexes, detail::BeyondOf(kOob));
  } else {
    detail::GatherFromTable(dst, src, indexes, kMode == Coalesce::Row, detail::BeyondOf(kOob));
  }
  npu::KeepCallSite();
  return {};
}
template <Coalesce kMode, class Dst, class Global, class Idx, class... Events,
          std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent MGATHER(Dst& dst, Global& src, Idx& indexes,
                                                  Events&... events) {
  return MGATHER<kMode, GatherOOB::Undefined>(dst, src, indexes, events...);
}
template <class Dst, class Global, class Idx, class... Events,
          std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent MGATHER(Dst& dst, Global& src, Idx& indexes,
                                                  Events&... events) {
  return MGATHER<Coalesce::Row, GatherOOB::Undefined>(dst, src, indexes, events...);
}

/// dst[i, j] = element indexes[i, j] of src, to a Mat tile of layout NZ, whose elements outside of
/// the valid region become 0.
///   src, indexes  global tensors of layout ND, indexes with any stride[3]
///   scratch       global tensor with room for all elements of dst, which is written
/// Pipe MTE2. Source: PTO ISA, MGATHER.
template <Coalesce kMode, GatherOOB kOob, class Dst, class Global, class Idx, class Scratch,
          std::enable_if_t<is_global_data_v<Scratch>, int> = 0>
[[gnu::always_inline]] inline RecordEvent MGATHER(Dst& dst, Global& src, Idx& indexes,
                                                  Scratch& scratch) {
  if (detail::IsOfCubeCore<Dst>()) return {};
  detail::GatherElementsToL1(dst, src, indexes, scratch, detail::BeyondOf(kOob));
  npu::KeepCallSite();
  return {};
}
template <Coalesce kMode, class Dst, class Global, class Idx, class Scratch,
          std::enable_if_t<is_global_data_v<Scratch>, int> = 0>
[[gnu::always_inline]] inline RecordEvent MGATHER(Dst& dst, Global& src, Idx& indexes,
                                                  Scratch& scratch) {
  return MGATHER<kMode, GatherOOB::Undefined>(dst, src, indexes, scratch);
}
template <Coalesce kMode, GatherOOB kOob, GatherExec kExec, class Dst, class Global, class Idx,
          class Scratch, std::enable_if_t<is_global_data_v<Scratch>, int> = 0>
[[gnu::always_inline]] inline RecordEvent MGATHER(Dst& dst, Global& src, Idx& indexes,
                                                  Scratch& scratch) {
  return MGATHER<kMode, kOob>(dst, src, indexes, scratch);
}

}  // namespace pto
