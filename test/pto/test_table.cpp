// SPDX-License-Identifier: Apache-2.0
// MGATHER and MSCATTER: rows and elements of global memory by index, against plain loops.
#include <cstring>
#include <functional>
#include <vector>

#include "elements.hpp"
#include "plain_tile.hpp"

namespace {

using namespace pto;
using test::AsA5;
using test::At;
using test::ExpectContains;
using test::FaultOf;
using test::OnCore;
using test::OnCube;
using test::Samples;
using test::VecTile;

constexpr int kTableRows = 9, kCols = 24, kRows = 5;
constexpr int kElements = kTableRows * kCols;

template <class T, int kTileRows = kTableRows, int kTileCols = kCols>
using PackedTable =
    GlobalTensor<T, Shape<1, 1, 1, kTileRows, kTileCols>, Stride<1, 1, 1, kTileCols, 1>>;

template <class T>
bool SameBits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Where index leads of count places; -1 for nowhere.
using Rule = std::function<int64_t(uint32_t index, uint32_t count)>;
const Rule kPlain = [](uint32_t index, uint32_t) { return index; };
const Rule kClamped = [](uint32_t index, uint32_t count) {
  return index < count ? index : count - 1;
};
const Rule kWrapped = [](uint32_t index, uint32_t count) { return index % count; };
const Rule kDropped = [](uint32_t index, uint32_t count) {
  return index < count ? static_cast<int64_t>(index) : -1;
};

/// Indexes of which some are behind the end, unless the rule is that they are not.
uint32_t IndexAt(size_t i, uint32_t count, bool stays_inside) {
  const auto index = static_cast<uint32_t>(i * 7 + 3);
  return i % 11 == 4 && !stays_inside ? 0x80000001u + index : index % count;
}

template <class T, class Index, GatherOOB kOob>
void GathersRows(const Rule& rule, bool a5 = test::kA3) {
  const auto table = Samples<T>(kElements, 71);
  OnCore([&] {
    std::optional<AsA5> chip;
    if (a5) chip.emplace();
    VecTile<T, 8, 64> dst(kRows, kCols);
    VecTile<Index, 1, 8> idx(1, kRows);
    PackedTable<const T> global(table.data());
    TASSIGN(dst, 0);
    TASSIGN(idx, 8192);
    for (int i = 0; i < 8 * 64; ++i) dst.SetValue(i, T(7));
    for (int i = 0; i < 8; ++i)
      idx.SetValue(i, static_cast<Index>(IndexAt(i, kTableRows, kOob == GatherOOB::Undefined)));
    MGATHER<Coalesce::Row, kOob>(dst, global, idx);
    for (int row = 0; row < 8; ++row) {
      const auto place = rule(static_cast<uint32_t>(idx.GetValue(row)), kTableRows);
      for (int col = 0; col < 64; ++col) {
        const bool valid = row < kRows && col < kCols;
        const T expected = !valid ? T(7) : place < 0 ? T(0) : table[place * kCols + col];
        ASSERT_TRUE(SameBits(dst.GetValue(row * 64 + col), expected)) << row << ", " << col;
      }
    }
  });
}

TEST(Mgather, TakesTheRowsThatIndexesName) {
  GathersRows<float, int32_t, GatherOOB::Undefined>(kPlain);
  GathersRows<half, uint32_t, GatherOOB::Clamp>(kClamped);
  GathersRows<bfloat16_t, int32_t, GatherOOB::Wrap>(kWrapped);
  GathersRows<int8_t, int32_t, GatherOOB::Zero>(kDropped);
  GathersRows<float8_e5m2_t, int32_t, GatherOOB::Zero>(kDropped, test::kA5);
}

TEST(Mgather, TakesAColumnOfIndexes) {
  const auto table = Samples<float>(kElements, 71);
  OnCore([&] {
    VecTile<float, 8, 24> dst(kRows, kCols);
    Tile<TileType::Vec, int32_t, 8, 1, BLayout::ColMajor, -1, -1> idx(kRows, 1);
    PackedTable<const float> global(table.data());
    TASSIGN(dst, 0);
    TASSIGN(idx, 8192);
    for (int i = 0; i < kRows; ++i) idx.SetValue(i, (i * 7 + 3) % kTableRows);
    MGATHER<Coalesce::Row>(dst, global, idx);
    for (int i = 0; i < kRows * kCols; ++i) {
      const int place = (i / kCols * 7 + 3) % kTableRows;
      ASSERT_TRUE(SameBits(dst.GetValue(i), table[place * kCols + i % kCols])) << i;
    }
  });
}

template <class T, class Index, GatherOOB kOob>
void GathersElements(const Rule& rule) {
  const auto table = Samples<T>(kElements, 72);
  OnCore([&] {
    VecTile<T, 8, 64> dst(kRows, kCols);
    VecTile<Index, 8, 32> idx(kRows, kCols);
    PackedTable<const T> global(table.data());
    TASSIGN(dst, 0);
    TASSIGN(idx, 8192);
    for (int i = 0; i < 8 * 64; ++i) dst.SetValue(i, T(7));
    for (int i = 0; i < 8 * 32; ++i)
      idx.SetValue(i, static_cast<Index>(IndexAt(i, kElements, kOob == GatherOOB::Undefined)));
    MGATHER<Coalesce::Elem, kOob>(dst, global, idx);
    for (int row = 0; row < 8; ++row) {
      for (int col = 0; col < 64; ++col) {
        T expected = T(7);
        if (row < kRows && col < kCols) {
          const auto place = rule(static_cast<uint32_t>(idx.GetValue(row * 32 + col)), kElements);
          expected = place < 0 ? T(0) : table[place];
        }
        ASSERT_TRUE(SameBits(dst.GetValue(row * 64 + col), expected)) << row << ", " << col;
      }
    }
  });
}

TEST(Mgather, TakesTheElementsThatIndexesName) {
  GathersElements<float, int32_t, GatherOOB::Undefined>(kPlain);
  GathersElements<uint16_t, uint32_t, GatherOOB::Clamp>(kClamped);
  GathersElements<half, int32_t, GatherOOB::Wrap>(kWrapped);
  GathersElements<uint8_t, int32_t, GatherOOB::Zero>(kDropped);
}

/// A table of 32 rows and 4 blocks of 8 columns of layout NZ, in 2 x 2 groups of blocks.
using NzTable = GlobalTensor<float, Shape<2, 2, 2, 16, 8>, Stride<512, 256, 128, 8, 1>, Layout::NZ>;
using NzTile = Tile<TileType::Vec, float, 16, 32, BLayout::ColMajor, -1, -1, SLayout::RowMajor>;

size_t NzOffset(size_t row, size_t col) {
  return col / 8 * 256 + row / 16 * 128 + row % 16 * 8 + col % 8;
}

TEST(Mgather, TakesRowsAndElementsOfBoxes) {
  auto table = Samples<float>(1024, 73);
  OnCore([&] {
    NzTile dst(3, 32);
    VecTile<int32_t, 16, 32> idx(1, 3);
    NzTable global(table.data());
    TASSIGN(dst, 0);
    TASSIGN(idx, 8192);
    for (int i = 0; i < 16 * 32; ++i) idx.SetValue(i, i * 37 % 1024);
    const int32_t rows[] = {17, 99, 4};
    for (int i = 0; i < 3; ++i) idx.SetValue(i, rows[i]);
    test::Fill(dst, [](int, int) { return 7; });
    MGATHER<Coalesce::Row, GatherOOB::Zero>(dst, global, idx);
    for (size_t row = 0; row < 16; ++row) {
      for (size_t col = 0; col < 32; ++col) {
        const bool taken = row < 3 && rows[row] < 32;
        const float expected = taken ? table[NzOffset(rows[row], col)] : 0.0f;
        ASSERT_TRUE(SameBits(At(dst, row, col), expected)) << row << ", " << col;
      }
    }
    dst.SetValidShape(5, 19);
    idx.SetValidShape(5, 19);
    MGATHER<Coalesce::Elem, GatherOOB::Clamp>(dst, global, idx);
    for (size_t row = 0; row < 5; ++row) {
      for (size_t col = 0; col < 19; ++col) {
        const size_t place = static_cast<size_t>(idx.GetValue(row * 32 + col));
        ASSERT_TRUE(SameBits(At(dst, row, col), table[NzOffset(place / 32, place % 32)]));
      }
    }
  });
}

TEST(Mgather, BringsRowsAndElementsToL1) {
  const auto table = Samples<half>(kElements, 74);
  std::vector<int32_t> indexes(16 * 32);
  std::vector<half> scratch(16 * 32, half(7));
  for (size_t i = 0; i < indexes.size(); ++i) indexes[i] = static_cast<int32_t>(i * 5 % 260);
  OnCube([&] {
    test::MatNz<half, 16, 32> dst(3, kCols);
    PackedTable<const half> global(table.data());
    PackedTable<const int32_t, 1, 32> row_idx(indexes.data());
    PackedTable<const int32_t, 16, 32> idx(indexes.data());
    PackedTable<half, 16, 32> space(scratch.data());
    TASSIGN(dst, 0);
    test::Fill(dst, [](int, int) { return 7; });
    MGATHER<Coalesce::Row, GatherOOB::Zero>(dst, global, row_idx);
    for (size_t row = 0; row < 16; ++row) {
      for (size_t col = 0; col < 32; ++col) {
        const bool taken = row < 3 && indexes[row] < kTableRows && col < kCols;
        const half expected = taken ? table[indexes[row] * kCols + col] : half(0);
        ASSERT_TRUE(SameBits(At(dst, row, col), expected)) << row << ", " << col;
      }
    }
    MGATHER<Coalesce::Elem, GatherOOB::Zero>(dst, global, idx, space);
    for (size_t row = 0; row < 16; ++row) {
      for (size_t col = 0; col < 32; ++col) {
        const int32_t index = indexes[row * 32 + col];
        const bool taken = row < 3 && col < kCols && index < kElements;
        ASSERT_TRUE(SameBits(At(dst, row, col), taken ? table[index] : half(0)));
      }
    }
  });
  EXPECT_EQ(scratch[0], table[0]);
  EXPECT_EQ(scratch[100], half(0));
}

/// What MSCATTER makes of a table of sevens; kByRows: by rows, of which some come twice.
template <class T, ScatterAtomicOp kOp, ScatterOOB kOob, bool kByRows>
void Scatters(const Rule& rule, const std::function<T(T, T)>& change, bool a5 = test::kA3) {
  const auto elements = Samples<T>(8 * 64, 75);
  std::vector<T> table(kElements, T(7)), expected = table;
  OnCore([&] {
    std::optional<AsA5> chip;
    if (a5) chip.emplace();
    VecTile<T, 8, 64> src(kRows, kCols);
    VecTile<int32_t, 8, 32> idx(kByRows ? 1 : kRows, kByRows ? kRows : kCols);
    PackedTable<T> global(table.data());
    TASSIGN(src, 0);
    TASSIGN(idx, 8192);
    constexpr uint32_t kCount = kByRows ? kTableRows : kElements;
    for (int i = 0; i < 8 * 64; ++i) src.SetValue(i, elements[i]);
    for (int i = 0; i < 8 * 32; ++i) {
      const uint32_t index = IndexAt(i / 2, kCount, kOob == ScatterOOB::Undefined);
      idx.SetValue(i, static_cast<int32_t>(index));
    }
    MSCATTER<kByRows ? Coalesce::Row : Coalesce::Elem, kOp, kOob>(global, src, idx);
    for (int row = 0; row < kRows; ++row) {
      for (int col = 0; col < kCols; ++col) {
        const int32_t index = idx.GetValue(kByRows ? row : row * 32 + col);
        const int64_t place = rule(static_cast<uint32_t>(index), kCount);
        if (place < 0) continue;
        T& to = expected[kByRows ? place * kCols + col : place];
        to = change(to, elements[row * 64 + col]);
      }
    }
  });
  for (int i = 0; i < kElements; ++i) ASSERT_TRUE(SameBits(table[i], expected[i])) << i;
}

template <class T>
T Second(T, T value) {
  return value;
}
template <class T>
T Sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return static_cast<T>(static_cast<float>(a) + static_cast<float>(b));
  }
}

