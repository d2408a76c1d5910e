// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "plain_tile.hpp"

namespace {

using namespace pto;
using test::Acc;
using test::At;
using test::BitsOf;
using test::ExpectContains;
using test::FaultOf;
using test::Fill;
using test::Matrix;
using test::On;
using test::OnCube;

/// Values around the ties of half and its range, subnormals, infinities, -0.
float Value(int row, int col) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kValues[] = {
      0.0f,      -0.0f,    1.0f + 0x1p-11f, 1.0f + 0x3p-11f, 65519.0f, 65520.0f,
      -70000.0f, 0x1p-25f, 0x3p-26f,        0x1p-130f,       kInf,     -kInf,
      -3.5f};
  return kValues[(row * 5 + col) % 13];
}

template <class Out>
Out Rounded(float value) {
  return static_cast<Out>(value);
}

template <class Out, int kRows, int kCols>
void CheckMatrix(int rows, int cols, int pitch) {
  std::vector<Out> global(static_cast<size_t>(rows) * pitch, Out(9));
  OnCube([&] {
    Acc<float, kRows, kCols> tile(rows, cols);
    TASSIGN(tile, 0);
    Fill(tile, Value);
    Matrix<Out> target(global.data(), {rows, cols}, {pitch, 1});
    TSTORE(target, tile);
  });
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < pitch; ++col) {
      const Out expected = col < cols ? Rounded<Out>(Value(row, col)) : Out(9);
      ASSERT_EQ(BitsOf(global[row * pitch + col]), BitsOf(expected)) << row << " " << col;
    }
  }
}

TEST(TstoreAcc, RoundsOnceIntoRowsOfAMatrix) {
  CheckMatrix<float, 32, 48>(32, 48, 48);
  CheckMatrix<float, 32, 48>(19, 37, 50);
  CheckMatrix<half, 32, 48>(32, 48, 48);
  CheckMatrix<half, 32, 48>(1, 33, 64);
  CheckMatrix<bfloat16_t, 32, 48>(31, 5, 7);
}

/// A matrix in boxes of 16 x kC0: [columns / kC0][rows / 16][16][kC0], which lie one behind another
/// whatever their strides say.
template <class T, int kRows, int kCols, int kC0>
using Boxes = GlobalTensor<T, Shape<1, kCols / kC0, kRows / 16, 16, kC0>, Stride<7, 9000, 5, 3, 2>,
                           Layout::NZ>;

template <class Out, class In, int kC0>
void CheckBoxes() {
  constexpr int kRows = 32, kCols = 64;
  std::vector<Out> global(kRows * kCols);
  OnCube([&] {
    Acc<In, kRows, kCols> tile(kRows, kCols);
    TASSIGN(tile, 0);
    Fill(tile, [](int row, int col) { return row * 64 + col; });
    Boxes<Out, kRows, kCols, kC0> target(global.data());
    TSTORE(target, tile);
  });
  for (int row = 0; row < kRows; ++row) {
    for (int col = 0; col < kCols; ++col) {
      const size_t at = (col / kC0 * kRows + row) * kC0 + col % kC0;
      ASSERT_EQ(BitsOf(global[at]), BitsOf(static_cast<Out>(row * 64 + col))) << row << " " << col;
    }
  }
}

TEST(TstoreAcc, WritesBoxesOfEveryWidth) {
  CheckBoxes<float, float, 16>();
  CheckBoxes<float, float, 8>();
  CheckBoxes<half, float, 16>();
  CheckBoxes<bfloat16_t, float, 16>();
  CheckBoxes<int32_t, int32_t, 16>();
}

/// [N, C1, H, W, C0] of an accumulator with rows N, H, W and columns C1, C0; the chip lays the
/// images of a C1 one behind the other, kC1Step elements for each of them.
template <class Out, class In, Layout kLayout, int N, int D, int C1, int HW, int C0>
void CheckImages() {
  constexpr int kRows = N * HW, kBlocks = D * C1, kStep = HW * C0 + 32, kPitch = N * kStep;
  using Five = Shape<N, C1, 1, HW, C0>;
  using FiveStride = Stride<kBlocks * kPitch, kStep, HW * C0, C0, 1>;
  using Six = Shape<N, D, C1, 1, HW>;
  using SixStride = Stride<kBlocks * kPitch, C1 * kStep, kStep, HW * C0, C0>;
  constexpr bool kIsFive = kLayout == Layout::NC1HWC0;
  std::vector<Out> global(kBlocks * kPitch, Out(-1));
  OnCube([&] {
    Acc<In, (kRows + 15) / 16 * 16, kBlocks * C0> tile(kRows, kBlocks * C0);
    TASSIGN(tile, 0);
    Fill(tile, [](int row, int col) { return row * 64 + col; });
    GlobalTensor<Out, std::conditional_t<kIsFive, Five, Six>,
                 std::conditional_t<kIsFive, FiveStride, SixStride>, kLayout>
        target(global.data());
    TSTORE(target, tile);
  });
  for (int i = 0; i < kBlocks * kPitch; ++i) {
    const int block = i / kPitch, row = i % kPitch / C0, col = i % C0;
    const float expected = row < kRows ? row * 64 + block * C0 + col : -1;
    ASSERT_EQ(static_cast<float>(global[i]), static_cast<float>(Out(expected))) << i;
  }
}

