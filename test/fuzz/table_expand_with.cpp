// SPDX-License-Identifier: Apache-2.0
// A column or a row of values, combined with a tile.
#include "table.hpp"

namespace fuzz {
namespace {

using namespace pto;

template <class T>
using Wide = Nd<T, 16, kElements<T, 3>>;
template <class T>
using Column = Dn < T,
      kElements<T, 2><16 ? 16 : kElements<T, 2>, 1>;
template <class T>
using Line = Nd<T, 1, kElements<T, 3>>;

#define ON_TILES(NAME) [](const Operands&, auto& c, auto& a, auto& b) { NAME(c, a, b); }

template <class T>
void AddPair(Rows& rows, Fn fn, const char* row_name, const char* column_name, const auto& by_rows,
             const auto& by_columns) {
  Add<Wide<T>, Wide<T>, Column<T>>(rows, {Form::kExpandRowsWith, fn, row_name}, by_rows);
  Add<Wide<T>, Wide<T>, Line<T>>(rows, {Form::kExpandColsWith, fn, column_name}, by_columns);
}

}  // namespace

void AddExpandWith(Rows& rows) {
  ForTypes<int16_t, int32_t, half, float>([&]<class T>() {
    AddPair<T>(rows, Fn::kAdd, "TROWEXPANDADD", "TCOLEXPANDADD", ON_TILES(TROWEXPANDADD),
               ON_TILES(TCOLEXPANDADD));
    AddPair<T>(rows, Fn::kSub, "TROWEXPANDSUB", "TCOLEXPANDSUB", ON_TILES(TROWEXPANDSUB),
               ON_TILES(TCOLEXPANDSUB));
    AddPair<T>(rows, Fn::kMul, "TROWEXPANDMUL", "TCOLEXPANDMUL", ON_TILES(TROWEXPANDMUL),
               ON_TILES(TCOLEXPANDMUL));
    AddPair<T>(rows, Fn::kMax, "TROWEXPANDMAX", "TCOLEXPANDMAX", ON_TILES(TROWEXPANDMAX),
               ON_TILES(TCOLEXPANDMAX));
    AddPair<T>(rows, Fn::kMin, "TROWEXPANDMIN", "TCOLEXPANDMIN", ON_TILES(TROWEXPANDMIN),
               ON_TILES(TCOLEXPANDMIN));
  });
  ForTypes<half, float>([&]<class T>() {
    AddPair<T>(rows, Fn::kDiv, "TROWEXPANDDIV", "TCOLEXPANDDIV", ON_TILES(TROWEXPANDDIV),
               ON_TILES(TCOLEXPANDDIV));
  });
}

}  // namespace fuzz
