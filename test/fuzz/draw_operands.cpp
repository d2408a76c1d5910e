// SPDX-License-Identifier: Apache-2.0
// What an instruction takes besides addresses.
#include <algorithm>

#include "draw.hpp"

namespace fuzz {
namespace {

class Operation {
 public:
  Operation(Step& step, bool is_a5, Random& random)
      : what_(*step.instruction), operands_(step.operands), is_a5_(is_a5), random_(random) {}

  void Draw() {
    DrawRegions();
    if (what_.global != Global::kNone) DrawGlobal();
    DrawScalar();
    DrawMode();
  }

 private:
  const TileType& Tile(int tile) const { return what_.tiles[tile]; }
  void Set(int tile, int rows, int cols) {
    operands_.valid_rows[tile] = rows;
    operands_.valid_cols[tile] = cols;
  }
  void SetAll(int rows, int cols) {
    for (int i = 0; i < what_.count; ++i) Set(i, rows, cols);
  }
  void SetSome(int tile, int most_rows, int most_cols) {
    const int rows = Extent(most_rows), cols = Extent(most_cols);
    Set(tile, rows, cols);
  }
  void SetSome(int tile) { SetSome(tile, Tile(tile).rows, Tile(tile).cols); }
  void SetWhole(int tile) { Set(tile, Tile(tile).rows, Tile(tile).cols); }
  int Extent(int most) { return random_.Chance(45) ? most : random_.Between(1, most); }
  int BlockOf(int tile) const { return 32 / static_cast<int>(BytesOf(Tile(tile).dtype)); }

  void DrawRegions() {
    const int rows = Extent(Tile(0).rows), cols = Extent(Tile(0).cols);
    switch (what_.form) {
      case Form::kCompare:
      case Form::kCompareScalar:
        return DrawCompared();
      case Form::kSelect:
      case Form::kSelectScalar:
        SetAll(rows, cols);
        return Set(1, rows, (cols + 7) / 8);
      case Form::kReduceRows:
        return DrawReducedRows();
      case Form::kReduceColumns: {
        const int width = Extent(Tile(1).cols);
        Set(0, 1, width);
        return Set(1, Extent(Tile(1).rows), width);
      }
      case Form::kExpandRows:
        Set(0, rows, cols);
        return Set(1, rows, 1);
      case Form::kExpandColumns:
        Set(0, rows, cols);
        return Set(1, 1, cols);
      case Form::kExpandRowsWith:
        SetAll(rows, cols);
        return Set(2, rows, 1);
      case Form::kExpandColsWith:
        SetAll(rows, cols);
        return Set(2, 1, cols);
      default:
        return DrawOtherRegions(rows, cols);
    }
  }

  void DrawCompared() {
    const int rows = Extent(Tile(1).rows), cols = Extent(Tile(1).cols);
    SetAll(rows, cols);
    Set(0, rows, (cols + 7) / 8);
  }

  void DrawReducedRows() {
    const int rows = Extent(std::min(Tile(0).rows, Tile(1).rows));
    Set(0, rows, 1);
    Set(1, rows, Extent(Tile(1).cols));
  }

  void DrawOtherRegions(int rows, int cols) {
    const bool is_elementwise = what_.form <= Form::kFill;
    switch (what_.form) {
      case Form::kTranspose:
        SetSome(1, std::min(Tile(1).rows, Tile(0).cols), std::min(Tile(1).cols, Tile(0).rows));
        return Set(0, operands_.valid_cols[1], operands_.valid_rows[1]);
      case Form::kExtract:
        Set(0, rows, cols);
        SetWhole(1);
        return DrawOrigin(1, 0);
      case Form::kInsert:
        SetSome(1);
        SetWhole(0);
        return DrawOrigin(0, 1);
      case Form::kConcat: {
        const int height = Extent(std::min(Tile(0).rows, Tile(1).rows));
        Set(1, height, Extent(Tile(1).cols));
        Set(2, height, Extent(Tile(2).cols));
        return Set(0, height, operands_.valid_cols[1] + operands_.valid_cols[2]);
      }
      case Form::kPart: {
        SetAll(rows, cols);
        const int tile = random_.Between(1, 2);
        const int part_rows = random_.Between(0, rows), part_cols = random_.Between(0, cols);
        return Set(tile, part_rows, part_cols);
      }
      case Form::kMove:
        Set(0, rows, cols);
        return SetSome(1);
      case Form::kOperand:
        SetWhole(0);
        SetWhole(1);
        operands_.row = 32 * random_.Between(0, (Tile(1).rows - Tile(0).rows) / 32);
        operands_.col = 32 * random_.Between(0, (Tile(1).cols - Tile(0).cols) / 32);
        return;
      case Form::kProduct:
      case Form::kProductAdd: {
        const int depth = Extent(Tile(1).cols);
        Set(0, rows, cols);
        Set(1, rows, depth);
        return Set(2, depth, cols);
      }
      default:
        if (is_elementwise && random_.Chance(3)) return SetAll(0, cols);
        return SetAll(rows, cols);
    }
  }