TEST(Mscatter, WritesRowsAndElementsTheLastOfOneIndexStays) {
  Scatters<float, ScatterAtomicOp::None, ScatterOOB::Undefined, true>(kPlain, Second<float>);
  Scatters<half, ScatterAtomicOp::None, ScatterOOB::Skip, true>(kDropped, Second<half>);
  Scatters<uint8_t, ScatterAtomicOp::None, ScatterOOB::Clamp, false>(kClamped, Second<uint8_t>);
  Scatters<bfloat16_t, ScatterAtomicOp::None, ScatterOOB::Wrap, false>(kWrapped,
                                                                       Second<bfloat16_t>);
}

TEST(Mscatter, AddsRowsAndElements) {
  Scatters<int32_t, ScatterAtomicOp::Add, ScatterOOB::Clamp, true>(kClamped, Sum<int32_t>);
  Scatters<int8_t, ScatterAtomicOp::Add, ScatterOOB::Skip, false>(kDropped, Sum<int8_t>);
  Scatters<uint32_t, ScatterAtomicOp::Add, ScatterOOB::Wrap, false>(kWrapped, Sum<uint32_t>,
                                                                    test::kA5);
}

TEST(Mscatter, KeepsTheGreaterOrLesserOnA5) {
  Scatters<int32_t, ScatterAtomicOp::Max, ScatterOOB::Wrap, true>(
      kWrapped, [](int32_t a, int32_t b) { return a < b ? b : a; }, test::kA5);
  Scatters<uint32_t, ScatterAtomicOp::Min, ScatterOOB::Skip, false>(
      kDropped, [](uint32_t a, uint32_t b) { return b < a ? b : a; }, test::kA5);
}