TEST(TstoreAcc, WritesImages) {
  CheckImages<half, float, Layout::NC1HWC0, 1, 1, 2, 21, 16>();
  CheckImages<float, float, Layout::NC1HWC0, 2, 1, 4, 12, 8>();
  CheckImages<float, float, Layout::NC1HWC0, 1, 1, 2, 16, 16>();
  CheckImages<int32_t, int32_t, Layout::NC1HWC0, 1, 1, 3, 9, 16>();
  CheckImages<bfloat16_t, float, Layout::NDC1HWC0, 1, 2, 2, 21, 16>();
  CheckImages<float, float, Layout::NDC1HWC0, 2, 2, 3, 10, 8>();
  CheckImages<int32_t, int32_t, Layout::NDC1HWC0, 1, 2, 1, 9, 16>();
}

TEST(TstoreAcc, KeepsInt32) {
  std::vector<int32_t> global(16 * 16);
  OnCube([&] {
    Acc<int32_t, 16, 16> tile(16, 16);
    TASSIGN(tile, 0);
    Fill(tile, [](int row, int col) { return (row - 8) * 0x0fffffff + col; });
    Matrix<int32_t> target(global.data(), {16, 16}, {16, 1});
    TSTORE(target, tile);
  });
  for (int i = 0; i < 256; ++i) ASSERT_EQ(global[i], (i / 16 - 8) * 0x0fffffff + i % 16);
}

TEST(TstoreAcc, CutsAtZeroOnRequest) {
  std::vector<half> global(16 * 16);
  OnCube([&] {
    Acc<float, 16, 16> tile(16, 16);
    TASSIGN(tile, 0);
    Fill(tile, [](int row, int col) { return row - col; });
    Matrix<half> target(global.data(), {16, 16}, {16, 1});
    using TileT = decltype(tile);
    using Target = decltype(target);
    TSTORE<TileT, Target, AtomicType::AtomicNone, ReluPreMode::NormalRelu>(target, tile);
  });
  for (int i = 0; i < 256; ++i) {
    ASSERT_EQ(static_cast<float>(global[i]), std::max(i / 16 - i % 16, 0));
  }
}

template <class Out>
void CheckAtomic() {
  std::vector<Out> global(16 * 20, Out(2));
  OnCube(
      [&] {
        Acc<std::conditional_t<std::is_same_v<Out, int32_t>, int32_t, float>, 16, 32> tile(15, 19);
        TASSIGN(tile, 0);
        Fill(tile, [](int row, int col) { return row * 3 + col - 20; });
        Matrix<Out> target(global.data(), {15, 19}, {20, 1});
        TSTORE<decltype(tile), decltype(target), AtomicType::AtomicAdd>(target, tile);
        TSTORE<STPhase::Final, decltype(tile), decltype(target), AtomicType::AtomicAdd>(target,
                                                                                        tile);
      },
      3);
  for (int row = 0; row < 16; ++row) {
    for (int col = 0; col < 20; ++col) {
      const bool inside = row < 15 && col < 19;
      const float expected = inside ? 2.0f + 6 * (row * 3 + col - 20) : 2.0f;
      ASSERT_EQ(static_cast<float>(global[row * 20 + col]), expected) << row << " " << col;
    }
  }
}

TEST(TstoreAcc, AddsToGlobalMemoryFromAllBlocks) {
  CheckAtomic<float>();
  CheckAtomic<half>();
  CheckAtomic<int32_t>();
}

uint64_t Word(float scale, bool into_int8, int offset = 0) {
  return BitsOf(scale) | static_cast<uint64_t>(offset & 0x1ff) << 37 |
         static_cast<uint64_t>(into_int8) << 46;
}

/// round(value * scale) held to 9 bits, plus offset, held to 8 bits.
int Quantized(float value, float scale, int offset, int low, int high) {
  const double scaled = std::min(std::max(static_cast<double>(value * scale), -256.0), 255.0);
  const int rounded = static_cast<int>(std::nearbyint(scaled)) + offset;
  return std::min(std::max(rounded, low), high);
}

