// SPDX-License-Identifier: Apache-2.0
// Forms of instructions that no chip has, in kernels that host code calls.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <pto/comm/pto_comm_inst.hpp>
#include <pto/pto-inst.hpp>
#include <vector>

#include "host_fault.hpp"

namespace {

using namespace pto;
using host_test::FaultOf;

template <class T, int kRows, int kCols, BLayout kB = BLayout::RowMajor, int kVr = kRows,
          int kVc = kCols>
using VecTile = Tile<TileType::Vec, T, kRows, kCols, kB, kVr, kVc>;
template <class T, int kRows, int kCols, int kVr = kRows, int kVc = kCols>
using MatTile = Tile<TileType::Mat, T, kRows, kCols, BLayout::RowMajor, kVr, kVc>;

template <class T, int kRows, int kCols, Layout kLayout = Layout::ND>
using Matrix = GlobalTensor<T, Shape<1, 1, 1, kRows, kCols>,
                            Stride<kRows * kCols, kRows * kCols, kRows * kCols, kCols, 1>, kLayout>;

template <class T = float>
std::vector<T> Numbers(size_t count, int first = 1) {
  std::vector<T> numbers(count);
  std::iota(numbers.begin(), numbers.end(), static_cast<T>(first));
  return numbers;
}

template <class TileT>
void ExpectLoadsAndStores() {
  const std::vector<float> in = Numbers(TileT::Rows * TileT::Cols);
  std::vector<float> out(in.size());
  Matrix<float, TileT::Rows, TileT::Cols> from(const_cast<float*>(in.data())), to(out.data());
  TileT tile;
  TASSIGN(tile, 0);
  TLOAD(tile, from);
  for (size_t row = 0; row < size_t{TileT::Rows}; ++row) {
    for (size_t col = 0; col < size_t{TileT::Cols}; ++col)
      EXPECT_EQ(tile.GetElement(row, col), in[row * TileT::Cols + col]);
  }
  TSTORE(to, tile);
  EXPECT_EQ(out, in);
}

TEST(HostForms, GlobalMemoryReachesEveryTile) {
  ExpectLoadsAndStores<TileAcc<float, 16, 32>>();
  ExpectLoadsAndStores<Tile<TileType::Acc, float, 16, 32>>();
  ExpectLoadsAndStores<TileLeft<float, 16, 32>>();
  ExpectLoadsAndStores<TileRight<float, 16, 32>>();
  ExpectLoadsAndStores<Tile<TileType::Bias, float, 1, 32>>();
  ExpectLoadsAndStores<VecTile<float, 16, 32, BLayout::ColMajor>>();
  ExpectLoadsAndStores<
      Tile<TileType::Vec, float, 16, 32, BLayout::RowMajor, 16, 32, SLayout::ColMajor>>();
}

TEST(HostForms, AViewMayBeMeantInTheOrderOfTheTile) {
  const std::vector<float> in = Numbers(2 * 4 * 8);
  GlobalTensor<float, Shape<1, 1, 2, 4, 8>, Stride<64, 64, 32, 8, 1>, Layout::DN> labelled(
      const_cast<float*>(in.data()));
  VecTile<float, 8, 8> tile;
  TASSIGN(tile, 0);
  TLOAD(tile, labelled);
  for (size_t i = 0; i < in.size(); ++i) EXPECT_EQ(tile.GetElement(i / 8, i % 8), in[i]);
}

TEST(HostForms, OfALargerMatrixTheValidRegionMoves) {
  std::vector<float> in = Numbers(16 * 8), out(16 * 8, -1.0f);
  Matrix<float, 16, 8> from(in.data()), to(out.data());
  VecTile<float, 4, 8, BLayout::RowMajor, 3, 5> tile;
  TASSIGN(tile, 0);
  TLOAD(tile, from);
  TSTORE(to, tile);
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i / 8 < 3 && i % 8 < 5 ? in[i] : -1.0f);
}

TEST(HostForms, PartsMoveBetweenAnyTilesAndTypes) {
  const std::vector<float> in = Numbers(16 * 32, -100);
  Matrix<float, 16, 32> global(const_cast<float*>(in.data()));
  MatTile<float, 16, 32> src;
  Tile<TileType::Mat, int32_t, 16, 32, BLayout::ColMajor, 7, 9, SLayout::RowMajor> part;
  VecTile<half, 32, 48> whole;
  TASSIGN(src, 0);
  TASSIGN(part, 4096);
  TASSIGN(whole, 0);
  TLOAD(src, global);
  TEXTRACT(part, src, 3, 5);
  TEXPANDS(whole, half{0});
  TINSERT(whole, part, 20, 30);
  for (size_t row = 0; row < 7; ++row) {
    for (size_t col = 0; col < 9; ++col) {
      const float expected = in[(row + 3) * 32 + col + 5];
      EXPECT_EQ(part.GetElement(row, col), static_cast<int32_t>(expected));
      EXPECT_EQ(static_cast<float>(whole.GetElement(row + 20, col + 30)), expected);
    }
  }
  EXPECT_EQ(static_cast<float>(whole.GetElement(27, 30)), 0.0f);
  EXPECT_NE(FaultOf([&] { TEXTRACT(part, src, 10, 0); }).find("within the Mat float tile"),
            std::string::npos);
  EXPECT_NE(FaultOf([&] { TINSERT(whole, part, 0, 40); }).find("within the Vec half tile"),
            std::string::npos);
}

