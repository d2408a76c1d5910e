// SPDX-License-Identifier: Apache-2.0
// A tile and a scalar.
#include "table.hpp"

namespace fuzz {
namespace {

using namespace pto;

#define WITH_SCALAR(NAME)                                                      \
  [](const Operands& operands, auto& c, auto& a) {                             \
    NAME(c, a, ScalarOf<typename std::decay_t<decltype(a)>::DType>(operands)); \
  }

template <class T>
using Wide = Nd<T, 5, kElements<T, 2>>;

template <class T, class Body>
void AddOne(Rows& rows, Fn fn, const char* name, const Body& body) {
  Add<Wide<T>, Wide<T>>(rows, {Form::kScalar, fn, name}, body);
}

}  // namespace

void AddScalars(Rows& rows) {
  ForTypes<half, float, int16_t, int32_t>([&]<class T>() {
    AddOne<T>(rows, Fn::kAdd, "TADDS", WITH_SCALAR(TADDS));
    AddOne<T>(rows, Fn::kSub, "TSUBS", WITH_SCALAR(TSUBS));
    AddOne<T>(rows, Fn::kMul, "TMULS", WITH_SCALAR(TMULS));
    AddOne<T>(rows, Fn::kDiv, "TDIVS", WITH_SCALAR(TDIVS));
    AddOne<T>(rows, Fn::kMax, "TMAXS", WITH_SCALAR(TMAXS));
    AddOne<T>(rows, Fn::kMin, "TMINS", WITH_SCALAR(TMINS));
    Add<Wide<T>, Wide<T>>(
        rows, {Form::kScalarFirst, Fn::kDiv, "TDIVS"},
        [](const Operands& operands, auto& c, auto& a) { TDIVS(c, ScalarOf<T>(operands), a); });
  });
  ForTypes<half, float>([&]<class T>() {
    AddOne<T>(rows, Fn::kLeaky, "TLRELU", WITH_SCALAR(TLRELU));
    AddOne<T>(rows, Fn::kAxpy, "TAXPY", WITH_SCALAR(TAXPY));
  });
  ForTypes<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, half, bfloat16_t, float>(
      [&]<class T>() {
        Add<Nd<T, 6, kElements<T, 2>>>(
            rows, {Form::kFill, Fn::kNone, "TEXPANDS"},
            [](const Operands& operands, auto& c) { TEXPANDS(c, ScalarOf<T>(operands)); });
      });
}

}  // namespace fuzz
