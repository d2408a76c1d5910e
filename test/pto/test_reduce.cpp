// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <type_traits>
#include <vector>

#include "elements.hpp"
#include "pto/instr/reduce.hpp"

namespace {

using namespace pto;
using test::ExpectContains;
using test::FaultOf;
using test::OnCore;
using test::VecTile;

/// Neighbours combined until one is left.
template <class T, class Op>
T Pairwise(std::vector<T> values, const Op& op) {
  while (values.size() > 1) {
    std::vector<T> next;
    for (size_t i = 0; i < values.size(); i += 2) {
      next.push_back(i + 1 < values.size() ? op(values[i], values[i + 1]) : values[i]);
    }
    values = next;
  }
  return values[0];
}

/// The orders written out. A2/A3: lanes of 256 bytes in turn, then neighbours pairwise; A5: each
/// 256 bytes pairwise, their results in turn.
template <class T, class Op>
T InOrder(const std::vector<T>& line, const Op& op, bool a5 = test::kA3) {
  constexpr size_t kLanes = 256 / sizeof(T);
  const auto part = [&](size_t first) {
    const size_t last = std::min(first + kLanes, line.size());
    return std::vector<T>(line.begin() + first, line.begin() + last);
  };
  if (a5) {
    T result = Pairwise(part(0), op);
    for (size_t i = kLanes; i < line.size(); i += kLanes) {
      result = op(result, Pairwise(part(i), op));
    }
    return result;
  }
  std::vector<T> sums = part(0);
  for (size_t i = kLanes; i < line.size(); ++i) {
    sums[i % kLanes] = op(sums[i % kLanes], line[i]);
  }
  return Pairwise(sums, op);
}

/// a * b; integers wrap.
template <class T>
T Product(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
  } else {
    return static_cast<T>(a * b);
  }
}

template <class T>
T Number(std::mt19937& random) {
  return static_cast<T>(std::uniform_real_distribution<float>(-20.0f, 20.0f)(random));
}

template <class T>
void CheckRows(bool a5 = test::kA3) {
  std::mt19937 random(1);
  for (const int cols : {1, 2, 3, 7, 63, 64, 65, 127, 128, 129, 300, 480}) {
    OnCore([&] {
      std::optional<test::AsA5> chip;
      if (a5) chip.emplace();
      VecTile<T, 4, 480> src(3, cols), tmp(3, cols);
      Tile<TileType::Vec, T, 16, 1, BLayout::ColMajor, -1, -1> column(3, 1);
      VecTile<T, 4, 16> wide(3, 1);
      TASSIGN(src, 0);
      TASSIGN(tmp, 16384);
      TASSIGN(column, 32768);
      TASSIGN(wide, 40960);
      std::vector<std::vector<T>> rows(3, std::vector<T>(cols));
      for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < cols; ++c) {
          rows[r][c] = Number<T>(random);
          src.SetValue(r * 480 + c, rows[r][c]);
        }
      }
      TROWSUM(column, src, tmp);
      TROWSUM(wide, src, tmp);
      for (int r = 0; r < 3; ++r) {
        const T sum = InOrder(rows[r], [](T a, T b) { return static_cast<T>(a + b); }, a5);
        ASSERT_EQ(column.GetValue(r), sum) << cols;
        ASSERT_EQ(wide.GetValue(r * 16), sum) << cols;
      }
      TROWMAX(column, src, tmp);
      TROWMIN(wide, src, tmp);
      for (int r = 0; r < 3; ++r) {
        ASSERT_EQ(column.GetValue(r), *std::max_element(rows[r].begin(), rows[r].end()));
        ASSERT_EQ(wide.GetValue(r * 16), *std::min_element(rows[r].begin(), rows[r].end()));
      }
      TROWPROD(column, src, tmp);
      for (int r = 0; r < 3; ++r) {
        const T product = InOrder(rows[r], Product<T>, a5);
        if (std::isnan(static_cast<double>(product))) continue;
        ASSERT_EQ(column.GetValue(r), product) << cols;
      }
    });
  }
}