TEST(HostForms, QuantizesWithoutTheNineBitsOfAccumulators) {
  const uint64_t word = uint64_t{0x3f800000} | uint64_t{200} << 37 | uint64_t{1} << 46;
  MatTile<float, 16, 32> src;
  MatTile<int8_t, 16, 32> dst;
  TileAcc<float, 16, 32> acc;
  Tile<TileType::Mat, int8_t, 16, 32, BLayout::ColMajor, 16, 32, SLayout::RowMajor> boxes;
  TASSIGN(src, 0);
  TASSIGN(dst, 4096);
  TASSIGN(acc, 0);
  TASSIGN(boxes, 8192);
  TEXPANDS(src, -400.0f);
  TMOV(acc, src);
  using Src = decltype(src);
  using Dst = decltype(dst);
  TEXTRACT<Dst, Src, ReluPreMode::NoRelu>(dst, src, word, 0, 0);
  TEXTRACT<decltype(boxes), decltype(acc), ReluPreMode::NoRelu>(boxes, acc, word, 0, 0);
  EXPECT_EQ(dst.GetElement(3, 3), -128);          // -400 + 200, held to 8 bits
  EXPECT_EQ(boxes.GetElement(3, 3), -256 + 200);  // held to 9 bits before
}

TEST(HostForms, QuantizesOnTheWayFromVecTilesToMemory) {
  const std::vector<float> in = Numbers(2 * 32);
  std::vector<uint8_t> out(in.size());
  Matrix<float, 2, 32> from(const_cast<float*>(in.data()));
  Matrix<uint8_t, 2, 32> to(out.data());
  VecTile<float, 2, 32> tile;
  TASSIGN(tile, 0);
  TLOAD(tile, from);
  const uint64_t word = uint64_t{0x40000000} | uint64_t{7} << 37;  // times 2, plus 7
  TSTORE<decltype(tile), decltype(to), AtomicType::AtomicNone>(to, tile, word);
  for (size_t i = 0; i < in.size(); ++i) EXPECT_EQ(out[i], 2 * in[i] + 7);
}

TEST(HostForms, ABitOfTheControlRegisterMakesInfinityFinite) {
  MatTile<float, 16, 16> src;
  MatTile<half, 16, 16> dst;
  TASSIGN(src, 0);
  TASSIGN(dst, 1024);
  TEXPANDS(src, 1.0f);
  src.SetElement(0, 0, -INFINITY);
  src.SetElement(0, 1, NAN);
  src.SetElement(0, 2, 1e6f);
  const auto extract = [&](uint64_t cookie) {
    cpu_sim::set_task_cookie(cookie);
    TEXTRACT<decltype(dst), decltype(src), ReluPreMode::NoRelu>(dst, src, uint64_t{0x3f800000}, 0,
                                                                0);
  };
  extract(uint64_t{1} << 48);
  EXPECT_EQ(static_cast<float>(dst.GetElement(0, 0)), -65504.0f);
  EXPECT_EQ(static_cast<float>(dst.GetElement(0, 1)), 0.0f);
  extract(0);
  EXPECT_EQ(static_cast<float>(dst.GetElement(0, 0)), -INFINITY);
  EXPECT_TRUE(std::isnan(static_cast<float>(dst.GetElement(0, 1))));
  EXPECT_EQ(static_cast<float>(dst.GetElement(0, 2)), 65504.0f);
}

TEST(HostForms, ConvertsPairsThatNoChipHas) {
  VecTile<int32_t, 1, 8> in;
  VecTile<uint32_t, 1, 8> bits;
  VecTile<uint8_t, 1, 32, BLayout::RowMajor, 1, 8> bytes;
  VecTile<float, 1, 8> floats;
  TASSIGN(in, 0);
  TASSIGN(bits, 32);
  TASSIGN(bytes, 64);
  TASSIGN(floats, 96);
  const int32_t values[] = {0, 1, -1, 255, 256, -300, INT32_MAX, INT32_MIN};
  const float reals[] = {0.5f, 1.5f, -0.5f, 254.5f, 300.0f, -3.0f, NAN, INFINITY};
  for (size_t i = 0; i < 8; ++i) {
    in.SetElement(0, i, values[i]);
    floats.SetElement(0, i, reals[i]);
  }
  TCVT(bits, in, RoundMode::CAST_NONE);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(bits.GetElement(0, i), static_cast<uint32_t>(values[i]));
  TCVT(bytes, floats, RoundMode::CAST_RINT, SaturationMode::ON);
  const int rounded[] = {0, 2, 0, 254, 255, 0, 0, 255};
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(bytes.GetElement(0, i), rounded[i]);
}

