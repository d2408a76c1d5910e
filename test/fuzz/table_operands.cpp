// SPDX-License-Identifier: Apache-2.0
// Loads into L1, and parts of it to L0A and L0B.
#include "table_cube.hpp"

namespace fuzz {
namespace {

using namespace pto;

template <class T, int kRows, int kCols>
using Mat = Tile<pto::TileType::Mat, T, kRows, kCols, BLayout::ColMajor, -1, -1, SLayout::RowMajor>;
template <class T>
void AddType(Rows& rows) {
  using Source = Mat<T, 64, 64>;
  const auto load = [](const Operands& operands, auto& tile) {
    auto global = Matrix<T>(operands);
    TLOAD(tile, global);
  };
  const Kind loading = {Form::kLoad, Fn::kNone,     "TLOAD",     Pipe::kMte2,
                        false,       Global::kRows, DtypeOf<T>()};
  Add<Source>(rows, loading, load);
  Add<Mat<T, 32, 32>>(rows, loading, load);
  const auto part = [](const Operands& operands, auto& c, auto& a) {
    TEXTRACT(c, a, static_cast<uint16_t>(operands.row), static_cast<uint16_t>(operands.col));
  };
  const Kind taking = {Form::kOperand, Fn::kNone, "TEXTRACT", Pipe::kMte1};
  Add<LeftZz<T, 32, kDepth<T>>, Source>(rows, taking, part);
  Add<LeftZz<T, 16, kDepth<T>>, Source>(rows, taking, part);
  Add<RightOf<T, kDepth<T>, 32>, Source>(rows, taking, part);
}

}  // namespace

void AddOperands(Rows& rows) {
  ForTypes<int8_t, half, bfloat16_t, float>([&]<class T>() { AddType<T>(rows); });
}

}  // namespace fuzz