TEST(Mscatter, WritesAndAddsToBoxes) {
  std::vector<float> table(1024, 1.0f), expected = table;
  OnCore([&] {
    NzTile src(3, 32);
    VecTile<int32_t, 16, 32> idx(1, 3);
    NzTable global(table.data());
    TASSIGN(src, 0);
    TASSIGN(idx, 8192);
    test::Fill(src, [](int row, int col) { return row * 100 + col; });
    const int32_t rows[] = {17, 99, 17};
    for (int i = 0; i < 3; ++i) idx.SetValue(i, rows[i]);
    MSCATTER<Coalesce::Row, ScatterAtomicOp::Add, ScatterOOB::Skip>(global, src, idx);
    for (size_t col = 0; col < 32; ++col)
      expected[NzOffset(17, col)] += static_cast<float>(200 + 2 * col);
    src.SetValidShape(2, 11);
    idx.SetValidShape(2, 11);
    for (int i = 0; i < 64; ++i) idx.SetValue(i, i * 31 % 1024);
    MSCATTER<Coalesce::Elem>(global, src, idx);
    for (size_t row = 0; row < 2; ++row) {
      for (size_t col = 0; col < 11; ++col) {
        const size_t place = (row * 32 + col) * 31 % 1024;
        expected[NzOffset(place / 32, place % 32)] = static_cast<float>(row * 100 + col);
      }
    }
  });
  EXPECT_EQ(table, expected);
}

