// SPDX-License-Identifier: Apache-2.0
// The model's instructions: loops over elements, by what they do with their tiles.
#include <cmath>
#include <vector>

#include "model.hpp"

namespace fuzz {
namespace {

class Execution {
 public:
  Execution(const Step& step, bool is_a5, Machine& machine)
      : step_(step),
        what_(*step.instruction),
        operands_(step.operands),
        is_a5_(is_a5),
        global_(machine, Space::kGlobal, 0),
        added_(machine, Space::kGlobal, 0) {
    for (int i = 0; i < what_.count; ++i)
      tiles_.emplace_back(machine, what_.tiles[i], operands_.address[i]);
  }

  Touched Run() {
    Dispatch();
    Touched touched;
    for (const TileView& tile : tiles_) tile.Tell(touched, what_.pipe);
    global_.Tell(touched, what_.pipe);
    Join(touched.reads);
    Join(touched.writes);
    return touched;
  }

 private:
  int Rows(int tile) const { return operands_.valid_rows[tile]; }
  int Cols(int tile) const { return operands_.valid_cols[tile]; }
  Dtype Type(int tile) const { return what_.tiles[tile].dtype; }
  Element Scalar() const { return {operands_.scalar}; }

  /// 0[row, col] = value(row, col) over the valid region of 0.
  template <class Value>
  void ForEach(const Value& value) {
    for (int row = 0; row < Rows(0); ++row)
      for (int col = 0; col < Cols(0); ++col) tiles_[0].Set(row, col, value(row, col));
  }

  void Dispatch() {
    switch (what_.form) {
      case Form::kReduceRows:
        return ReduceRows();
      case Form::kReduceColumns:
        return ReduceColumns();
      case Form::kCompare:
      case Form::kCompareScalar:
        return Compare();
      case Form::kSelect:
      case Form::kSelectScalar:
        return Select();
      case Form::kTranspose:
      case Form::kInsert:
      case Form::kConcat:
      case Form::kMove:
      case Form::kOperand:
        return Move();
      case Form::kLoad:
        return Load();
      case Form::kStore:
      case Form::kStoreAdd:
        return Store();
      case Form::kProduct:
      case Form::kProductAdd:
        return Multiply();
      default:
        return ForEach([this](int row, int col) { return ValueAt(row, col); });
    }
  }

  Element ValueAt(int row, int col) {
    const Dtype type = Type(0);
    std::vector<TileView>& t = tiles_;
    switch (what_.form) {
      case Form::kTiles:
        return Compute(what_.fn, type, t[1].At(row, col), t[2].At(row, col));
      case Form::kScalar:
        if (what_.fn != Fn::kAxpy) return Compute(what_.fn, type, t[1].At(row, col), Scalar());
        return Compute(Fn::kAdd, type, t[0].At(row, col),
                       Compute(Fn::kMul, type, t[1].At(row, col), Scalar()));
      case Form::kScalarFirst:
        return Compute(what_.fn, type, Scalar(), t[1].At(row, col));
      case Form::kUnary:
        return Compute(what_.fn, type, t[1].At(row, col), Element{});
      case Form::kFill:
        return Scalar();
      case Form::kCount:
        return {Wrapped(type, IntegerOf(type, operands_.scalar) + col)};
      case Form::kTriangle: {
        const double one = col <= row + operands_.mode ? 1 : 0;
        return IsFloat(type) ? ElementOf(type, one) : Element{static_cast<uint32_t>(one)};
      }
      case Form::kExpandRows:
        return t[1].At(row, 0);
      case Form::kExpandColumns:
        return t[1].At(0, col);
      case Form::kExpandRowsWith:
        return Compute(what_.fn, type, t[1].At(row, col), t[2].At(row, 0));
      case Form::kExpandColsWith:
        return Compute(what_.fn, type, t[1].At(row, col), t[2].At(0, col));
      case Form::kConvert:
        return Convert(type, Type(1), t[1].At(row, col), operands_.mode);
      case Form::kExtract:
        return t[1].At(operands_.row + row, operands_.col + col);
      default:
        return Part(row, col);
    }
  }

