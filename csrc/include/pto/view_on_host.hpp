// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "pto/global_facts.hpp"
#include "pto/transfer.hpp"

/// What programs for simulators mean by a global tensor that has not the shape of the tile.
namespace pto::detail {

/// The same tensor of the layout of an un-boxed tile: what its layout says may be left as it is.
template <class TileT, class Global>
GlobalFacts InOrderOf(const Global& global) {
  constexpr Layout kLayout = TileT::isRowMajor ? Layout::ND : Layout::DN;
  using Any = GlobalTensor<typename Global::RawDType, Shape<-1, -1, -1, -1, -1>,
                           Stride<-1, -1, -1, -1, -1>, kLayout>;
  const auto extent = [&](int d) { return global.GetShape(d); };
  const auto step = [&](int d) { return global.GetStride(d); };
  return GlobalFacts(Any(const_cast<typename Global::RawDType*>(global.data()),
                         {extent(0), extent(1), extent(2), extent(3), extent(4)},
                         {step(0), step(1), step(2), step(3), step(4)}));
}

/// global as a transfer with tile takes it: in the order of the tile where it has its shape so
/// alone; of a larger matrix as much as the valid region has.
template <class TileT, class Global>
GlobalFacts ViewOnHost(const TileT& tile, const Global& global) {
  GlobalFacts view(global);
  const TileFacts facts(tile);
  if (HasShapeOf(view, facts)) return view;
  constexpr bool kLines = Global::layout == Layout::ND || Global::layout == Layout::DN;
  if constexpr (kLines && !TileT::isBoxedLayout) {
    const GlobalFacts turned = InOrderOf<TileT>(global);
    if (HasShapeOf(turned, facts)) return turned;
  }
  const bool is_one = view.shape[0] == 1 && view.shape[1] == 1 && view.shape[2] == 1;
  // A matrix goes to L1 as a whole, as on the chip.
  constexpr bool kMayCut = kLines && TileT::Loc != TileType::Mat;
  if (kMayCut && is_one && facts.ValidRegionFits() && view.Rows() >= facts.valid_rows &&
      view.Cols() >= facts.valid_cols) {
    view.shape[3] = facts.valid_rows;
    view.shape[4] = facts.valid_cols;
  }
  return view;
}

}  // namespace pto::detail