  /// Where the valid region of part lies in whole: columns at blocks of 32 bytes.
  void DrawOrigin(int whole, int part) {
    const int block = BlockOf(whole);
    operands_.row = random_.Between(0, Tile(whole).rows - operands_.valid_rows[part]);
    operands_.col =
        block * random_.Between(0, (Tile(whole).cols - operands_.valid_cols[part]) / block);
  }

  void DrawGlobal() {
    const int rows = operands_.valid_rows[0], cols = operands_.valid_cols[0];
    int64_t* shape = operands_.shape;
    int64_t* stride = operands_.stride;
    std::fill_n(shape, 5, 1);
    std::fill_n(stride, 5, 1);
    shape[3] = rows;
    shape[4] = cols;
    if (what_.global == Global::kFive) DrawFive();
    if (what_.global == Global::kColumns) {
      stride[4] = DrawPitch(rows);
    } else {
      stride[3] = DrawPitch(cols);
    }
    for (int d = 2; d >= 0 && what_.global == Global::kFive; --d)
      stride[d] = shape[d + 1] * stride[d + 1] + random_.Between(0, 5);
    int64_t last = 0;
    for (int d = 0; d < 5; ++d) last += (shape[d] - 1) * stride[d];
    const auto bytes = static_cast<int64_t>(BytesOf(what_.out));
    const int64_t room = static_cast<int64_t>(kGlobalBytes) / bytes - last - 1;
    const int64_t near = std::min<int64_t>(room, random_.Chance(70) ? 64 : room);
    operands_.global = bytes * (random_.Chance(5) ? room : random_.Below(near + 1));
  }

  /// Rows in four dimensions.
  void DrawFive() {
    auto rest = static_cast<int>(operands_.shape[3]);
    for (int d = 3; d > 0; --d) {
      int part = random_.Between(1, rest);
      while (rest % part != 0) --part;
      operands_.shape[d] = part;
      rest /= part;
    }
    operands_.shape[0] = rest;
  }

  /// Loads may take lines that overlap, stores may not.
  int64_t DrawPitch(int length) {
    const bool overlaps = what_.form == Form::kLoad && random_.Chance(10);
    if (overlaps && what_.global != Global::kFive) return random_.Between(0, length);
    return length + (random_.Chance(40) ? 0 : random_.Between(0, 40));
  }

  void DrawScalar() {
    const Dtype type = Tile(what_.count > 1 ? 1 : 0).dtype;
    const Dtype of_scalar = what_.form == Form::kSelectScalar ? Tile(2).dtype : type;
    operands_.scalar = Wrapped(of_scalar, static_cast<int64_t>(random_.Next()));
    const bool is_small = random_.Chance(70);
    if (is_small && IsFloat(of_scalar))
      operands_.scalar = BitsOf(of_scalar, random_.Between(-64, 64) / 8.0);
    if (is_small && !IsFloat(of_scalar))
      operands_.scalar = Wrapped(of_scalar, random_.Between(-9, 9));
    // A NaN's other bits would be the compiler's business.
    if (IsNan(of_scalar, operands_.scalar)) operands_.scalar = 0;
    if (what_.form == Form::kScalar && (what_.fn == Fn::kShl || what_.fn == Fn::kShr))
      operands_.scalar = random_.Below(40u);
  }

  void DrawMode() {
    switch (what_.form) {
      case Form::kCompare:
      case Form::kCompareScalar: {
        const bool only_equal = Tile(1).dtype == Dtype::kI32 && !is_a5_;
        operands_.mode = random_.Between(0, only_equal ? 1 : 5);
        return;
      }
      case Form::kConvert:
        operands_.mode = random_.Between(0, 5);
        if (random_.Chance(50)) operands_.mode += 8;
        return;
      default:
        operands_.mode = random_.Between(-12, 12);
    }
  }

  const Instantiation& what_;
  Operands& operands_;
  bool is_a5_;
  Random& random_;
};

}  // namespace

void DrawOperands(Step& step, bool is_a5, Random& random) { Operation(step, is_a5, random).Draw(); }

}  // namespace fuzz
