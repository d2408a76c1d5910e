// SPDX-License-Identifier: Apache-2.0
// Transfers of which the global tensor has another shape than the valid region of the tile: the
// number of lines is the tensor's, their length the region's.
#include <algorithm>
#include <vector>

#include "device_block.hpp"
#include "elements.hpp"
#include "on_core.hpp"

namespace {

using namespace pto;
using test::ExpectContains;
using test::FaultOf;
using test::Matrix;
using test::OnCore;
using test::VecTile;

std::vector<float> Numbers(size_t count) {
  std::vector<float> numbers(count);
  for (size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i) + 1;
  return numbers;
}

/// Distance of lines in global memory, of which the tensor counts as many elements as stride says.
int Pitch(bool is_a5, int stride, int extent, int length) {
  return is_a5 ? stride : stride - extent + length;
}

template <class Body>
void OnBoth(const Body& body) {
  OnCore([&] { body(false); });
  OnCore([&] {
    const test::AsA5 chip;
    body(true);
  });
}

TEST(TransferShape, LoadsTheLinesOfTheTensorInTheLengthOfTheRegion) {
  const std::vector<float> global = Numbers(size_t{9} * 40);
  OnBoth([&](bool is_a5) {
    VecTile<float, 16, 32> whole(16, 32), tile(5, 12);
    TASSIGN(whole, 0);
    TASSIGN(tile, 0);
    TEXPANDS(whole, -1.0f);
    Matrix<float> source(const_cast<float*>(global.data()), {9, 32}, {40, 1});
    TLOAD(tile, source);
    const int pitch = Pitch(is_a5, 40, 32, 12);
    for (int r = 0; r < 16; ++r) {
      for (int c = 0; c < 32; ++c) {
        const bool loaded = r < 9 && c < 12;
        if (c >= 12 && c < 16) continue;  // the rest of a block
        ASSERT_EQ(whole.GetValue(r * 32 + c), loaded ? global[r * pitch + c] : -1.0f)
            << r << " " << c;
      }
    }
  });
}

TEST(TransferShape, StoresTheLinesOfTheTensorInTheLengthOfTheRegion) {
  OnBoth([&](bool is_a5) {
    std::vector<float> stored(size_t{9} * 40, -1.0f), expected = stored;
    VecTile<float, 16, 32> whole(16, 32), tile(5, 12);
    TASSIGN(whole, 0);
    TASSIGN(tile, 0);
    for (int i = 0; i < 16 * 32; ++i) whole.SetValue(i, static_cast<float>(i));
    Matrix<float> target(stored.data(), {9, 32}, {40, 1});
    TSTORE(target, tile);
    const int pitch = Pitch(is_a5, 40, 32, 12);
    for (int r = 0; r < 9; ++r) {
      for (int c = 0; c < 12; ++c) expected[r * pitch + c] = static_cast<float>(r * 32 + c);
    }
    EXPECT_EQ(stored, expected);
  });
}

TEST(TransferShape, LinesAreNeighboursInMemoryWhateverTheirStrideSays) {
  std::vector<float> global = Numbers(64);
  using Columns = GlobalTensor<float, Shape<1, 1, 1, 4, 8>, Stride<64, 64, 64, 3, 8>, Layout::DN>;
  OnBoth([&](bool) {
    VecTile<float, 4, 8> rows(4, 8);
    Tile<TileType::Vec, float, 8, 8, BLayout::ColMajor, -1, -1> columns(4, 8);
    TASSIGN(rows, 0);
    TASSIGN(columns, 1024);
    Matrix<float> by_rows(global.data(), {4, 8}, {16, 2});
    TLOAD(rows, by_rows);
    Columns by_columns(global.data());
    TLOAD(columns, by_columns);
    for (int r = 0; r < 4; ++r) {
      for (int c = 0; c < 8; ++c) {
        ASSERT_EQ(rows.GetValue(r * 8 + c), global[r * 16 + c]) << r << " " << c;
        ASSERT_EQ(columns.GetValue(c * 8 + r), global[c * 8 + r]) << r << " " << c;
      }
    }
    std::vector<float> stored(64, -1.0f), expected = stored;
    Matrix<float> target(stored.data(), {4, 8}, {16, 2});
    TSTORE(target, rows);
    for (int r = 0; r < 4; ++r) std::copy_n(&global[r * 16], 8, &expected[r * 16]);
    ASSERT_EQ(stored, expected);
  });
}
TEST(TransferShape, LinesOfAPartAreNeighboursWhateverTheirStrideSays) {
  std::vector<float> global = Numbers(400), moved(128);
  VecTile<float, 4, 16> tile(4, 16);
  OnCore([&] {
    TASSIGN(tile, 0);
    Matrix<float> from(global.data(), {4, 32}, {100, 2}), to(moved.data(), {4, 32}, {32, 1});
    comm::TPUT(to, from, tile);
  });
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 32; ++c) {  // parts of 16 columns begin by the stride
      ASSERT_EQ(moved[r * 32 + c], global[r * 100 + c / 16 * 32 + c % 16]) << r << " " << c;
    }
  }
}

