// SPDX-License-Identifier: Apache-2.0
// Products, and the stores of their sums.
#include "table_cube.hpp"

namespace fuzz {
namespace {

using namespace pto;

template <class Sum, class T>
void AddType(Rows& rows) {
  const Kind product = {Form::kProduct, Fn::kNone, "TMATMUL", Pipe::kM};
  const Kind sum = {Form::kProductAdd, Fn::kNone, "TMATMUL_ACC", Pipe::kM};
  const auto multiply = [](const Operands&, auto& c, auto& a, auto& b) { TMATMUL(c, a, b); };
  const auto add = [](const Operands&, auto& c, auto& a, auto& b) { TMATMUL_ACC(c, a, b); };
  using Right = RightOf<T, kDepth<T>, 32>;
  Add<AccOf<Sum, 32, 32>, LeftZz<T, 32, kDepth<T>>, Right>(rows, product, multiply);
  Add<AccOf<Sum, 16, 32>, LeftZz<T, 16, kDepth<T>>, Right>(rows, product, multiply);
  Add<AccOf<Sum, 32, 32>, LeftZz<T, 32, kDepth<T>>, Right>(rows, sum, add);
}

template <class Sum, class Out>
void AddStores(Rows& rows) {
  const Kind storing = {Form::kStore, Fn::kNone,     "TSTORE",      Pipe::kFix,
                        false,        Global::kRows, DtypeOf<Out>()};
  const auto store = [](const Operands& operands, auto& tile) {
    auto global = Matrix<Out>(operands);
    TSTORE(global, tile);
  };
  Add<AccOf<Sum, 32, 32>>(rows, storing, store);
  Add<AccOf<Sum, 16, 32>>(rows, storing, store);
}

}  // namespace

void AddProducts(Rows& rows) {
  ForTypes<half, bfloat16_t, float>([&]<class T>() { AddType<float, T>(rows); });
  AddType<int32_t, int8_t>(rows);
  AddStores<float, float>(rows);
  AddStores<float, half>(rows);
  AddStores<float, bfloat16_t>(rows);
  AddStores<int32_t, int32_t>(rows);
}

}  // namespace fuzz
