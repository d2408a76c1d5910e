// SPDX-License-Identifier: Apache-2.0
// Bits of a tile and a scalar.
#include "table.hpp"

namespace fuzz {
namespace {

using namespace pto;

#define WITH_SCALAR(NAME)                                                      \
  [](const Operands& operands, auto& c, auto& a) {                             \
    NAME(c, a, ScalarOf<typename std::decay_t<decltype(a)>::DType>(operands)); \
  }

template <class T, class Body>
void AddOne(Rows& rows, Fn fn, const char* name, const Body& body) {
  using Boxed = Nz<T, 16, kElements<T, 1>>;
  Add<Boxed, Boxed>(rows, {Form::kScalar, fn, name}, body);
}

}  // namespace

void AddScalarBits(Rows& rows) {
  ForTypes<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>([&]<class T>() {
    AddOne<T>(rows, Fn::kAnd, "TANDS", WITH_SCALAR(TANDS));
    AddOne<T>(rows, Fn::kOr, "TORS", WITH_SCALAR(TORS));
  });
  ForTypes<int16_t, uint16_t, int32_t, uint32_t>([&]<class T>() {
    AddOne<T>(rows, Fn::kShl, "TSHLS", WITH_SCALAR(TSHLS));
    AddOne<T>(rows, Fn::kShr, "TSHRS", WITH_SCALAR(TSHRS));
  });
}

}  // namespace fuzz