TEST(Tables, NameWhatTheChipRefuses) {
  void* memory = nullptr;
  ASSERT_EQ(npuMalloc(&memory, 4096), NPU_SUCCESS) << npuGetLastErrorMessage();
  const auto gather = [memory](int32_t index) {
    return FaultOf([=] {
      VecTile<float, 8, 32> dst(1, kCols);
      VecTile<int32_t, 1, 8> idx(1, 1);
      PackedTable<float> global(static_cast<float*>(memory));
      TASSIGN(dst, 0);
      TASSIGN(idx, 4096);
      idx.SetValue(0, index);
      MGATHER<Coalesce::Row>(dst, global, idx);
    });
  };
  ExpectContains(gather(1 << 24), "MGATHER: expected global memory within the");
  EXPECT_EQ(npuFree(memory), NPU_SUCCESS);

  std::vector<float> table(64);
  const auto scatter = [&](auto op, int rows) {
    return FaultOf([&] {
      VecTile<float, 1, 8> src(1, 8);
      VecTile<int32_t, 1, 8> idx(1, 8);
      using Global = GlobalTensor<float, Shape<1, 1, 1, -1, 8>, Stride<1, 1, 1, 8, 1>>;
      Global global(table.data(), Shape<1, 1, 1, -1, 8>(rows));
      TASSIGN(src, 0);
      TASSIGN(idx, 4096);
      for (int i = 0; i < 8; ++i) idx.SetValue(i, i);
      MSCATTER<Coalesce::Elem, decltype(op)::value>(global, src, idx);
    });
  };
  using Max = std::integral_constant<ScatterAtomicOp, ScatterAtomicOp::Max>;
  using None = std::integral_constant<ScatterAtomicOp, ScatterAtomicOp::None>;
  ExpectContains(scatter(Max{}, 8),
                 "MSCATTER: expected operations None or Add on Ascend910B1, got Max");
  ExpectContains(scatter(None{}, 0),
                 "MSCATTER: expected a table of at least one element, got an empty one");
}

