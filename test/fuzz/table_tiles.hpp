// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "table.hpp"

namespace fuzz {

#define ON_TILES(NAME) [](const Operands&, auto& c, auto& a, auto& b) { NAME(c, a, b); }

template <class TileT>
void AddArithmetic(Rows& rows, bool only_a5) {
  using namespace pto;
  const auto add = [&](Fn fn, const char* name, auto body) {
    Add<TileT, TileT, TileT>(rows, {Form::kTiles, fn, name, Pipe::kV, only_a5}, body);
  };
  add(Fn::kAdd, "TADD", ON_TILES(TADD));
  add(Fn::kSub, "TSUB", ON_TILES(TSUB));
  add(Fn::kMul, "TMUL", ON_TILES(TMUL));
  add(Fn::kMax, "TMAX", ON_TILES(TMAX));
  add(Fn::kMin, "TMIN", ON_TILES(TMIN));
}

template <class TileT>
void AddQuotient(Rows& rows, bool only_a5) {
  using namespace pto;
  Add<TileT, TileT, TileT>(rows, {Form::kTiles, Fn::kDiv, "TDIV", Pipe::kV, only_a5},
                           ON_TILES(TDIV));
}

}  // namespace fuzz
