// SPDX-License-Identifier: Apache-2.0
// Masks of bits: comparisons and selections.
#include "table.hpp"

namespace fuzz {
namespace {

using namespace pto;

using Mask = Nd<uint8_t, 8, 32>;

template <class T>
using Wide = Nd<T, 8, kElements<T, 3>>;
template <class T>
using Tall = Nd<T, 5, kElements<T, 1>>;

template <class T, template <class> class Shape>
void AddSelections(Rows& rows) {
  Add<Shape<T>, Mask, Shape<T>, Shape<T>>(
      rows, {Form::kSelect, Fn::kNone, "TSEL"},
      [](const Operands&, auto& c, auto& mask, auto& a, auto& b) { TSEL(c, mask, a, b, c); });
  Add<Shape<T>, Mask, Shape<T>>(rows, {Form::kSelectScalar, Fn::kNone, "TSELS"},
                                [](const Operands& operands, auto& c, auto& mask, auto& a) {
                                  TSELS(c, mask, a, c, ScalarOf<T>(operands));
                                });
}

template <class T, template <class> class Shape>
void AddComparisonToScalar(Rows& rows) {
  Add<Mask, Shape<T>>(rows, {Form::kCompareScalar, Fn::kNone, "TCMPS"},
                      [](const Operands& operands, auto& c, auto& a) {
                        TCMPS(c, a, ScalarOf<T>(operands), static_cast<CmpMode>(operands.mode));
                      });
}

template <class T, template <class> class Shape>
void AddComparison(Rows& rows) {
  Add<Mask, Shape<T>, Shape<T>>(rows, {Form::kCompare, Fn::kNone, "TCMP"},
                                [](const Operands& operands, auto& c, auto& a, auto& b) {
                                  TCMP(c, a, b, static_cast<CmpMode>(operands.mode));
                                });
}

}  // namespace

void AddCompare(Rows& rows) {
  ForTypes<int16_t, uint16_t, int32_t, uint32_t, half, bfloat16_t, float>([&]<class T>() {
    AddSelections<T, Wide>(rows);
    AddSelections<T, Tall>(rows);
  });
  ForTypes<int16_t, uint16_t, int32_t, half, float>(
      [&]<class T>() { AddComparisonToScalar<T, Wide>(rows); });
  ForTypes<int32_t, half, float>([&]<class T>() {
    AddComparison<T, Wide>(rows);
    AddComparison<T, Tall>(rows);
  });
}

}  // namespace fuzz
