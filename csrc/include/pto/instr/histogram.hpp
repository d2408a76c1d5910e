// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "pto/copy_tile.hpp"
#include "pto/index.hpp"
#include "pto/instr/elementwise.hpp"

namespace pto {

namespace detail {

inline constexpr size_t kBins = 256;

/// The upper bytes that an element must have to be counted: byte i of wanted where mask is set.
template <class T>
struct ByteFilter {
  T mask, wanted;
};

/// For elements of 16 bits each row has its filter, in the column idx; for those of 32 bits row i
/// of idx holds the filter of byte 3 - i, for all rows.
template <class T, class Idx>
inline ByteFilter<T> FilterOf(const Idx& idx, size_t row, int byte) {
  ByteFilter<T> filter = {0, 0};
  for (int i = static_cast<int>(sizeof(T)) - 1; i > byte; --i) {
    const size_t place = sizeof(T) == 2 ? row : sizeof(T) - 1 - static_cast<size_t>(i);
    filter.mask = static_cast<T>(filter.mask | T{0xff} << 8 * i);
    filter.wanted =
        static_cast<T>(filter.wanted | static_cast<T>(*ElementOf(idx, place, 0)) << 8 * i);
  }
  return filter;
}

template <class T>
inline void CountBytes(uint32_t* bins, const T* elements, size_t count, int byte,
                       ByteFilter<T> filter) {
  for (size_t bin = 0; bin < kBins; ++bin) bins[bin] = 0;
  for (size_t i = 0; i < count; ++i) {
    if ((elements[i] & filter.mask) == filter.wanted) ++bins[elements[i] >> 8 * byte & 0xff];
  }
  for (size_t bin = 1; bin < kBins; ++bin) bins[bin] += bins[bin - 1];
}

template <class Dst, class Src, class Idx>
[[gnu::noinline]] void Histogram(Dst& dst, Src& src, Idx& idx, int byte) {
  using T = typename Src::DType;
  constexpr const char* kOp = "THISTOGRAM";
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const auto rows = static_cast<int>(LinesOf(src).count);
    const int filters = static_cast<int>(sizeof(T)) - 1 - byte;
    const size_t bytes = LinesOf(src).count * kBins * sizeof(uint32_t);
    report(ElementsOf(src), npu::Access{npu::Space::kUb, true, dst.data(), 1, bytes, bytes},
           Reads(src), StartAccess(idx, sizeof(T) == 2 && filters != 0 ? rows : filters, 1, false));
  };
  npu::Issue(kOp, npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckIsA5(core, kOp);
    CheckTile(core, kOp, "dst", dst);
    CheckTile(core, kOp, "src", src);
    const auto from = LinesOf(src);
    const size_t filters = sizeof(T) - 1 - static_cast<size_t>(byte);
    if (filters != 0) {
      CheckTile(core, kOp, "idx", idx);
      CheckCovers(kOp, "idx", TileFacts(idx), sizeof(T) == 2 ? from.count : filters, 1);
    }
    const size_t bins = static_cast<size_t>(Dst::Numel) / kBins;
    if (bins < from.count) RaiseCovers(kOp, "dst", TileFacts(dst), from.count, kBins);
    for (size_t row = 0; row < from.count; ++row) {
      CountBytes(dst.data() + row * kBins, from(row), from.length, byte,
                 FilterOf<T>(idx, row, byte));
    }
  });
}

}  // namespace detail

/// The 256 numbers of dst that begin at 256 * i, entry b: how many elements of row i of src have a
/// kByte of at most b, of those whose higher bytes equal idx.
///   dst  Vec RowMajor tile of uint32
///   src  Vec RowMajor tile of uint16 (BYTE_0, BYTE_1) or uint32
///   idx  Vec tile of uint8. For uint16 a ColMajor column: the upper byte of row i at idx[i, 0];
///   for
///        uint32 row j: byte 3 - j, for all rows. Not read for the highest byte
/// On A5 alone. Pipe V. Source: PTO ISA, THISTOGRAM.
template <HistByte kByte, class Dst, class Src, class Idx, class... Events>
[[gnu::always_inline]] inline RecordEvent THISTOGRAM(Dst& dst, Src& src, Idx& idx,
                                                     Events&... events) {
  using T = typename Src::DType;
  static_assert(
      std::is_same_v<typename Dst::DType, uint32_t> && std::is_same_v<typename Idx::DType, uint8_t>,
      "THISTOGRAM: expected dst of uint32 and idx of uint8");
  static_assert(
      std::is_same_v<T, uint32_t> || (std::is_same_v<T, uint16_t> && kByte <= HistByte::BYTE_1),
      "THISTOGRAM: expected a byte of src of uint16 or uint32");
  static_assert(detail::kIsPlainVec<Dst> && detail::kIsPlainVec<Src>,
                "THISTOGRAM: expected RowMajor Vec tiles");
  (events.Wait(), ...);
  detail::Histogram(dst, src, idx, static_cast<int>(kByte));
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
