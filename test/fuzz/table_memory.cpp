// SPDX-License-Identifier: Apache-2.0
// Loads and stores of vector tiles.
#include "table.hpp"

namespace fuzz {
namespace {

using namespace pto;

template <class T>
T* Start(const Operands& operands) {
  return reinterpret_cast<T*>(static_cast<char*>(operands.memory) + operands.global);
}

/// Rows, or columns, a pitch apart.
template <class T, Layout kLayout>
auto Matrix(const Operands& operands) {
  using Sizes = Shape<1, 1, 1, -1, -1>;
  using Steps = Stride<1, 1, 1, -1, -1>;
  return GlobalTensor<T, Sizes, Steps, kLayout>(Start<T>(operands),
                                                Sizes(operands.shape[3], operands.shape[4]),
                                                Steps(operands.stride[3], operands.stride[4]));
}

template <class T>
auto Five(const Operands& operands) {
  const int64_t* n = operands.shape;
  const int64_t* s = operands.stride;
  return GlobalTensor<T, Shape<>, Stride<>>(Start<T>(operands), {n[0], n[1], n[2], n[3], n[4]},
                                            {s[0], s[1], s[2], s[3], s[4]});
}

#define LOAD_FROM(MAKE)                      \
  [](const Operands& operands, auto& tile) { \
    auto global = MAKE(operands);            \
    TLOAD(tile, global);                     \
  }
#define STORE_TO(MAKE)                       \
  [](const Operands& operands, auto& tile) { \
    auto global = MAKE(operands);            \
    TSTORE(global, tile);                    \
  }

Kind Loading(Global global, Dtype type) {
  return {Form::kLoad, Fn::kNone, "TLOAD", Pipe::kMte2, false, global, type};
}
Kind Storing(Global global, Dtype type) {
  return {Form::kStore, Fn::kNone, "TSTORE", Pipe::kMte3, false, global, type};
}

template <class T>
void AddRows(Rows& rows) {
  constexpr Dtype kType = DtypeOf<T>();
  constexpr int kBlock = kElements<T, 1>;
  using Flat = Nd<T, 1, 6 * kBlock>;
  using Wide = Nd<T, 12, 3 * kBlock>;
  const auto load = LOAD_FROM((Matrix<T, Layout::ND>));
  const auto store = STORE_TO((Matrix<T, Layout::ND>));
  Add<Flat>(rows, Loading(Global::kRows, kType), load);
  Add<Wide>(rows, Loading(Global::kRows, kType), load);
  Add<Flat>(rows, Storing(Global::kRows, kType), store);
  Add<Wide>(rows, Storing(Global::kRows, kType), store);
}

template <class T>
void AddFive(Rows& rows) {
  using Wide = Nd<T, 24, kElements<T, 2>>;
  Add<Wide>(rows, Loading(Global::kFive, DtypeOf<T>()), LOAD_FROM(Five<T>));
  Add<Wide>(rows, Storing(Global::kFive, DtypeOf<T>()), STORE_TO(Five<T>));
}

template <class T>
void AddColumns(Rows& rows) {
  using Tall = Dn<T, kElements<T, 3>, 7>;
  Add<Tall>(rows, Loading(Global::kColumns, DtypeOf<T>()), LOAD_FROM((Matrix<T, Layout::DN>)));
  Add<Tall>(rows, Storing(Global::kColumns, DtypeOf<T>()), STORE_TO((Matrix<T, Layout::DN>)));
}

template <class T>
void AddAtomic(Rows& rows) {
  using Wide = Nd<T, 6, kElements<T, 3>>;
  Add<Wide>(rows,
            {Form::kStoreAdd, Fn::kAdd, "TSTORE", Pipe::kMte3, false, Global::kRows, DtypeOf<T>()},
            [](const Operands& operands, auto& tile) {
              auto global = Matrix<T, Layout::ND>(operands);
              TSTORE<Wide, decltype(global), AtomicType::AtomicAdd>(global, tile);
            });
}

}  // namespace

void AddMemory(Rows& rows) {
  ForTypes<uint8_t, int16_t, int32_t, half, bfloat16_t, float>([&]<class T>() {
    AddRows<T>(rows);
    AddColumns<T>(rows);
  });
  ForTypes<int8_t, half, float, int32_t>([&]<class T>() { AddFive<T>(rows); });
  ForTypes<int8_t, int16_t, int32_t, half, bfloat16_t, float>(
      [&]<class T>() { AddAtomic<T>(rows); });
}

}  // namespace fuzz