/// The binary order of columns: a row without a neighbour joins the first pair, on A5 the last.
template <class T>
T BinarySum(std::vector<T> values, bool a5) {
  while (values.size() > 1) {
    std::vector<T> next;
    for (size_t i = 0; i + 1 < values.size(); i += 2) {
      next.push_back(static_cast<T>(values[i] + values[i + 1]));
    }
    T& joined = a5 ? next.back() : next.front();
    if (values.size() % 2 != 0) joined = static_cast<T>(joined + values.back());
    values = next;
  }
  return values[0];
}

template <class T>
void CheckColumns(bool a5 = test::kA3) {
  std::mt19937 random(2);
  for (const int rows : {1, 2, 3, 5, 7, 8, 13}) {
    OnCore([&] {
      std::optional<test::AsA5> chip;
      if (a5) chip.emplace();
      VecTile<T, 13, 64> src(rows, 37);
      VecTile<T, 6, 64> tmp(rows / 2, 37);
      VecTile<T, 1, 64> dst(1, 37);
      TASSIGN(src, 0);
      TASSIGN(tmp, 8192);
      TASSIGN(dst, 16384);
      for (int i = 0; i < rows * 64; ++i) src.SetValue(i, Number<T>(random));
      const auto column = [&](int c) {
        std::vector<T> values;
        for (int r = 0; r < rows; ++r) values.push_back(src.GetValue(r * 64 + c));
        return values;
      };
      TCOLSUM(dst, src);
      for (int c = 0; c < 37; ++c) {
        T sum = column(c)[0];
        for (int r = 1; r < rows; ++r) sum = static_cast<T>(sum + column(c)[r]);
        ASSERT_EQ(dst.GetValue(c), sum);
      }
      TCOLSUM(dst, src, tmp, true);
      for (int c = 0; c < 37; ++c) {
        ASSERT_EQ(dst.GetValue(c), BinarySum(column(c), a5)) << rows;
      }
      TCOLMAX(dst, src);
      for (int c = 0; c < 37; ++c) {
        const auto values = column(c);
        ASSERT_EQ(dst.GetValue(c), *std::max_element(values.begin(), values.end()));
      }
      TCOLMIN(dst, src);
      for (int c = 0; c < 37; ++c) {
        const auto values = column(c);
        ASSERT_EQ(dst.GetValue(c), *std::min_element(values.begin(), values.end()));
      }
    });
  }
}

TEST(Rows, OfFloatEqualThePlainLoopInTheDocumentedOrder) { CheckRows<float>(); }
TEST(Rows, OfHalfEqualThePlainLoopInTheDocumentedOrder) { CheckRows<half>(); }
TEST(Rows, OfInt32EqualThePlainLoopInTheDocumentedOrder) { CheckRows<int32_t>(); }
TEST(Rows, OfInt16EqualThePlainLoopInTheDocumentedOrder) { CheckRows<int16_t>(); }
TEST(Rows, OnA5EqualThePlainLoopInItsOrder) {
  CheckRows<float>(test::kA5);
  CheckRows<half>(test::kA5);
  CheckRows<bfloat16_t>(test::kA5);
}
TEST(Columns, OfFloatEqualThePlainLoop) { CheckColumns<float>(); }
TEST(Columns, OnA5EqualThePlainLoop) {
  CheckColumns<float>(test::kA5);
  CheckColumns<int8_t>(test::kA5);
  CheckColumns<int64_t>(test::kA5);
}

