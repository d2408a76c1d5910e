// SPDX-License-Identifier: Apache-2.0
// Tiles of which one may be smaller, triangles, counting.
#include "table.hpp"

namespace fuzz {
namespace {

using namespace pto;

template <class T, class Body>
void AddPart(Rows& rows, Fn fn, const char* name, const Body& body) {
  using Whole = Nd<T, 6, kElements<T, 3>>;
  Add<Whole, Whole, Whole>(rows, {Form::kPart, fn, name}, body);
}

#define ON_TILES(NAME) [](const Operands&, auto& c, auto& a, auto& b) { NAME(c, a, b); }

}  // namespace

void AddParts(Rows& rows) {
  ForTypes<int16_t, int32_t, half, float>([&]<class T>() {
    AddPart<T>(rows, Fn::kAdd, "TPARTADD", ON_TILES(TPARTADD));
    AddPart<T>(rows, Fn::kMul, "TPARTMUL", ON_TILES(TPARTMUL));
    AddPart<T>(rows, Fn::kMax, "TPARTMAX", ON_TILES(TPARTMAX));
    Add<Nd<T, 8, kElements<T, 4>>>(rows, {Form::kTriangle, Fn::kNone, "TTRI"},
                                   [](const Operands& operands, auto& c) {
                                     TTRI<std::decay_t<decltype(c)>, 0>(c, operands.mode);
                                   });
  });
  ForTypes<int16_t, uint16_t, int32_t, uint32_t>([&]<class T>() {
    Add<Nd<T, 1, kElements<T, 6>>>(rows, {Form::kCount, Fn::kNone, "TCI", Pipe::kS},
                                   [](const Operands& operands, auto& c) {
                                     TCI<std::decay_t<decltype(c)>, T, 0>(c, ScalarOf<T>(operands));
                                   });
  });
}

}  // namespace fuzz
