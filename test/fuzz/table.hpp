// SPDX-License-Identifier: Apache-2.0
// How a file of the table compiles instructions: types of tiles, and a call for each.
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "families.hpp"
#include "pto/pto-inst.hpp"

namespace fuzz {

template <class T>
constexpr Dtype DtypeOf() {
  if constexpr (std::is_same_v<T, half>) return Dtype::kF16;
  if constexpr (std::is_same_v<T, bfloat16_t>) return Dtype::kBf16;
  if constexpr (std::is_same_v<T, float>) return Dtype::kF32;
  if constexpr (std::is_same_v<T, int8_t>) return Dtype::kI8;
  if constexpr (std::is_same_v<T, uint8_t>) return Dtype::kU8;
  if constexpr (std::is_same_v<T, int16_t>) return Dtype::kI16;
  if constexpr (std::is_same_v<T, uint16_t>) return Dtype::kU16;
  if constexpr (std::is_same_v<T, uint32_t>) return Dtype::kU32;
  return Dtype::kI32;
}

template <class TileT>
constexpr TileType TypeOf() {
  constexpr pto::TileType kKinds[] = {pto::TileType::Vec, pto::TileType::Mat, pto::TileType::Left,
                                      pto::TileType::Right, pto::TileType::Acc};
  TileType type = {Space::kUb, Order::kNd, DtypeOf<typename TileT::DType>(), TileT::Rows,
                   TileT::Cols};
  for (int i = 0; i < 5; ++i) {
    if (kKinds[i] == TileT::Loc) type.space = static_cast<Space>(i);
  }
  if (TileT::SFractal == pto::SLayout::NoneBox) {
    type.order = TileT::BFractal == pto::BLayout::RowMajor ? Order::kNd : Order::kDn;
  } else if (TileT::SFractal == pto::SLayout::RowMajor) {
    type.order = TileT::BFractal == pto::BLayout::RowMajor ? Order::kZz : Order::kNz;
  } else {
    type.order = Order::kZn;
  }
  return type;
}

// Tiles whose contiguous side is a number of blocks of 32 bytes.
template <class T, int kBlocks>
inline constexpr int kElements = kBlocks * 32 / static_cast<int>(sizeof(T));
template <class T, int kRows, int kCols>
using Nd = pto::Tile<pto::TileType::Vec, T, kRows, kCols, pto::BLayout::RowMajor, -1, -1>;
template <class T, int kRows, int kCols>
using Dn = pto::Tile<pto::TileType::Vec, T, kRows, kCols, pto::BLayout::ColMajor, -1, -1>;
template <class T, int kRows, int kCols>
using Nz = pto::Tile<pto::TileType::Vec, T, kRows, kCols, pto::BLayout::ColMajor, -1, -1,
                     pto::SLayout::RowMajor>;

template <class T>
T ScalarOf(const Operands& operands) {
  T value;
  std::memcpy(static_cast<void*>(&value), &operands.scalar, sizeof(T));
  return value;
}

/// Tile number kIndex of a step, placed.
template <size_t kIndex, class TileT>
struct Slot {
  TileT tile;
  explicit Slot(const Operands& operands)
      : tile(operands.valid_rows[kIndex], operands.valid_cols[kIndex]) {
    TASSIGN(tile, operands.address[kIndex]);
  }
};

template <class Indexes, class... Tiles>
struct Slots;
template <size_t... kIndex, class... Tiles>
struct Slots<std::index_sequence<kIndex...>, Tiles...> : Slot<kIndex, Tiles>... {
  explicit Slots(const Operands& operands) : Slot<kIndex, Tiles>(operands)... {}
  template <class Body>
  void Run(const Operands& operands) {
    Body()(operands, this->Slot<kIndex, Tiles>::tile...);
  }
};

template <class Body, class... Tiles>
void RunStep(const Operands& operands) {
  Slots<std::index_sequence_for<Tiles...>, Tiles...>(operands).template Run<Body>(operands);
}

/// What the rows of a loop have in common.
struct Kind {
  Form form;
  Fn fn;
  const char* name;
  Pipe pipe = Pipe::kV;
  bool only_a5 = false;
  Global global = Global::kNone;
  Dtype out = Dtype::kI8;
};

template <class... Tiles, class Body>
void Add(Rows& rows, const Kind& kind, Body) {
  rows.push_back({kind.form,
                  kind.fn,
                  kind.name,
                  kind.pipe,
                  kind.only_a5,
                  kind.global,
                  kind.out,
                  static_cast<int>(sizeof...(Tiles)),
                  {TypeOf<Tiles>()...},
                  &RunStep<Body, Tiles...>});
}

/// Calls add.template operator()<T>() for each type.
template <class... T, class AddOne>
void ForTypes(const AddOne& add) {
  (add.template operator()<T>(), ...);
}

}  // namespace fuzz
