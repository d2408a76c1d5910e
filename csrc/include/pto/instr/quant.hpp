// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "pto/copy_tile.hpp"
#include "pto/index.hpp"
#include "pto/instr/elementwise.hpp"
#include "pto/traits.hpp"

namespace pto {

namespace detail {

inline constexpr TypeRule kQuantized = {kInt8 | kUint8, kInt8 | kUint8};
inline constexpr TypeRule kDequantized = {kInt8 | kInt16, kInt8 | kInt16};

NPU_ONE_BODY(NPU_RAISES void RaiseOffset(const char* op)) {
  npu::RaiseFault(op, "an offset for uint8", "none");
}

/// round(value), ties to even, held to the range of Out; NaN becomes 0.
template <class Out>
inline Out RoundToBytes(float value) {
  constexpr float kLow = std::is_signed_v<Out> ? -128.0f : 0.0f;
  constexpr float kHigh = std::is_signed_v<Out> ? 127.0f : 255.0f;
  if (value != value) return 0;
  const float held = value < kLow ? kLow : value > kHigh ? kHigh : value;
  return static_cast<Out>(static_cast<int>(__builtin_nearbyintf(held)));
}

template <class Dst, class Src, class Para>
inline void QuantizeRows(const Dst& dst, const Src& src, const Para& scale, const Para* offset) {
  using Out = typename Dst::DType;
  const auto from = LinesOf(src);
  for (size_t row = 0; row < from.count; ++row) {
    const float factor = *ElementOf(scale, row, 0);
    const float* in = from(row);
    Out* out = dst.data() + row * Dst::Cols;
    if constexpr (std::is_signed_v<Out>) {
      for (size_t col = 0; col < from.length; ++col) out[col] = RoundToBytes<Out>(in[col] * factor);
    } else {
      const float added = *ElementOf(*offset, row, 0);
      for (size_t col = 0; col < from.length; ++col)
        out[col] = RoundToBytes<Out>(in[col] * factor + added);
    }
  }
}

/// Faults unless each of rows has a parameter in the first column of tile.
template <class Para>
inline void CheckParameters(const npu::Core& core, const char* op, const char* operand,
                            const Para& tile, size_t rows) {
  static_assert(std::is_same_v<typename Para::DType, float> && Para::Loc == TileType::Vec,
                "expected parameters of float in a Vec tile");
  CheckTile(core, op, operand, tile);
  CheckCovers(op, operand, TileFacts(tile), rows, 1);
}

template <class Dst, class Src, class Para>
[[gnu::noinline]] void QuantizeToBytes(Dst& dst, Src& src, Para& scale, const Para* offset) {
  constexpr const char* kOp = "TQUANT";
  static_assert(std::is_same_v<typename Src::DType, float>, "TQUANT: expected a src of float");
  static_assert(kIsPlainVec<Dst> && kIsPlainVec<Src>, "TQUANT: expected RowMajor Vec tiles");
  constexpr bool kAdds = !std::is_signed_v<typename Dst::DType>;
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const auto from = LinesOf(src);
    const int rows = static_cast<int>(from.count), cols = static_cast<int>(from.length);
    const bool adds = kAdds && offset != nullptr;
    report(ElementsOf(src), StartAccess(dst, rows, cols, true), Reads(src),
           StartAccess(scale, rows, 1, false),
           adds ? StartAccess(*offset, rows, 1, false) : npu::AccessList());
  };
  npu::Issue(kOp, npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckType<typename Dst::DType>(core, kOp, kQuantized);
    CheckTile(core, kOp, "dst", dst);
    CheckTile(core, kOp, "src", src);
    const auto from = LinesOf(src);
    CheckCovers(kOp, "dst", TileFacts(dst), from.count, from.length);
    CheckParameters(core, kOp, "scale", scale, from.count);
    if (kAdds && offset == nullptr) RaiseOffset(kOp);
    if (kAdds) CheckParameters(core, kOp, "offset", *offset, from.count);
    QuantizeRows(dst, src, scale, offset);
  });
}

