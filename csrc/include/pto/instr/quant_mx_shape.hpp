// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "npu/access_list.hpp"
#include "pto/layout.hpp"

/// Groups of microscaling: where their elements and scales lie.
namespace pto::detail {

inline constexpr size_t kMxGroup = 32;  // elements that share a scale

/// Where the elements of a group lie in src, and its scale in the results.
struct MxGroup {
  size_t row, col;  // of the first element
  size_t count;     // valid elements
  size_t exponent;  // byte of exp
  size_t number;    // element of max and scaling
};

/// Number of groups, and how far apart their exponents are.
struct MxShape {
  size_t rows, cols;    // valid elements
  size_t groups;        // along a row, or down a column
  size_t exp_pitch;     // bytes of exp from row to row of groups
  size_t number_pitch;  // elements of max and scaling
  bool interleaves;     // exponents of two groups of a column side by side

  MxGroup Of(bool down, size_t line, size_t at) const {
    if (!down) {
      const size_t col = at * kMxGroup;
      return {line, col, std::min(kMxGroup, cols - std::min(col, cols)), line * exp_pitch + at,
              line * number_pitch + at};
    }
    const size_t row = at * kMxGroup;
    const size_t exponent =
        interleaves ? at / 2 * exp_pitch + 2 * line + at % 2 : at * exp_pitch + line;
    return {row, line, std::min(kMxGroup, rows - row), exponent, at * number_pitch + line};
  }
};

/// The groups of src and where their scales go.
template <bool kDown, class Exp, class Src>
inline MxShape MxShapeOf(const Src& src, bool interleaves) {
  constexpr size_t kPitch = Src::Cols;
  const auto from = LinesOf(src);
  const size_t groups = ((kDown ? from.count : from.length) + kMxGroup - 1) / kMxGroup;
  // Of a flat tile of exponents the groups of all columns follow one another, valid or not.
  const size_t packed = Exp::Rows > 1 ? groups : kPitch / kMxGroup;
  return {from.count,
          from.length,
          groups,
          kDown || Exp::Rows > 1 ? Exp::Cols : packed,
          kDown ? kPitch : packed,
          interleaves};
}

/// What of tile takes a scale of each group, for observers; of no tile nothing.
template <bool kDown, class TileT, class Place>
inline npu::AccessList ScalesPart(const TileT* tile, const MxShape& shape, const Place& place) {
  npu::AccessList list;
  if (tile == nullptr) return list;
  for (size_t line = 0; line < (kDown ? shape.cols : shape.rows); ++line) {
    for (size_t at = 0; at < shape.groups; ++at) {
      list.AddBytes(npu::Space::kUb, true, tile->data() + place(shape.Of(kDown, line, at)),
                    sizeof(typename TileT::DType));
    }
  }
  return list;
}

template <bool kFp4, bool kDown, class Dst, class Src>
constexpr size_t PitchOfCodes() {
  return kDown && !kFp4 ? Dst::Cols : Src::Cols;
}

/// What of dst takes the codes; or, of kept, the bytes of which one half does and the other stays.
template <bool kFp4, bool kDown, class Dst>
inline npu::AccessList CodesPart(const Dst& dst, const MxShape& shape, size_t pitch, bool kept) {
  constexpr size_t kShare = kFp4 ? 2 : 1;  // codes of a byte
  npu::AccessList list;
  const size_t codes = kDown ? shape.cols : shape.groups * kMxGroup;
  for (size_t row = 0; row < shape.rows; ++row) {
    const auto* start = reinterpret_cast<const std::byte*>(dst.data()) + row * pitch / kShare;
    if (!kept) list.AddBytes(npu::Space::kUb, true, start, (codes + kShare - 1) / kShare);
    if (kept) list.AddBytes(npu::Space::kUb, false, start + codes / kShare, codes % kShare);
  }
  return list;
}

}  // namespace pto::detail
