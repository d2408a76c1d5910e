// SPDX-License-Identifier: Apache-2.0
// Combinations of tiles of which one may be smaller, against plain loops.
#include <algorithm>
#include <vector>

#include "elements.hpp"

namespace {

using namespace pto;
using test::ExpectContains;
using test::FaultOf;
using test::kA3;
using test::kA5;
using test::OnCore;

constexpr int kRows = 12, kCols = 96;

template <class T>
using Wide = test::VecTile<T, kRows, kCols>;
template <class T>
using Narrow = test::VecTile<T, kRows, kCols - 32>;

struct Size {
  int rows, cols;
};
const std::vector<std::pair<Size, Size>> kSizes = {
    {{9, 61}, {9, 61}}, {{9, 61}, {4, 61}}, {{9, 61}, {9, 17}}, {{9, 61}, {4, 17}},
    {{5, 3}, {9, 61}},  {{9, 61}, {0, 61}}, {{9, 0}, {9, 61}}};

template <class TileT, class T>
void PlaceAt(TileT& tile, int address, Size size, const std::vector<T>& values) {
  tile.SetValidShape(size.rows, size.cols);
  TASSIGN(tile, address);
  std::memcpy(static_cast<void*>(tile.data()), values.data(), TileT::Numel * sizeof(T));
}

bool IsWithin(int row, int col, Size size) { return row < size.rows && col < size.cols; }

/// Values of T, few of them so that pairs are often equal.
template <class T>
std::vector<T> Few(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(kRows * kCols);
  for (T& value : values) value = static_cast<T>(static_cast<int>(random() % 9) - 4);
  return values;
}

template <class T, class Op, class Plain>
void CheckParts(const Op& op, const Plain& plain, bool a5 = kA3) {
  const auto x = test::Samples<T>(kRows * kCols, 1, 0), y = test::Samples<T>(kRows * kCols, 2, 1);
  for (const auto& [first, second] : kSizes) {
    OnCore([&, first = first, second = second] {
      std::optional<test::AsA5> chip;
      if (a5) chip.emplace();
      Wide<T> dst(0, 0), src0(0, 0);
      Narrow<T> src1(0, 0);
      const Size size = {std::max(first.rows, second.rows), std::max(first.cols, second.cols)};
      PlaceAt(dst, 0, size, std::vector<T>(kRows * kCols, static_cast<T>(77)));
      PlaceAt(src0, 16384, first, x);
      PlaceAt(src1, 32768, second, y);
      op(dst, src0, src1);
      for (int row = 0; row < kRows; ++row) {
        for (int col = 0; col < kCols; ++col) {
          const bool has0 = IsWithin(row, col, first), has1 = IsWithin(row, col, second);
          const T a = x[row * kCols + col];
          const T b = has1 ? y[row * (kCols - 32) + col] : T{};
          const T right = has0 && has1 ? plain(a, b) : has0 ? a : has1 ? b : static_cast<T>(77);
          ASSERT_TRUE(test::Same(dst.GetValue(row * kCols + col), right)) << row << ", " << col;
        }
      }
    });
  }
}

template <class T>
void CheckAllParts(bool a5 = kA3) {
  const auto wide = [](auto plain) {
    return [plain](T a, T b) {
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(plain(__int128{a}, __int128{b}));
      else
        return test::Rounded<T>(plain(static_cast<double>(a), static_cast<double>(b)));
    };
  };
  CheckParts<T>([](auto& c, auto& a, auto& b) { TPARTADD(c, a, b); }, wide(test::kSum), a5);
  CheckParts<T>([](auto& c, auto& a, auto& b) { TPARTMUL(c, a, b); }, wide(test::kProduct), a5);
  CheckParts<T>([](auto& c, auto& a, auto& b) { TPARTMAX(c, a, b); }, wide(test::kGreater), a5);
  CheckParts<T>([](auto& c, auto& a, auto& b) { TPARTMIN(c, a, b); }, wide(test::kLesser), a5);
}

TEST(Parts, AreCombinedWhereBothAreValidAndCopiedElsewhere) {
  CheckAllParts<float>();
  CheckAllParts<half>();
  CheckAllParts<int16_t>();
  CheckAllParts<int32_t>();
  CheckAllParts<bfloat16_t>(kA5);
  CheckAllParts<uint8_t>(kA5);
}

TEST(Parts, MayBeCombinedInPlace) {
  OnCore([] {
    Wide<float> big(0, 0), small(0, 0);
    PlaceAt(big, 0, {4, 8}, std::vector<float>(kRows * kCols, 1.0f));
    PlaceAt(small, 8192, {2, 3}, std::vector<float>(kRows * kCols, 2.0f));
    TPARTADD(big, big, small);
    TPARTADD(big, small, big);
    EXPECT_EQ(big.GetValue(0), 5.0f);
    EXPECT_EQ(big.GetValue(3), 1.0f);
    EXPECT_EQ(big.GetValue(2 * kCols), 1.0f);
  });
}

template <class T, class I, class Op, class Wins>
void CheckIndexed(const Op& op, const Wins& wins, bool a5 = kA3) {
  auto x = Few<T>(1), y = Few<T>(2);
  x[0] = x[1] = y[1] = y[2] = static_cast<T>(std::nanf(""));
  const auto i = Few<I>(3), j = Few<I>(4);
  for (const auto& [first, second] : kSizes) {
    OnCore([&, first = first, second = second] {
      std::optional<test::AsA5> chip;
      if (a5) chip.emplace();
      Wide<T> dst(0, 0), src0(0, 0), src1(0, 0);
      Wide<I> dst_index(0, 0), index0(0, 0), index1(0, 0);
      const Size size = {std::max(first.rows, second.rows), std::max(first.cols, second.cols)};
      PlaceAt(dst, 0, size, std::vector<T>(kRows * kCols));
      PlaceAt(src0, 8192, first, x);
      PlaceAt(src1, 16384, second, y);
      PlaceAt(dst_index, 24576, size, std::vector<I>(kRows * kCols));
      PlaceAt(index0, 32768, first, i);
      PlaceAt(index1, 40960, second, j);
      op(dst, src0, src1, dst_index, index0, index1);
      for (int row = 0; row < size.rows; ++row) {
        for (int col = 0; col < size.cols; ++col) {
          const int at = row * kCols + col;
          const bool has0 = IsWithin(row, col, first), has1 = IsWithin(row, col, second);
          const bool takes0 =
              has0 && (!has1 || wins(static_cast<float>(x[at]), static_cast<float>(y[at])));
          ASSERT_TRUE(test::Same(dst.GetValue(at), takes0 ? x[at] : y[at])) << row << ", " << col;
          ASSERT_EQ(dst_index.GetValue(at), takes0 ? i[at] : j[at]) << row << ", " << col;
        }
      }
    });
  }
}

const auto kArgMax = [](auto& c, auto& a, auto& b, auto& ci, auto& ai, auto& bi) {
  TPARTARGMAX(c, a, b, ci, ai, bi);
};
const auto kArgMin = [](auto& c, auto& a, auto& b, auto& ci, auto& ai, auto& bi) {
  TPARTARGMIN(c, a, b, ci, ai, bi);
};

TEST(IndexedParts, TakeValueAndIndexFromTheWinner) {
  const auto greater = [](float a, float b) { return a >= b; };
  const auto lesser = [](float a, float b) { return a <= b; };
  CheckIndexed<float, int32_t>(kArgMax, greater);
  CheckIndexed<half, uint16_t>(kArgMax, greater);
  CheckIndexed<half, uint32_t>(kArgMin, lesser);
  CheckIndexed<float, uint32_t>(kArgMin, lesser);
  CheckIndexed<float, int32_t>(kArgMax, [](float a, float b) { return !(b > a); }, kA5);
  CheckIndexed<half, int16_t>(kArgMin, [](float a, float b) { return !(b < a); }, kA5);
}

template <class Op>
std::string FaultOfSizes(Size dst_size, Size first, Size second, Size index, const Op& op) {
  return FaultOf([&] {
    Wide<float> dst(dst_size.rows, dst_size.cols), src0(first.rows, first.cols),
        src1(second.rows, second.cols);
    Wide<int32_t> indices(index.rows, index.cols);
    TASSIGN(dst, 0);
    TASSIGN(src0, 8192);
    TASSIGN(src1, 16384);
    TASSIGN(indices, 24576);
    op(dst, src0, src1, indices);
  });
}

TEST(Parts, NameShapesThatDoNotFit) {
  const auto add = [](auto& c, auto& a, auto& b, auto&) { TPARTADD(c, a, b); };
  ExpectContains(FaultOfSizes({4, 8}, {4, 7}, {3, 8}, {4, 8}, add),
                 "TPARTADD: expected one of src0 and src1 of valid shape 4x8 (that of dst) and the "
                 "other within it, got 4x7 and 3x8");
  ExpectContains(FaultOfSizes({4, 8}, {4, 8}, {5, 8}, {4, 8}, add), "got 4x8 and 5x8");
  const auto arg = [](auto& c, auto& a, auto& b, auto& i) { TPARTARGMAX(c, a, b, i, i, i); };
  ExpectContains(
      FaultOfSizes({4, 8}, {4, 8}, {4, 8}, {4, 9}, arg),
      "TPARTARGMAX: expected dst_index of valid shape 4x8 (that of its values), got 4x9");
}

TEST(Parts, NameATypeThatTheChipRefuses) {
  ExpectContains(test::FaultOn<uint32_t>([](auto& c, auto& a, auto& b) { TPARTMUL(c, a, b); }),
                 "TPARTMUL: expected elements of type int16, int32, half or float on Ascend910B1, "
                 "got uint32");
}

}  // namespace