TEST(Rows, OfBytesHaveExtremesOnA5) {
  std::mt19937 random(3);
  OnCore([&] {
    const test::AsA5 chip;
    VecTile<uint8_t, 4, 320> src(4, 311);
    VecTile<uint8_t, 4, 32> dst(4, 1);
    TASSIGN(src, 0);
    TASSIGN(dst, 8192);
    for (int i = 0; i < 4 * 320; ++i) src.SetValue(i, static_cast<uint8_t>(random() % 200 + 20));
    for (int r = 0; r < 4; ++r) {
      const uint8_t* row = src.data() + r * 320;
      TROWMAX(dst, src, src);
      ASSERT_EQ(dst.GetValue(r * 32), *std::max_element(row, row + 311));
      TROWMIN(dst, src, src);
      ASSERT_EQ(dst.GetValue(r * 32), *std::min_element(row, row + 311));
    }
  });
}

TEST(Reduction, NamesATypeThatTheChipRefuses) {
  const auto on = [](auto op) {
    return [op](auto& c, auto& a, auto&) {
      const test::AsA5 chip;
      op(c, a);
    };
  };
  ExpectContains(test::FaultOn<uint8_t>(on([](auto& c, auto& a) { TROWSUM(c, a, a); })),
                 "TROWSUM: expected elements of type int16, int32, half, bfloat16 or float on "
                 "Ascend950PR, got uint8");
  ExpectContains(test::FaultOn<int64_t>(on([](auto& c, auto& a) { TCOLPROD(c, a); })),
                 "TCOLPROD: expected elements of type int16, uint16, int32, uint32, half, bfloat16 "
                 "or float on Ascend950PR, got int64");
}
TEST(Columns, OfHalfEqualThePlainLoop) { CheckColumns<half>(); }
TEST(Columns, OfInt32EqualThePlainLoop) { CheckColumns<int32_t>(); }
TEST(Columns, OfInt16EqualThePlainLoop) { CheckColumns<int16_t>(); }

TEST(Trowsum, HasOneOrder) {
  OnCore([] {
    VecTile<float, 1, 8> src(1, 4), tmp(1, 8), sum(1, 1);
    TASSIGN(src, 0);
    TASSIGN(tmp, 64);
    TASSIGN(sum, 128);
    const float values[] = {1e8f, 1.0f, -1e8f, 1.0f};
    for (int i = 0; i < 4; ++i) src.SetValue(i, values[i]);
    TROWSUM(sum, src, tmp);
    EXPECT_EQ(sum.GetValue(0), 0.0f);  // in turn it would be 1, by halves 2
  });
}

TEST(Trowsum, SeesTheLastOfVeryManyColumns) {
  OnCore([] {
    VecTile<int16_t, 1, 70000> src(1, 70000);
    VecTile<int16_t, 1, 16> sum(1, 1);
    TASSIGN(src, 0);
    TASSIGN(sum, 150016);
    TEXPANDS(src, static_cast<int16_t>(0));
    src.SetValue(69999, 1);
    TROWSUM(sum, src, src);
    EXPECT_EQ(sum.GetValue(0), 1);
  });
}

TEST(Reduction, NamesWhatDoesNotFit) {
  const auto body = [](int dst_rows, int dst_cols) {
    return [=] {
      VecTile<float, 4, 8> src(4, 8), dst(dst_rows, dst_cols);
      TASSIGN(src, 0);
      TASSIGN(dst, 128);
      if (dst_cols == 1) {
        TROWMAX(dst, src, src);
      } else {
        TCOLMAX(dst, src);
      }
    };
  };
  ExpectContains(FaultOf(body(3, 1)),
                 "TROWMAX: expected dst of 4 valid rows (those of src), got 3");
  ExpectContains(FaultOf(body(1, 7)),
                 "TCOLMAX: expected dst of 8 valid columns (those of src), got 7");
}

TEST(Reduction, OfNoRowsLeavesTheDestination) {
  OnCore([] {
    VecTile<float, 4, 8> src(0, 8), dst(1, 8);
    TASSIGN(src, 0);
    TASSIGN(dst, 128);
    TEXPANDS(dst, 3.0f);
    TCOLSUM(dst, src);
    EXPECT_EQ(dst.GetValue(0), 3.0f);
  });
}

}  // namespace