TEST(HostForms, ComputesOnTypesThatNoChipTakes) {
  VecTile<int16_t, 1, 16> in, out;
  TASSIGN(in, 0);
  TASSIGN(out, 32);
  for (size_t i = 0; i < 16; ++i) in.SetElement(0, i, static_cast<int16_t>(i * 100 - 800));
  TABS(out, in);  // A5 alone
  for (int i = 0; i < 16; ++i) EXPECT_EQ(out.GetElement(0, i), std::abs(i * 100 - 800));
  TLOG(in, out);
  for (size_t i = 0; i < 16; ++i) {
    const float log = std::log(static_cast<float>(out.GetElement(0, i)));
    EXPECT_EQ(in.GetElement(0, i), i == 8 ? INT16_MIN : static_cast<int16_t>(log));
  }
  for (size_t i = 0; i < 16; ++i) in.SetElement(0, i, static_cast<int16_t>(i - 8));
  TLRELU(out, in, int16_t{3});
  for (int i = 0; i < 16; ++i) EXPECT_EQ(out.GetElement(0, i), i > 8 ? i - 8 : 3 * (i - 8));
}

TEST(HostForms, ReducesAndExpandsIntegersThatNoChipTakes) {
  VecTile<uint16_t, 2, 16> in, out;
  TASSIGN(in, 0);
  TASSIGN(out, 64);
  for (size_t i = 0; i < 32; ++i) in.SetElement(i / 16, i % 16, static_cast<uint16_t>(i * 4000));
  TEXPANDS(out, uint16_t{7});
  TPAIRREDUCESUM(out, in);
  for (size_t i = 0; i < 32; ++i) {
    const size_t row = i / 16, col = i % 16;
    const size_t sum = (row * 16 + 2 * col) * 8000 + 4000;
    EXPECT_EQ(out.GetElement(row, col), col < 8 ? static_cast<uint16_t>(sum) : 0);
  }
  TCOLEXPANDSUB(out, in, in);
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(out.GetElement(0, i), 0);
    EXPECT_EQ(out.GetElement(1, i), 64000);
  }
  VecTile<int64_t, 1, 4> wide;
  TASSIGN(wide, 128);
  EXPECT_NE(FaultOf([&] { TPAIRREDUCESUM(wide, wide); }).find("expected elements of type half"),
            std::string::npos);
}

TEST(HostForms, ScalesOfHalfMayBeFloatAndExponentsInBoxes) {
  VecTile<half, 32, 128> src;
  VecTile<int8_t, 32, 128> dst;
  VecTile<uint8_t, 1, 128> exp, boxed;
  VecTile<float, 1, 128> max, scaling;
  TASSIGN(src, 0);
  TASSIGN(dst, 8192);
  TASSIGN(exp, 12288);
  TASSIGN(boxed, 12416);
  TASSIGN(max, 12544);
  TASSIGN(scaling, 13056);
  for (size_t row = 0; row < 32; ++row) {
    for (size_t col = 0; col < 128; ++col)
      src.SetElement(row, col, half(std::ldexp(1.0f, static_cast<int>(row / 4 + col / 32 * 2))));
  }
  TQUANT<QuantType::MXFP8, VecStoreMode::NZ>(dst, src, &exp, &max, &scaling, &boxed);
  for (size_t row = 0; row < 32; ++row) {
    for (size_t group = 0; group < 4; ++group) {
      const int power = static_cast<int>(row / 4 + group * 2);
      const size_t at = row * 4 + group;
      EXPECT_EQ(exp.GetElement(0, at), 127 + power - 8);
      EXPECT_EQ(max.GetElement(0, at), std::ldexp(1.0f, power));
      EXPECT_EQ(scaling.GetElement(0, at), std::ldexp(1.0f, 8 - power));
      const size_t box = row / 16 * 2 + group / 2;  // of 16 rows and 2 groups, along the rows
      EXPECT_EQ(boxed.GetElement(0, box * 32 + row % 16 * 2 + group % 2), 127 + power - 8);
    }
  }
  VecTile<half, 16, 96> odd;
  VecTile<int8_t, 16, 96> out;
  TASSIGN(odd, 0);
  TASSIGN(out, 8192);
  TEXPANDS(odd, half{1});
  const std::string fault = FaultOf(
      [&] { TQUANT<QuantType::MXFP8, VecStoreMode::NZ>(out, odd, &exp, &max, &scaling, &boxed); });
  EXPECT_NE(fault.find("in whole boxes of 16x2 for VecStoreMode::NZ, got 16x3"), std::string::npos)
      << fault;
}

