// SPDX-License-Identifier: Apache-2.0
// Arithmetic on two tiles of integers.
#include "table_tiles.hpp"

namespace fuzz {
namespace {

template <class T>
using Flat = Nd<T, 1, kElements<T, 8>>;
template <class T>
using Columns = Dn<T, kElements<T, 2>, 5>;

}  // namespace

void AddIntegers(Rows& rows) {
  ForTypes<int16_t, int32_t>([&]<class T>() {
    AddArithmetic<Flat<T>>(rows, false);
    AddArithmetic<Columns<T>>(rows, false);
  });
  AddArithmetic<Columns<uint16_t>>(rows, true);
  AddQuotient<Flat<int16_t>>(rows, true);
  AddQuotient<Flat<uint32_t>>(rows, true);
}

}  // namespace fuzz
