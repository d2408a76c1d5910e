// SPDX-License-Identifier: Apache-2.0
// Arithmetic on two tiles of floats.
#include "table_tiles.hpp"

namespace fuzz {
namespace {

template <class T>
using Wide = Nd<T, 8, kElements<T, 3>>;
template <class T>
using Boxed = Nz<T, 16, kElements<T, 2>>;

}  // namespace

void AddTiles(Rows& rows) {
  ForTypes<half, float>([&]<class T>() {
    AddArithmetic<Wide<T>>(rows, false);
    AddArithmetic<Boxed<T>>(rows, false);
    AddQuotient<Wide<T>>(rows, false);
  });
  AddArithmetic<Wide<bfloat16_t>>(rows, true);
}

}  // namespace fuzz