  Element Part(int row, int col) {
    const bool has_first = row < Rows(1) && col < Cols(1);
    const bool has_second = row < Rows(2) && col < Cols(2);
    if (!has_second) return tiles_[1].At(row, col);
    if (!has_first) return tiles_[2].At(row, col);
    return Compute(what_.fn, Type(0), tiles_[1].At(row, col), tiles_[2].At(row, col));
  }

  /// The greatest of a row that holds zeros of both signs may be either.
  void ReduceRows() {
    const Dtype type = Type(1);
    for (int row = 0; row < Rows(1); ++row) {
      Element result = tiles_[1].At(row, 0);
      uint32_t signs = 0;
      for (int col = 0; col < Cols(1); ++col) {
        const Element next = tiles_[1].At(row, col);
        if (IsFloat(type) && next.mark == kKnown && ValueOf(type, next.bits) == 0)
          signs |= next.bits == 0 ? 1 : 2;
        if (col > 0)
          result = Compute(what_.fn, type, result, next);
        else
          result = Canonical(type, next);
      }
      const bool is_zero = result.mark == kKnown && ValueOf(type, result.bits) == 0;
      tiles_[0].Set(row, 0, IsFloat(type) && is_zero && signs == 3 ? kAnything : result);
    }
  }

  /// Of a NaN only that it is one.
  static Element Canonical(Dtype type, const Element& element) {
    if (!IsUsable(type, element)) return kAnything;
    return element.mark == kKnown && IsNan(type, element.bits) ? ElementOf(type, std::nan(""))
                                                               : element;
  }

  void ReduceColumns() {
    for (int col = 0; col < Cols(1); ++col) {
      Element result = tiles_[1].At(0, col);
      for (int row = 1; row < Rows(1); ++row)
        result = Compute(what_.fn, Type(1), result, tiles_[1].At(row, col));
      tiles_[0].Set(0, col, result);
    }
  }

  void Compare() {
    const bool to_scalar = what_.form == Form::kCompareScalar;
    // A2/A3 compares 16-bit integers to scalars as it does half.
    const bool as_half = to_scalar && !is_a5_ && !IsFloat(Type(1)) && BytesOf(Type(1)) == 2;
    const Dtype type = as_half ? Dtype::kF16 : Type(1);
    for (int row = 0; row < Rows(1); ++row) {
      for (int first = 0; first < Cols(1); first += 8) {
        Element bits;
        for (int col = first; col < std::min(first + 8, Cols(1)); ++col) {
          const Element a = tiles_[1].At(row, col);
          const Element b = to_scalar ? Scalar() : tiles_[2].At(row, col);
          if (!IsUsable(type, a) || !IsUsable(type, b)) bits.mark = kUnknown;
          if (bits.mark == kKnown && Compares(type, operands_.mode, a, b))
            bits.bits |= 1u << (col - first);
        }
        tiles_[0].Set(row, first / 8, bits);
      }
    }
  }

  void Select() {
    ForEach([this](int row, int col) {
      const Element bits = tiles_[1].At(row, col / 8);
      const Element a = tiles_[2].At(row, col);
      const Element b = what_.form == Form::kSelect ? tiles_[3].At(row, col) : Scalar();
      if (bits.mark != kKnown) return kAnything;
      return (bits.bits >> col % 8 & 1) != 0 ? a : b;
    });
  }