template <class Out, class In>
void CheckQuantized(float scale, int offset) {
  constexpr bool kSigned = std::is_same_v<Out, int8_t>;
  std::vector<Out> global(32 * 32);
  OnCube([&] {
    Acc<In, 32, 32> tile(31, 32);
    TASSIGN(tile, 0);
    Fill(tile, [](int row, int col) { return (row - 15) * 37 + col; });
    Matrix<Out> target(global.data(), {31, 32}, {32, 1});
    TSTORE(target, tile, Word(scale, kSigned, offset));
  });
  for (int i = 0; i < 31 * 32; ++i) {
    const float value = (i / 32 - 15) * 37 + i % 32;
    const int expected = Quantized(value, scale, offset, kSigned ? -128 : 0, kSigned ? 127 : 255);
    ASSERT_EQ(static_cast<int>(global[i]), expected) << value;
  }
}

TEST(TstoreAcc, QuantizesWithOneWord) {
  CheckQuantized<int8_t, float>(0.5f, 0);
  CheckQuantized<int8_t, float>(0.3f, -20);
  CheckQuantized<uint8_t, float>(0.25f, 100);
  CheckQuantized<int8_t, int32_t>(0.125f, 3);
  CheckQuantized<uint8_t, int32_t>(1.0f, 0);
}

TEST(TstoreAcc, ScalesInt32IntoHalfWithinItsRange) {
  std::vector<half> global(16 * 16);
  OnCube([&] {
    Acc<int32_t, 16, 16> tile(16, 16);
    TASSIGN(tile, 0);
    Fill(tile, [](int row, int col) { return (row - 8) * 20000 + col; });
    Matrix<half> target(global.data(), {16, 16}, {16, 1});
    const uint64_t word = Word(0.75f, false);
    TSTORE<STPhase::Unspecified>(target, tile, word);
  });
  for (int i = 0; i < 256; ++i) {
    const float scaled = ((i / 16 - 8) * 20000 + i % 16) * 0.75f;
    const auto expected = static_cast<half>(std::min(std::max(scaled, -65504.0f), 65504.0f));
    ASSERT_EQ(BitsOf(global[i]), BitsOf(expected)) << i;
  }
}

TEST(TstoreFp, TakesAWordForEachColumn) {
  using Words = Tile<TileType::Scaling, uint64_t, 1, 32, BLayout::RowMajor, 1, -1>;
  std::vector<int8_t> global(16 * 32);
  OnCube([&] {
    Acc<float, 16, 32> tile(16, 30);
    Words words(30);
    TASSIGN(tile, 0);
    TASSIGN(words, 0);
    Fill(tile, [](int row, int col) { return (row - 8) * 16 + col; });
    Fill(words, [](int, int col) { return Word(0.25f * (col % 4), true, col % 5 - 2); });
    Matrix<int8_t> target(global.data(), {16, 30}, {32, 1});
    TSTORE_FP(target, tile, words);
  });
  for (int row = 0; row < 16; ++row) {
    for (int col = 0; col < 30; ++col) {
      ASSERT_EQ(global[row * 32 + col],
                Quantized((row - 8) * 16 + col, 0.25f * (col % 4), col % 5 - 2, -128, 127));
    }
  }
}

TEST(TstoreAccFault, NamesColumnsThatAreNotWholeBoxes) {
  std::vector<float> global(16 * 16);
  ExpectContains(
      FaultOf(
          [&] {
            Acc<float, 16, 16> tile(16, 8);
            TASSIGN(tile, 0);
            Boxes<float, 16, 8, 8> target(global.data());
            TSTORE(target, tile);
          },
          On::kCube),
      "TSTORE: expected layout NZ with a last dimension of 16 (float also 8; narrower types 32 "
      "bytes) and columns of a multiple of 16, got 8 and 8");
}

TEST(TstoreAccFault, NamesAThirdDimensionAndAShape) {
  std::vector<float> global(16 * 32);
  using Three = GlobalTensor<float, Shape<1, 1, 2, 8, 16>, Stride<256, 256, 128, 16, 1>>;
  const auto store = [&](auto target) {
    return FaultOf(
        [&] {
          Acc<float, 16, 16> tile(16, 16);
          TASSIGN(tile, 0);
          TSTORE(target, tile);
        },
        On::kCube);
  };
  ExpectContains(
      store(Three(global.data())),
      "TSTORE: expected product of shape[0], [1] and [2] for an accumulator from 0 to 1, "
      "got 2");
  ExpectContains(store(Matrix<float>(global.data(), {16, 32}, {32, 1})),
                 "TSTORE: expected a global tensor of 16x16 elements (the valid region of the "
                 "tile), got 16x32");
}

}  // namespace