TEST(HostForms, ScattersFloatsByShortIndexes) {
  VecTile<float, 2, 16> src, dst;
  VecTile<uint16_t, 1, 16> indexes;
  TASSIGN(src, 0);
  TASSIGN(dst, 128);
  TASSIGN(indexes, 256);
  for (size_t i = 0; i < 16; ++i) {
    src.SetElement(0, i, static_cast<float>(i) + 1);
    indexes.SetElement(0, i, static_cast<uint16_t>(31 - 2 * i));
  }
  TSCATTER(dst, src, indexes);
  for (size_t at = 0; at < 32; ++at) {
    const float expected = at % 2 == 1 ? static_cast<float>((31 - at) / 2) + 1 : 0.0f;
    EXPECT_EQ(dst.GetElement(at / 16, at % 16), expected);
  }
}

TEST(HostForms, StagingTilesNeedNoAddress) {
  std::vector<float> in = Numbers(8 * 8), out(2 * 64);
  using Global = Matrix<float, 8, 8>;
  Global from(in.data());
  Global each[] = {Global(out.data()), Global(out.data() + 64)};
  comm::ParallelGroup<Global> group(each, 2, 0);
  VecTile<float, 4, 8> staging;
  comm::TBROADCAST(group, from, staging);
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], in[i % 64]);
}

TEST(HostForms, CompactTilesTakeElementsOf4BitsThatTurn) {
  using Pair = float4_e2m1x2_t;
  Tile<TileType::Mat, Pair, 64, 64, BLayout::ColMajor, 64, 64, SLayout::RowMajor> src;
  TileRightCompact<Pair, 64, 64, 48, 34> dst;
  TASSIGN(src, 0);
  TASSIGN(dst, 0);
  const auto code = [](size_t row, size_t col) {
    return static_cast<uint8_t>((row * 3 + col) % 16);
  };
  for (size_t row = 0; row < 64; ++row) {
    for (size_t col = 0; col < 64; ++col) src.SetElement(row, col, Pair{code(row, col)});
  }
  TEXTRACT(dst, src, 2, 4);
  for (size_t row = 0; row < 48; ++row) {
    for (size_t col = 0; col < 34; ++col)
      EXPECT_EQ(dst.GetElement(row, col).RawData(), code(row + 2, col + 4));
  }
}

TEST(HostForms, AThreadHandsOnToItself) {
  ffts_cross_core_sync(PIPE_MTE3, 1 | 2 << 4 | 5 << 8);
  wait_flag_dev(5);
  EXPECT_NE(FaultOf([] {
              wait_flag_dev(5);
            }).find("expected flag 5 set before by this thread of host code, got none"),
            std::string::npos);
  ffts_cross_core_sync(PIPE_MTE3, 1 | 2 << 4 | 5 << 8);
  npu::EndHostKernel();
  EXPECT_NE(FaultOf([] { wait_flag_dev(5); }), "");
}

TEST(HostForms, ElementsOf4BitsTakeNumbers) {
  float4_e2m1x2_t pair = {};
  pair = 6.0f;
  EXPECT_EQ(pair.RawData(), 7);
  EXPECT_EQ(static_cast<float>(-pair), -6.0f);
  float4_e1m2x2_t other = {};
  other = 1.75f;
  EXPECT_EQ(static_cast<float>(-other), -1.75f);
  static_assert(GetTypeSize<float4_e1m2x2_t>() == 1 && GetTypeSize<half>() == 2);
}

TEST(HostForms, ImagesMayLieInMemoryOfTheHost) {
  const std::vector<float> in = Numbers(2 * 3 * 4 * 8);
  std::vector<float> image(in.size()), out(in.size());
  using Strides = Stride<96, 96, 32, 8, 1>;
  GlobalTensor<float, Shape<2, 1, 3, 4, 8>, Strides, Layout::NC1HWC0> from(
      const_cast<float*>(in.data())),
      to(out.data());
  // C0 is in no dimension of it.
  ConvTile<TileType::Mat, float, 768, Layout::NC1HWC0, ConvTileShape<2, 1, 3, 4>> tile;
  tile.data() = image.data();
  TLOAD(tile, from);
  EXPECT_EQ(image, in);
  TSTORE(to, tile);
  EXPECT_EQ(out, in);
}

}  // namespace
