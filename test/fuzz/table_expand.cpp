// SPDX-License-Identifier: Apache-2.0
// A column or a row of values, repeated.
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

#define ON_TILE(NAME) [](const Operands&, auto& c, auto& a) { NAME(c, a); }

}  // namespace

void AddExpand(Rows& rows) {
  ForTypes<int8_t, uint16_t, int32_t, half, bfloat16_t, float>([&]<class T>() {
    Add<Wide<T>, Column<T>>(rows, {Form::kExpandRows, Fn::kNone, "TROWEXPAND"},
                            ON_TILE(TROWEXPAND));
    Add<Wide<T>, Line<T>>(rows, {Form::kExpandColumns, Fn::kNone, "TCOLEXPAND"},
                          ON_TILE(TCOLEXPAND));
  });
}

}  // namespace fuzz