TEST(TransferShape, BoxesLieBehindOneAnotherWhateverTheirStridesSay) {
  // 2 columns of 2 boxes of 16 rows of 8 floats; only the distance of columns is looked at.
  using Boxes = GlobalTensor<float, Shape<1, 2, 2, 16, 8>, Stride<-1, -1, -1, -1, -1>, Layout::NZ>;
  const std::vector<float> global = Numbers(600);
  OnBoth([&](bool) {
    Tile<TileType::Vec, float, 32, 16, BLayout::ColMajor, 32, 16, SLayout::RowMajor> tile;
    TASSIGN(tile, 0);
    Boxes source(const_cast<float*>(global.data()), {}, {600, 300, 150, 10, 3});
    TLOAD(tile, source);
    for (int i = 0; i < 512; ++i) {
      ASSERT_EQ(tile.data()[i], global[i / 256 * 300 + i % 256]) << i;
    }
    std::vector<float> stored(600, -1.0f), expected = stored;
    Boxes target(stored.data(), {}, {600, 300, 150, 10, 3});
    TSTORE(target, tile);
    for (int i = 0; i < 512; ++i)
      expected[i / 256 * 300 + i % 256] = global[i / 256 * 300 + i % 256];
    ASSERT_EQ(stored, expected);
  });
}

TEST(TransferShape, AddsTheSameElements) {
  std::vector<float> stored(64, 1.0f), expected = stored;
  OnCore([&] {
    using Tile = VecTile<float, 4, 8>;
    Tile whole(4, 8), tile(4, 3);
    TASSIGN(whole, 0);
    TASSIGN(tile, 0);
    TEXPANDS(whole, 2.0f);
    Matrix<float> target(stored.data(), {2, 8}, {16, 1});
    TSTORE<Tile, Matrix<float>, AtomicType::AtomicAdd>(target, tile);
  });
  for (const int line : {0, 11}) {
    for (int c = 0; c < 3; ++c) expected[line + c] = 3.0f;
  }
  EXPECT_EQ(stored, expected);
}

TEST(TransferShape, OfColumnsIsTheSame) {
  const std::vector<float> global = Numbers(128);
  OnBoth([&](bool is_a5) {
    Tile<TileType::Vec, float, 16, 8, BLayout::ColMajor, -1, -1> whole(16, 8), tile(3, 8);
    TASSIGN(whole, 0);
    TASSIGN(tile, 0);
    TEXPANDS(whole, -1.0f);
    GlobalTensor<float, Shape<1, 1, 1, 16, 5>, Stride<1, 1, 1, 1, 20>, Layout::DN> source(
        const_cast<float*>(global.data()));
    TLOAD(tile, source);
    const int pitch = Pitch(is_a5, 20, 16, 3);
    for (int c = 0; c < 8; ++c) {
      for (int r = 0; r < 3; ++r) {
        ASSERT_EQ(whole.GetValue(c * 16 + r), c < 5 ? global[c * pitch + r] : -1.0f);
      }
    }
  });
}

