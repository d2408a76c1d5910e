// SPDX-License-Identifier: Apache-2.0
// One tile, element by element.
#include "table.hpp"

namespace fuzz {
namespace {

using namespace pto;

#define ON_TILE(NAME) [](const Operands&, auto& c, auto& a) { NAME(c, a); }

template <class T, class Body>
void AddOne(Rows& rows, Fn fn, const char* name, const Body& body, bool only_a5 = false) {
  constexpr int kBlock = kElements<T, 1>;
  using TileT = std::conditional_t<sizeof(T) == 2, Nd<T, 3, 4 * kBlock>, Dn<T, kBlock, 9>>;
  Add<TileT, TileT>(rows, {Form::kUnary, fn, name, Pipe::kV, only_a5}, body);
}

}  // namespace

void AddUnary(Rows& rows) {
  ForTypes<half, float>([&]<class T>() {
    AddOne<T>(rows, Fn::kAbs, "TABS", ON_TILE(TABS));
    AddOne<T>(rows, Fn::kSqrt, "TSQRT", ON_TILE(TSQRT));
    AddOne<T>(rows, Fn::kRecip, "TRECIP", ON_TILE(TRECIP));
  });
  ForTypes<half, float, int32_t>(
      [&]<class T>() { AddOne<T>(rows, Fn::kRelu, "TRELU", ON_TILE(TRELU)); });
  ForTypes<half, float, int16_t, int32_t>(
      [&]<class T>() { AddOne<T>(rows, Fn::kNeg, "TNEG", ON_TILE(TNEG)); });
  ForTypes<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>(
      [&]<class T>() { AddOne<T>(rows, Fn::kNot, "TNOT", ON_TILE(TNOT)); });
  AddOne<int16_t>(rows, Fn::kAbs, "TABS", ON_TILE(TABS), true);
  AddOne<bfloat16_t>(rows, Fn::kNeg, "TNEG", ON_TILE(TNEG), true);
}

}  // namespace fuzz