template <QuantType kType, class Dst>
constexpr void CheckByteType() {
  static_assert(kType == QuantType::INT8_SYM || kType == QuantType::INT8_ASYM,
                "TQUANT: expected INT8_SYM or INT8_ASYM with a scale for each row");
  static_assert(std::is_same_v<typename Dst::DType,
                               std::conditional_t<kType == QuantType::INT8_SYM, int8_t, uint8_t>>,
                "TQUANT: expected a dst of int8 for INT8_SYM, of uint8 for INT8_ASYM");
}

template <class Dst, class Src, class Scale, class Offset>
[[gnu::noinline]] void Dequantize(Dst& dst, Src& src, Scale& scale, Offset& offset) {
  constexpr const char* kOp = "TDEQUANT";
  static_assert(std::is_same_v<typename Dst::DType, float>, "TDEQUANT: expected a dst of float");
  static_assert(kIsPlainVec<Dst> && kIsPlainVec<Src>, "TDEQUANT: expected RowMajor Vec tiles");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const auto to = LinesOf(dst);
    const int rows = static_cast<int>(to.count), cols = static_cast<int>(to.length);
    report(ElementsOf(dst), Writes(dst), StartAccess(src, rows, cols, false),
           StartAccess(scale, rows, 1, false), StartAccess(offset, rows, 1, false));
  };
  npu::Issue(kOp, npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckType<typename Src::DType>(core, kOp, kDequantized);
    CheckTile(core, kOp, "dst", dst);
    CheckTile(core, kOp, "src", src);
    CheckSameValidShape(core, kOp, "src", dst, src);
    const auto to = LinesOf(dst);
    CheckCovers(kOp, "src", TileFacts(src), to.count, to.length);
    CheckParameters(core, kOp, "scale", scale, to.count);
    CheckParameters(core, kOp, "offset", offset, to.count);
    for (size_t row = 0; row < to.count; ++row) {
      const float factor = *ElementOf(scale, row, 0), zero = *ElementOf(offset, row, 0);
      const auto* in = src.data() + row * Src::Cols;
      float* out = to(row);
      for (size_t col = 0; col < to.length; ++col)
        out[col] = (static_cast<float>(in[col]) - zero) * factor;
    }
  });
}

}  // namespace detail

/// dst[i, j] = round(src[i, j] * scale[i, 0]) for INT8_SYM, round(src[i, j] * scale[i, 0] +
/// offset[i, 0]) for INT8_ASYM, ties to even, each step in float, held to the range of dst, over
/// the valid region of src. The chip computes in src, which is lost there; here it stays.
///   dst            Vec RowMajor tile of int8 for INT8_SYM, of uint8 for INT8_ASYM
///   src            Vec RowMajor tile of float
///   scale, offset  Vec tiles of float, a row each; offset is not read for INT8_SYM
///   tmp            scratch tile that the chip needs; not touched here
/// Pipe V. Source: PTO ISA, TQUANT.
template <auto kType, class Dst, class Src, class Para, class... Events>
[[gnu::always_inline]] inline RecordEvent TQUANT(Dst& dst, Src& src, Para& scale,
                                                 Para* offset = nullptr, Events&... events) {
  detail::CheckByteType<kType, Dst>();
  (events.Wait(), ...);
  detail::QuantizeToBytes(dst, src, scale, static_cast<const Para*>(offset));
  npu::KeepCallSite();
  return {};
}
template <auto kType, class Dst, class Src, class Para, class Tmp, class... Events,
          std::enable_if_t<is_tile_data_v<Tmp>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TQUANT(Dst& dst, Src& src, Para& scale, Tmp&,
                                                 Para* offset = nullptr, Events&... events) {
  detail::CheckByteType<kType, Dst>();
  (events.Wait(), ...);
  detail::QuantizeToBytes(dst, src, scale, static_cast<const Para*>(offset));
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = (src[i, j] - offset[i, 0]) * scale[i, 0], each step rounded to float.
///   dst            Vec RowMajor tile of float
///   src            Vec RowMajor tile of int8 or int16 of the valid shape of dst
///   scale, offset  Vec tiles of float, a row each
/// Pipe V. Source: PTO ISA, TDEQUANT.
template <class Dst, class Src, class Scale, class Offset, class... Events>
[[gnu::always_inline]] inline RecordEvent TDEQUANT(Dst& dst, Src& src, Scale& scale, Offset& offset,
                                                   Events&... events) {
  (events.Wait(), ...);
  detail::Dequantize(dst, src, scale, offset);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