TEST(TransferShape, LoadsLinesBehindTheTileAsTheChip) {
  const std::vector<float> global = Numbers(64 * 64);
  OnCore([&] {
    VecTile<float, 8, 8> tile(8, 8);
    VecTile<float, 64, 8> around(64, 8);
    TASSIGN(tile, 0);
    TASSIGN(around, 0);
    TEXPANDS(around, -1.0f);
    Matrix<float> source(const_cast<float*>(global.data()), {64, 64}, {64, 1});
    TLOAD(tile, source);
    for (int i = 0; i < 64 * 8; ++i) ASSERT_EQ(around.GetValue(i), global[i]) << i;
  });
}

/// Bits of a comparison: all lines of their tile are valid, and short.
TEST(TransferShape, StoresShortLinesIntoALargerTensor) {
  const test::Block<uint8_t> stored(64 * 64);
  std::fill_n(stored.data(), 64 * 64, uint8_t{9});
  OnCore([&] {
    VecTile<uint8_t, 32, 32> tile(32, 4);
    VecTile<int32_t, 64, 8> around(64, 8);
    TASSIGN(tile, 0);
    TASSIGN(around, 0);
    TEXPANDS(around, 0x01010101);
    Matrix<uint8_t> target(stored.data(), {64, 64}, {64, 1});
    TSTORE(target, tile);
  });
  for (int i = 0; i < 64 * 64; ++i) ASSERT_EQ(stored.data()[i], i < 64 * 4 ? 1 : 9) << i;
}

TEST(TransferShape, WithinTheSpaceOfTheTileAndTheMemoryOfTheTensor) {
  const test::Block<float> global(64 * 4 * sizeof(float));
  const auto load = [&](int address, int rows, bool checks = true) {
    return [&global, address, rows, checks] {
      npu::current_core->check_limits = checks;
      VecTile<float, 8, 8> tile(8, 4);
      TASSIGN(tile, address);
      Matrix<float> source(global.data(), {rows, 4}, {4, 1});
      TLOAD(tile, source);
    };
  };
  OnCore(load(0x30000 - 64 * 32, 64));
  for (const bool checks : {true, false}) {
    ExpectContains(FaultOf(load(0x30000 - 63 * 32, 64, checks)),
                   "TLOAD: expected lines of a global tensor that end within the 196608 bytes of "
                   "UB from the Vec float tile of 8x8 on, got 64x4, end 196640");
  }
  ExpectContains(FaultOf(load(0, 65)),
                 "TLOAD: expected global memory within the 1024 bytes of its allocation, got bytes "
                 "0 to 1040");
}

TEST(TransferShape, OfAnEmptyRegionMovesNothing) {
  std::vector<float> global(64, 1.0f);
  OnCore([&] {
    VecTile<float, 8, 8> tile(8, 8);
    TASSIGN(tile, 0);
    TEXPANDS(tile, 3.0f);
    Matrix<float> all(global.data(), {8, 8}, {8, 1});
    tile.SetValidShape(0, 8);
    TLOAD(tile, all);
    TSTORE(all, tile);
    EXPECT_EQ(tile.GetValue(0), 3.0f);
  });
  EXPECT_EQ(global, std::vector<float>(64, 1.0f));
}

TEST(TransferShape, OfAWholeTileMayNotBeLarger) {
  std::vector<float> global(64 * 64);
  const auto store = [&](int rows, int cols) {
    return [&global, rows, cols] {
      VecTile<float, 32, 32> tile(32, 32);
      TASSIGN(tile, 0);
      Matrix<float> target(global.data(), {rows, cols}, {cols, 1});
      TSTORE(target, tile);
    };
  };
  ExpectContains(FaultOf(store(64, 64)),
                 "TSTORE: expected a global tensor of 32x32 elements (the valid region of the "
                 "tile), got 64x64");
  ExpectContains(FaultOf(store(33, 32)), "got 33x32");
  OnCore(store(16, 64));
}

}  // namespace