  void Move() {
    const bool is_whole = what_.form == Form::kOperand;
    const TileType& whole = what_.tiles[0];
    const int rows = is_whole ? whole.rows : Rows(1), cols = is_whole ? whole.cols : Cols(1);
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < cols; ++col) {
        if (what_.form == Form::kTranspose) {
          tiles_[0].Set(col, row, tiles_[1].At(row, col));
        } else if (what_.form == Form::kInsert) {
          tiles_[0].Set(operands_.row + row, operands_.col + col, tiles_[1].At(row, col));
        } else if (is_whole) {
          tiles_[0].Set(row, col, tiles_[1].At(operands_.row + row, operands_.col + col));
        } else if (what_.form == Form::kConcat || (row < Rows(0) && col < Cols(0))) {
          tiles_[0].Set(row, col, tiles_[1].At(row, col));
        }
      }
    }
    for (int row = 0; row < Rows(2) && what_.form == Form::kConcat; ++row)
      for (int col = 0; col < Cols(2); ++col)
        tiles_[0].Set(row, Cols(1) + col, tiles_[2].At(row, col));
  }

  /// Behind each line, up to whole blocks of 32 bytes, a load writes zeros.
  void Load() {
    const size_t bytes = BytesOf(Type(0));
    const auto block = static_cast<int>(32 / bytes);
    const auto up = [block](int length) { return (length + block - 1) / block * block; };
    const bool by_columns = what_.tiles[0].order == Order::kDn;
    const int rows = by_columns ? up(Rows(0)) : Rows(0);
    const int cols = by_columns ? Cols(0) : up(Cols(0));
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < cols; ++col) {
        const bool is_there = row < Rows(0) && col < Cols(0);
        tiles_[0].Set(row, col, is_there ? global_.Get(Place(row, col), bytes) : Element{});
      }
    }
  }

  void Store() {
    const size_t bytes = BytesOf(what_.out);
    for (int row = 0; row < Rows(0); ++row) {
      for (int col = 0; col < Cols(0); ++col) {
        Element element = tiles_[0].At(row, col);
        if (what_.out != Type(0)) element = Convert(what_.out, Type(0), element, 1);
        if (what_.form == Form::kStoreAdd) {
          const Element there = added_.Get(Place(row, col), bytes);
          element = Compute(Fn::kAdd, what_.out, there, element);
        }
        global_.Put(Place(row, col), bytes, element);
      }
    }
  }

  uint64_t Place(int row, int col) const {
    return static_cast<uint64_t>(GlobalOffset(step_, row, col));
  }

  void Multiply() {
    const int rows = Rows(0), cols = Cols(0), depth = Cols(1);
    const bool adds = what_.form == Form::kProductAdd;
    std::vector<Element> a, b;
    for (int row = 0; row < rows; ++row)
      for (int k = 0; k < depth; ++k) a.push_back(tiles_[1].At(row, k));
    for (int k = 0; k < depth; ++k)
      for (int col = 0; col < cols; ++col) b.push_back(tiles_[2].At(k, col));
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < cols; ++col) {
        Element sum = adds ? tiles_[0].At(row, col) : Element{};
        for (int k = 0; k < depth; ++k)
          sum = AddProduct(sum, a[row * depth + k], b[k * cols + col]);
        tiles_[0].Set(row, col, sum);
      }
    }
  }

  /// sum + a * b, rounded once.
  Element AddProduct(const Element& sum, const Element& a, const Element& b) const {
    const Dtype in = Type(1), out = Type(0);
    if (!IsUsable(in, a) || !IsUsable(in, b) || !IsUsable(out, sum)) return kAnything;
    if (!IsFloat(in)) {
      const int64_t product = IntegerOf(in, a.bits) * IntegerOf(in, b.bits);
      return {Wrapped(out, IntegerOf(out, sum.bits) + product)};
    }
    const auto number = [](Dtype type, const Element& element) {
      return static_cast<float>(element.mark == kKnown ? ValueOf(type, element.bits)
                                                       : std::nan(""));
    };
    return ElementOf(out, std::fma(number(in, a), number(in, b), number(out, sum)));
  }

  const Step& step_;
  const Instantiation& what_;
  const Operands& operands_;
  bool is_a5_;
  std::vector<TileView> tiles_;
  View global_, added_;  // what the second reads belongs to the stores
};

}  // namespace

Touched ExecuteStep(const Step& step, bool is_a5, Machine& machine) {
  return Execution(step, is_a5, machine).Run();
}

}  // namespace fuzz
