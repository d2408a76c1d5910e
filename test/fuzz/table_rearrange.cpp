// SPDX-License-Identifier: Apache-2.0
// Elements that go to other places of vector tiles.
#include "table.hpp"

namespace fuzz {
namespace {

using namespace pto;

template <class T>
void AddMoves(Rows& rows) {
  constexpr int kBlock = kElements<T, 1>;
  const auto move = [](const Operands&, auto& c, auto& a) { TMOV(c, a); };
  const Kind kind = {Form::kMove, Fn::kNone, "TMOV"};
  Add<Nd<T, 16, 2 * kBlock>, Nd<T, 16, 3 * kBlock>>(rows, kind, move);
  Add<Nd<T, 32, 2 * kBlock>, Nz<T, 32, 2 * kBlock>>(rows, kind, move);
  Add<Nz<T, 32, 2 * kBlock>, Nd<T, 32, 2 * kBlock>>(rows, kind, move);
  Add<Dn<T, 32, 2 * kBlock>, Nd<T, 32, 2 * kBlock>>(rows, kind, move);
}

template <class T>
void AddPieces(Rows& rows) {
  constexpr int kBlock = kElements<T, 1>;
  const auto extract = [](const Operands& operands, auto& c, auto& a) {
    TEXTRACT(c, a, static_cast<uint16_t>(operands.row), static_cast<uint16_t>(operands.col));
  };
  const auto insert = [](const Operands& operands, auto& c, auto& a) {
    TINSERT(c, a, static_cast<uint16_t>(operands.row), static_cast<uint16_t>(operands.col));
  };
  Add<Nd<T, 4, 2 * kBlock>, Nd<T, 16, 4 * kBlock>>(rows, {Form::kExtract, Fn::kNone, "TEXTRACT"},
                                                   extract);
  Add<Nd<T, 16, 4 * kBlock>, Nd<T, 4, 2 * kBlock>>(rows, {Form::kInsert, Fn::kNone, "TINSERT"},
                                                   insert);
  Add<Nd<T, 4, 5 * kBlock>, Nd<T, 4, 2 * kBlock>, Nd<T, 8, 3 * kBlock>>(
      rows, {Form::kConcat, Fn::kNone, "TCONCAT"},
      [](const Operands&, auto& c, auto& a, auto& b) { TCONCAT(c, a, b); });
}

template <class T>
void AddTransposes(Rows& rows) {
  constexpr int kBlock = kElements<T, 1>;
  const auto turn = [](const Operands&, auto& c, auto& a) { TTRANS(c, a, a); };
  const Kind kind = {Form::kTranspose, Fn::kNone, "TTRANS"};
  Add<Nd<T, 2 * kBlock, 32>, Nd<T, 32, 2 * kBlock>>(rows, kind, turn);
  Add<Nd<T, 3 * kBlock, 32>, Nd<T, 5, 3 * kBlock>>(rows, kind, turn);
}

}  // namespace

void AddRearrange(Rows& rows) {
  ForTypes<uint8_t, int16_t, half, float>([&]<class T>() {
    AddPieces<T>(rows);
    AddTransposes<T>(rows);
  });
  ForTypes<int16_t, half, float>([&]<class T>() { AddMoves<T>(rows); });
}

}  // namespace fuzz
