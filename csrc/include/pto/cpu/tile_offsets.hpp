// SPDX-License-Identifier: Apache-2.0
// A path that programs for simulators include.
#pragma once

#include "pto/traits.hpp"

namespace pto {

/// Distance of the element in row and col from the start of a tile, in elements.
template <class TileT>
constexpr size_t GetTileElementOffset(size_t row, size_t col) {
  return GetTileOffset<TileT>(static_cast<int>(row), static_cast<int>(col));
}

/// The element at offset, in elements, from data; one of 4 bits in the low half.
template <class T>
T GetProperDataPart(const T* data, size_t offset) {
  if constexpr (IsTwinType<T>()) {
    T element = data[offset / 2];
    element.pair = static_cast<uint8_t>(element.pair >> offset % 2 * 4 & 0xf);
    return element;
  } else {
    return data[offset];
  }
}
template <class T>
void SetProperDataPart(T* data, size_t offset, const T& value) {
  if constexpr (IsTwinType<T>()) {
    const unsigned shift = offset % 2 * 4;
    const unsigned kept = data[offset / 2].pair & ~(0xfu << shift);
    data[offset / 2].pair = static_cast<uint8_t>(kept | (value.pair & 0xfu) << shift);
  } else {
    data[offset] = value;
  }
}

}  // namespace pto