TEST(Tprefetch, LeavesItsTileAndKeepsWithinTheAllocation) {
  std::vector<float> global(64, 3.0f);
  OnCore([&] {
    VecTile<float, 1, 64> tile(1, 64);
    PackedTable<float, 1, 64> source(global.data());
    TASSIGN(tile, 0);
    TEXPANDS(tile, 7.0f);
    TPREFETCH(tile, source);
    EXPECT_EQ(tile.GetValue(5), 7.0f);
  });
  void* memory = nullptr;
  ASSERT_EQ(npuMalloc(&memory, 4096), NPU_SUCCESS);
  ExpectContains(
      FaultOf([=] {
        VecTile<float, 1, 64> tile(1, 64);
        GlobalTensor<float, Shape<1, 1, 1, 1, 1 << 22>, Stride<1, 1, 1, 1 << 22, 1>> source(
            static_cast<float*>(memory));
        TASSIGN(tile, 0);
        TPREFETCH(tile, source);
      }),
      "TPREFETCH: expected global memory within the");
  EXPECT_EQ(npuFree(memory), NPU_SUCCESS);
}

TEST(TprefetchAsync, HasEventsOfLinesAlone) {
  std::vector<float> global(64, 3.0f);
  uint8_t workspace[64];
  OnCore([&] {
    using Line = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>>;
    Line line(global.data());
    PackedTable<float, 4, 16> lines(global.data());
    PrefetchAsyncContext context(workspace), homeless;
    const comm::AsyncEvent first = TPREFETCH_ASYNC(line, context);
    EXPECT_TRUE(first.valid());
    EXPECT_TRUE(first.Wait(context.GetSession()));
    EXPECT_FALSE(TPREFETCH_ASYNC(lines, context).valid());
    EXPECT_FALSE(TPREFETCH_ASYNC(line, homeless).valid());
    EXPECT_FALSE(homeless.GetSession().valid);

    comm::AsyncSession shared;
    PrefetchAsyncContext sharing(nullptr, &shared);
    TASSIGN(sharing.scratchTile, 256);
    EXPECT_TRUE(comm::BuildAsyncSession(sharing.scratchTile, workspace, shared));
    EXPECT_TRUE(TPREFETCH_ASYNC(line, sharing).valid());
    EXPECT_TRUE(TPREFETCH_ASYNC(line, sharing).Test(shared));
    EXPECT_EQ(shared.posts, 2u);
  });
}

}  // namespace
