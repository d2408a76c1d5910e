// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "pto/copy_tile.hpp"
#include "pto/index.hpp"

namespace pto {

namespace detail {

inline constexpr TypeRule kSearched = {kInt32 | kHalf | kFloat, kInts8To32 | kHalf | kFloat};

NPU_ONE_BODY(NPU_RAISES void RaiseFound(size_t row, size_t room, size_t found)) {
  npu::RaiseFault("TGATHER",
                  "at most " + npu::TextOf(room) + " elements that compare true (the room in dst)",
                  npu::TextOf(found) + " in row " + npu::TextOf(row));
}

/// True for the elements that kMode finds. Those of 16-bit floats and thresholds are compared as
/// floats, as is float.
template <CmpMode kMode, class T, class K>
inline bool IsFound(T value, K threshold) {
  if constexpr (std::is_integral_v<T>) {
    const auto wide = static_cast<int64_t>(value), bound = static_cast<int64_t>(threshold);
    return kMode == CmpMode::GT ? wide > bound : wide == bound;
  } else {
    const auto wide = static_cast<float>(value), bound = static_cast<float>(threshold);
    return kMode == CmpMode::GT ? wide > bound : wide == bound;
  }
}

/// The threshold of a row as the chip takes its bits: signed, of the width of the elements.
template <class T, class K>
inline auto Threshold(K k) {
  if constexpr (sizeof(K) == 2) return static_cast<int16_t>(k);
  if constexpr (sizeof(K) == 4) return static_cast<int32_t>(k);
}

/// The part of dst that takes what is found, for observers.
template <CmpMode kMode, class Dst, class Src, class K>
inline npu::AccessList FoundPart(const Dst& dst, const Src& src, const K& k) {
  npu::AccessList list;
  const auto from = LinesOf(src);
  if (!npu::IsPlace(src.data()) || !npu::IsPlace(k.data()) || from.count > K::Rows) return list;
  for (size_t row = 0; row < from.count; ++row) {
    const auto threshold = Threshold<typename Src::DType>(*ElementOf(k, row, 0));
    size_t found = 0;
    for (size_t col = 0; col < from.length; ++col) {
      found += IsFound<kMode>(from(row)[col], threshold);
    }
    list.AddBytes(npu::Space::kUb, true, dst.data() + row * Dst::Cols,
                  found * sizeof(typename Dst::DType));
  }
  return list;
}

template <CmpMode kMode, class Dst, class Src, class K, class Counts>
inline void FindInRows(const npu::Core& core, const Dst& dst, const Src& src, const K& k,
                       const Counts& counts, uint32_t offset) {
  using Out = typename Dst::DType;
  const auto from = LinesOf(src);
  const bool is_a3 = core.arch->generation == npu::Generation::kA3;
  // A2/A3 numbers the elements by their place in the tile, A5 by repeats of 64 of the valid ones.
  const size_t pitch = is_a3 ? Src::Cols : (from.length + 63) / 64 * 64;
  const size_t count_unit = is_a3 ? 1 : sizeof(Out);  // A5 counts bytes
  for (size_t row = 0; row < from.count; ++row) {
    const auto* in = from(row);
    const auto threshold = Threshold<typename Src::DType>(*ElementOf(k, row, 0));
    Out* out = dst.data() + row * Dst::Cols;
    const size_t room = (Dst::Rows - row) * Dst::Cols;
    size_t found = 0;
    for (size_t col = 0; col < from.length; ++col) {
      if (!IsFound<kMode>(in[col], threshold)) continue;
      if (found == room) RaiseFound(row, room, found + 1);
      out[found++] = static_cast<Out>(offset + row * pitch + col);
    }
    *ElementOf(counts, row, 0) = static_cast<typename Counts::DType>(found * count_unit);
  }
}

template <CmpMode kMode, class Dst, class Src, class K, class Counts>
[[gnu::noinline]] void GatherFound(Dst& dst, Src& src, K& k, Counts& counts, uint32_t offset) {
  using T = typename Src::DType;
  constexpr const char* kOp = "TGATHER";
  static_assert(kMode == CmpMode::GT || kMode == CmpMode::EQ, "TGATHER: expected mode GT or EQ");
  static_assert(std::is_integral_v<typename Dst::DType> && sizeof(typename Dst::DType) == 4,
                "TGATHER: expected a dst of int32 or uint32");
  static_assert(std::is_integral_v<typename K::DType> && sizeof(typename K::DType) >= 2 &&
                    sizeof(typename K::DType) <= 4,
                "TGATHER: expected thresholds of 16 or 32-bit integers");
  static_assert(kIsPlainVec<Dst> && kIsPlainVec<Src>, "TGATHER: expected RowMajor Vec tiles");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const auto rows = static_cast<int>(LinesOf(src).count);
    report(npu::Work{static_cast<uint64_t>(Src::Numel), 0, 0}, FoundPart<kMode>(dst, src, k),
           StartAccess(counts, rows, 1, true), Reads(src), StartAccess(k, rows, 1, false));
  };
  npu::Issue(kOp, npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckType<T>(core, kOp, kSearched);
    CheckTile(core, kOp, "dst", dst);
    CheckTile(core, kOp, "src0", src);
    CheckTile(core, kOp, "k_value", k);
    CheckTile(core, kOp, "cdst", counts);
    const size_t rows = LinesOf(src).count;
    CheckCovers(kOp, "dst", TileFacts(dst), rows, 1);
    CheckCovers(kOp, "k_value", TileFacts(k), rows, 1);
    CheckCovers(kOp, "cdst", TileFacts(counts), rows, 1);
    FindInRows<kMode>(core, dst, src, k, counts, offset);
  });
}

}  // namespace detail

/// Row i of dst = the indexes, from offset on, of the elements of row i of src0 that are greater
/// than (GT) or equal to (EQ) k_value[i, 0]; cdst[i, 0] = how many they are (A5: their bytes). What
/// does not fit into a row of dst goes on into the next one, whose own indexes replace it.
///   dst      Vec RowMajor tile of int32 or uint32
///   src0     Vec RowMajor tile of half, float or int32 (A5 also the other integers)
///   k_value  Vec tile of 16 or 32-bit integers, a threshold for each row, taken as signed
///   cdst     Vec tile of integers
///   tmp      scratch tile that the chip needs; not touched here
/// Pipe V. Source: PTO ISA, TGATHER.
template <class Dst, class Src0, class K, class Counts, class Tmp, CmpMode kMode, class... Events>
[[gnu::always_inline]] inline RecordEvent TGATHER(Dst& dst, Src0& src0, K& k_value, Counts& cdst,
                                                  Tmp&, uint32_t offset, Events&... events) {
  (events.Wait(), ...);
  detail::GatherFound<kMode>(dst, src0, k_value, cdst, offset);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
