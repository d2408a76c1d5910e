// SPDX-License-Identifier: Apache-2.0
// Bits of two tiles.
#include "table.hpp"

namespace fuzz {
namespace {

using namespace pto;

#define ON_TILES(NAME) [](const Operands&, auto& c, auto& a, auto& b) { NAME(c, a, b); }

template <class T>
using Wide = Nd<T, 4, kElements<T, 3>>;

template <class T, class Body>
void AddOne(Rows& rows, Fn fn, const char* name, const Body& body) {
  Add<Wide<T>, Wide<T>, Wide<T>>(rows, {Form::kTiles, fn, name}, body);
}

}  // namespace

void AddBits(Rows& rows) {
  ForTypes<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>([&]<class T>() {
    AddOne<T>(rows, Fn::kAnd, "TAND", ON_TILES(TAND));
    AddOne<T>(rows, Fn::kOr, "TOR", ON_TILES(TOR));
    AddOne<T>(rows, Fn::kXor, "TXOR",
              [](const Operands&, auto& c, auto& a, auto& b) { TXOR(c, a, b, c); });
    AddOne<T>(rows, Fn::kShl, "TSHL", ON_TILES(TSHL));
    AddOne<T>(rows, Fn::kShr, "TSHR", ON_TILES(TSHR));
  });
  ForTypes<half, float>([&]<class T>() {
    AddOne<T>(rows, Fn::kAnd, "TAND", ON_TILES(TAND));
    AddOne<T>(rows, Fn::kOr, "TOR", ON_TILES(TOR));
  });
}

}  // namespace fuzz
