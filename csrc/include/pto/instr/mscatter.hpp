// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "pto/atomic.hpp"
#include "pto/inner_flags.hpp"
#include "pto/instr/elementwise.hpp"
#include "pto/table.hpp"

namespace pto {

namespace detail {

constexpr Beyond BeyondOf(ScatterOOB oob) {
  constexpr Beyond kModes[] = {Beyond::kUndefined, Beyond::kLeftOut, Beyond::kClamp, Beyond::kWrap};
  return kModes[static_cast<int>(oob)];
}

inline constexpr TypeRule kScatterAdded = {kInt8 | kInt16 | kInt32 | kHalf | kBfloat16 | kFloat,
                                           kInt32 | kUint32 | kHalf | kBfloat16 | kFloat};
inline constexpr TypeRule kScatterCompared = {0, kInt32 | kUint32 | kFloat};

NPU_ONE_BODY(NPU_RAISES void RaiseAtomic(const npu::Core& core, const char* got)) {
  npu::RaiseFault("MSCATTER", npu::Text("operations None or Add on ") + core.arch->soc, got);
}

template <ScatterAtomicOp kOp, class T>
inline void CheckAtomic(const npu::Core& core) {
  constexpr bool kCompares = kOp == ScatterAtomicOp::Max || kOp == ScatterAtomicOp::Min;
  if (kCompares && core.check_limits && core.arch->generation == npu::Generation::kA3)
    RaiseAtomic(core, kOp == ScatterAtomicOp::Max ? "Max" : "Min");
  if (kOp == ScatterAtomicOp::Add) CheckType<T>(core, "MSCATTER", kScatterAdded);
  if (kCompares) CheckType<T>(core, "MSCATTER", kScatterCompared);
}

/// Elements of table = (or +=, or the greater or lesser of both) those of the tile, one by one.
template <ScatterAtomicOp kOp, class T>
inline void PutTable(char* to, const T* from, size_t count) {
  if constexpr (kOp == ScatterAtomicOp::None) {
    std::memcpy(to, from, count * sizeof(T));
  } else {
    auto* table = reinterpret_cast<T*>(to);
    for (size_t i = 0; i < count; ++i) {
      if constexpr (kOp == ScatterAtomicOp::Add) {
        AtomicAdd(table + i, from[i]);
      } else {
        AtomicSelect<kOp == ScatterAtomicOp::Max>(table + i, from[i]);
      }
    }
  }
}

template <ScatterAtomicOp kOp, class Src, class Idx>
void ScatterTableRows(npu::Core& core, const Src& src, const Table& table, const Idx& idx,
                      Beyond beyond) {
  using T = typename Src::DType;
  const auto rows = static_cast<size_t>(std::clamp(src.GetValidRow(), 0, Src::Rows));
  for (size_t row = 0; row < rows; ++row) {
    const size_t place = PlaceOf(beyond, RowIndex(idx, row), table.rows);
    if (IsLeftOut(beyond, place, table.rows)) continue;
    ForEachRowPiece(src, table, row, place, [&](const T* from, char* to, size_t count) {
      CheckInMemory(core, "MSCATTER", table.global.data, to, count * sizeof(T));
      PutTable<kOp>(to, from, count);
    });
  }
}

template <ScatterAtomicOp kOp, class Src, class Idx>
void ScatterTableElements(npu::Core& core, const Src& src, const Table& table, const Idx& idx,
                          Beyond beyond) {
  using T = typename Src::DType;
  const size_t count = table.rows * table.cols;
  ForEachElement(src, [&](size_t row, size_t col) {
    const auto index = static_cast<uint32_t>(*ElementOf(idx, row, col));
    const size_t place = PlaceOf(beyond, index, count);
    if (IsLeftOut(beyond, place, count)) return;
    char* to = table.Element(place);
    CheckInMemory(core, "MSCATTER", table.global.data, to, sizeof(T));
    PutTable<kOp>(to, static_cast<const T*>(ElementOf(src, row, col)), 1);
  });
}

template <ScatterAtomicOp kOp, class Global, class Src, class Idx>
[[gnu::noinline]] void ScatterToTable(Global& global, Src& src, Idx& idx, bool by_rows,
                                      Beyond beyond) {
  CheckPairing<Src, Global>();
  static_assert(!std::is_const_v<typename Global::DType>,
                "MSCATTER: expected a table of elements that may be written");
  const void* call_site = __builtin_return_address(0);
  const Table table(global);
  const auto operands = [&](auto report) __attribute__((cold)) {
    CheckIndexed(*npu::current_core, "MSCATTER", "src", src, table, idx, by_rows);
    report(
        ElementsOf(src),
        PlacesInTable(src, table, idx, by_rows, beyond, true).Atomic(kOp != ScatterAtomicOp::None),
        MovedPart(src, table, by_rows, false), ReadsIndexes(src, idx, by_rows));
  };
  const npu::Pipe pipe = PipeOfTable("MSCATTER", by_rows, npu::Pipe::kMte3);
  BeginTable("MSCATTER", pipe);
  npu::Issue("MSCATTER", pipe, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    CheckIndexed(core, "MSCATTER", "src", src, table, idx, by_rows);
    CheckAtomic<kOp, typename Src::DType>(core);
    if (by_rows) {
      ScatterTableRows<kOp>(core, src, table, idx, beyond);
    } else {
      ScatterTableElements<kOp>(core, src, table, idx, beyond);
    }
  });
  EndTable("MSCATTER", pipe);
}

}  // namespace detail

/// Row indexes[0, i] of dst = row i of src (Row), or element indexes[i, j] of dst in row-major
/// order = src[i, j] (Elem), over the valid region of src in its order: of equal indexes the last
/// one stays.
///   dst      global tensor: of layout ND packed, for Row with any stride[3]; or NZ
///   src      Vec tile of its dtype of 8, 16 or 32 bits (A5 also 8-bit floats): RowMajor, or NZ for
///   a dst of layout NZ,
///            which then takes whole rows
///   indexes  Vec tile of int32 or uint32 that counts as unsigned, RowMajor or one column; of Row
///            one valid row or column
///   kAtomic  Add: int8 (A2/A3), int16 (A2/A3), int32, half, bfloat16, float, A5 also uint32; Max
///            and Min on A5: int32, uint32, float
///   kOob     see ScatterOOB. Memory outside of the allocation of dst is a fault
/// On A2/A3 pipe MTE3 for rows, S for elements, in order with the other pipes of UB without flags;
/// on A5 pipe V. Source: PTO ISA, MSCATTER.
template <Coalesce kMode, ScatterAtomicOp kAtomic = ScatterAtomicOp::None,
          ScatterOOB kOob = ScatterOOB::Undefined,
          ScatterConflict kConflict = ScatterConflict::Last, class Global, class Src, class Idx,
          class... Events>
[[gnu::always_inline]] inline RecordEvent MSCATTER(Global& dst, Src& src, Idx& indexes,
                                                   Events&... events) {
  (events.Wait(), ...);
  detail::ScatterToTable<kAtomic>(dst, src, indexes, kMode == Coalesce::Row,
                                  detail::BeyondOf(kOob));
  npu::KeepCallSite();
  return {};
}
template <class Global, class Src, class Idx, class... Events>
[[gnu::always_inline]] inline RecordEvent MSCATTER(Global& dst, Src& src, Idx& indexes,
                                                   Events&... events) {
  return MSCATTER<Coalesce::Row>(dst, src, indexes, events...);
}

}  // namespace pto
