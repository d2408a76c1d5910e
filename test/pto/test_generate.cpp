// SPDX-License-Identifier: Apache-2.0
// Triangles and random numbers.
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
using test::VecTile;

template <class T>
void CheckTriangles(bool a5 = kA3) {
  constexpr int kRows = 9, kCols = 64;
  for (const int diagonal : {0, 1, -1, 5, -5, 60, 1000, -1000, INT32_MAX, INT32_MIN}) {
    OnCore([&] {
      std::optional<test::AsA5> chip;
      if (a5) chip.emplace();
      VecTile<T, kRows, kCols> lower(kRows - 1, kCols - 3), upper(kRows - 1, kCols - 3);
      TASSIGN(lower, 0);
      TASSIGN(upper, 8192);
      std::fill_n(lower.data(), decltype(lower)::Numel, static_cast<T>(7));
      TTRI<decltype(lower), 0>(lower, diagonal);
      TTRI<decltype(upper), 1>(upper, diagonal);
      for (int64_t row = 0; row < kRows; ++row) {
        for (int64_t col = 0; col < kCols; ++col) {
          const T got = lower.GetValue(row * kCols + col);
          if (row == kRows - 1 || col >= kCols - 3) {
            ASSERT_EQ(static_cast<float>(got), 7.0f) << "outside the valid region";
            continue;
          }
          ASSERT_EQ(static_cast<float>(got), col <= row + diagonal ? 1.0f : 0.0f);
          ASSERT_EQ(static_cast<float>(upper.GetValue(row * kCols + col)),
                    col >= row + diagonal ? 1.0f : 0.0f);
        }
      }
    });
  }
}

TEST(Ttri, FillsTheTriangleOnItsSideOfTheDiagonal) {
  CheckTriangles<float>();
  CheckTriangles<half>();
  CheckTriangles<int16_t>();
  CheckTriangles<uint16_t>();
  CheckTriangles<int32_t>();
  CheckTriangles<uint32_t>();
  CheckTriangles<bfloat16_t>(kA5);
  CheckTriangles<int8_t>(kA5);
  CheckTriangles<int64_t>(kA5);
}

TEST(Ttri, NamesATypeThatTheChipRefuses) {
  ExpectContains(test::FaultOn<int8_t>([](auto& c, auto&, auto&) {
                   TTRI<std::remove_reference_t<decltype(c)>, 0>(c, 0);
                 }),
                 "TTRI: expected elements of type int16, uint16, int32, uint32, half or float on "
                 "Ascend910B1, got int8");
}

using Words = std::vector<uint32_t>;

/// Tile of rows x cols from key and counter.
template <int kRows, int kCols, uint16_t kRounds = 10>
Words Random(Words key, Words counter, int rows, int cols) {
  Words words(kRows * kCols);
  OnCore([&] {
    const test::AsA5 chip;
    VecTile<uint32_t, kRows, kCols> dst(rows, cols);
    TASSIGN(dst, 0);
    std::fill_n(dst.data(), words.size(), 0u);
    TRandomKey k;
    TRandomCounter c;
    std::copy_n(key.data(), 2, k);
    std::copy_n(counter.data(), 4, c);
    TRANDOM<kRounds>(dst, k, c);
    EXPECT_TRUE(std::equal(c, c + 4, counter.begin()));
    std::copy_n(dst.data(), words.size(), words.data());
  });
  return words;
}

Words First(const Words& words, size_t at = 0) {
  return Words(words.begin() + at, words.begin() + at + 4);
}

/// Known answers of Philox-4x32 with 10 rounds. Source: Salmon et al., Random123.
TEST(Trandom, GivesTheKnownAnswersOfPhilox) {
  const auto first = [](const Words& key, const Words& counter) {
    return First(Random<1, 8>(key, counter, 1, 8));
  };
  EXPECT_EQ(first({0, 0}, {0, 0, 0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(first({~0u, ~0u}, {~0u, ~0u, ~0u, ~0u}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(first({0xa4093822, 0x299f31d0}, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Trandom, CountsWithCarryAlongARow) {
  const Words key = {3, 4};
  const auto row = Random<1, 264>(key, {~0u, ~0u, 5, 6}, 1, 261);
  EXPECT_EQ(First(row, 4), First(Random<1, 8>(key, {0, 0, 6, 6}, 1, 8)));
  EXPECT_EQ(First(row, 256), First(Random<1, 8>(key, {63, 0, 6, 6}, 1, 8)));
  const auto last = Random<1, 8>(key, {64, 0, 6, 6}, 1, 8);
  EXPECT_EQ(row[260], last[0]);
  EXPECT_EQ(row[261], 0u) << "outside the valid region";
}

TEST(Trandom, AdvancesTheCounterByRegistersFromRowToRow) {
  const Words key = {3, 4};
  // 70 columns fill one register of 64 lanes, of which (70 - 1) % 64 + 1 = 6 count.
  const auto rows = Random<2, 72>(key, {10, 0, 0, 0}, 2, 70);
  EXPECT_EQ(First(rows, 72), First(Random<1, 8>(key, {16, 0, 0, 0}, 1, 8)));
  // 300 columns: 64 for the first register, (300 - 1) % 64 + 1 = 44 for the second.
  const auto wide = Random<2, 304>(key, {10, 0, 0, 0}, 2, 300);
  EXPECT_EQ(First(wide, 304), First(Random<1, 8>(key, {10 + 64 + 44, 0, 0, 0}, 1, 8)));
}

TEST(Trandom, MixesLessIn7Rounds) {
  const auto seven = First(Random<1, 8, 7>({0, 0}, {0, 0, 0, 0}, 1, 8));
  uint32_t c[4] = {}, k[2] = {};
  for (int round = 0; round < 7; ++round) {  // the definition
    const uint64_t p = uint64_t{c[0]} * 0xd2511f53u, q = uint64_t{c[2]} * 0xcd9e8d57u;
    const uint32_t next[4] = {
        static_cast<uint32_t>(q >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(q),
        static_cast<uint32_t>(p >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(p)};
    std::copy_n(next, 4, c);
    k[0] += 0x9e3779b9u;
    k[1] += 0xbb67ae85u;
  }
  EXPECT_EQ(seven, (Words{c[0], c[1], c[2], c[3]}));
}

TEST(Trandom, NamesAChipWithoutIt) {
  ExpectContains(FaultOf([] {
                   VecTile<int32_t, 1, 8> dst(1, 8);
                   TASSIGN(dst, 0);
                   TRandomKey key = {};
                   TRandomCounter counter = {};
                   TRANDOM(dst, key, counter);
                 }),
                 "TRANDOM: expected a chip that makes random numbers (A5), got Ascend910B1");
}

}  // namespace
