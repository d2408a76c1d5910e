// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>

#include "pto/conv_tile.hpp"
#include "pto/global_tensor.hpp"
#include "pto/tile_facts.hpp"

namespace pto {

namespace detail {

template <class T>
inline constexpr bool kIsGlobal = false;
template <class T, class ShapeT, class StrideT, Layout kLayout>
inline constexpr bool kIsGlobal<GlobalTensor<T, ShapeT, StrideT, kLayout>> = true;

template <class T, class = void>
inline constexpr bool kIsEvent = false;
template <class T>
inline constexpr bool kIsEvent<T, std::void_t<decltype(std::declval<T&>().Wait())>> = true;

constexpr TileLayoutCustom TileLayoutOf(TileOrder order) {
  switch (order) {
    case TileOrder::kNd:
      return TileLayoutCustom::ND;
    case TileOrder::kDn:
      return TileLayoutCustom::DN;
    case TileOrder::kNz:
      return TileLayoutCustom::NZ;
    case TileOrder::kZn:
      return TileLayoutCustom::ZN;
    case TileOrder::kZz:
      return TileLayoutCustom::ZZ;
    default:
      return TileLayoutCustom::NONE;
  }
}

}  // namespace detail

/// Order of the elements of a tile.
template <class TileT>
constexpr TileLayoutCustom GetTileLayoutCustom() {
  return detail::TileLayoutOf(detail::TileOrderOf<TileT>());
}

/// Distance of the element in row and col from the start of a tile, in elements.
template <class TileT>
constexpr size_t GetTileOffset(int row, int col) {
  constexpr detail::LineOrder kLines = detail::kTileKind<TileT>.lines;
  const auto line = static_cast<size_t>(kLines.lines_are_rows ? row : col);
  return kLines.Offset(line, static_cast<size_t>(kLines.lines_are_rows ? col : row));
}

template <class T>
inline constexpr bool is_tile_data_v = detail::IsTile<std::remove_cv_t<T>>::value;
template <class T>
inline constexpr bool is_any_tile_v = is_tile_data_v<T> || is_conv_tile_v<T>;
template <class T>
inline constexpr bool is_global_data_v = detail::kIsGlobal<std::remove_cv_t<T>>;
template <class... T>
inline constexpr bool all_events_v = (detail::kIsEvent<T> && ...);

}  // namespace pto
