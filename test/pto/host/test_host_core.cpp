// SPDX-License-Identifier: Apache-2.0
// Kernels that host code calls as plain functions, as programs for simulators do.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <pto/pto-inst.hpp>
#include <sstream>
#include <thread>
#include <vector>

#include "host_fault.hpp"

namespace {

using namespace pto;
using cpu_sim::LaunchKernelMultiCore;
using cpu_sim::ScopedExecutionContext;
using host_test::FaultOf;

template <class T, int kRows, int kCols>
using VecTile = Tile<TileType::Vec, T, kRows, kCols>;

template <class TileT>
void Fill(TileT& tile, float start) {
  for (int row = 0; row < tile.GetValidRow(); ++row) {
    for (int col = 0; col < tile.GetValidCol(); ++col) {
      tile.SetElement(row, col, static_cast<typename TileT::DType>(start + row * 100 + col));
    }
  }
}

TEST(HostCore, RunsInstructionsThatHostCodeCalls) {
  VecTile<float, 2, 8> x, y, z;
  TASSIGN(x, 0);
  TASSIGN(y, 64);
  TASSIGN(z, 128);
  Fill(x, 1);
  TEXPANDS(y, 0.5f);
  TADD(z, x, y);
  EXPECT_EQ(z.GetElement(1, 7), 108.5f);
  EXPECT_EQ(z.data()[GetTileElementOffset<decltype(z)>(1, 7)], 108.5f);
  EXPECT_EQ(reinterpret_cast<char*>(z.data()), NPUMemoryModel::Instance().GetUBBase() + 128);
  EXPECT_EQ(NPUMemoryModel::Instance().GetNPUAddr(z.data()), 128u);
}

TEST(HostCore, HasTheSpacesOfCubeCoresToo) {
  VecTile<float, 16, 16> in, out;
  TileLeft<float, 16, 16> left;
  TileRight<float, 16, 16> right;
  TileAcc<float, 16, 16> acc;
  TASSIGN(in, 0);
  TASSIGN(out, 1024);
  TASSIGN(left, 0);
  TASSIGN(right, 0);
  TASSIGN(acc, 0);
  Fill(in, 0);
  TMOV(left, in);  // no chip has this path
  TEXPANDS(in, 2.0f);
  TMOV(right, in);
  TMATMUL(acc, left, right);
  TMOV(out, acc);
  EXPECT_EQ(left.GetElement(3, 5), 305.0f);
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += 2.0f * (300 + k);
  EXPECT_EQ(out.GetElement(3, 9), sum);
}

TEST(HostCore, KeepsTheLimitsOfTheChipThatTheProgramNames) {
  VecTile<float, 8, 8> tile;
  const auto assign = [&] { TASSIGN(tile, 200 * 1024); };
  EXPECT_NE(FaultOf(assign).find("host code, block 0, instruction"), std::string::npos);
  NPU_MEMORY_INIT(NPUArch::A5);
  EXPECT_EQ(FaultOf(assign), "");
  EXPECT_EQ(NPUMemoryModel::Instance().GetArch(), NPUArch::A5);
  Fill(tile, 1);
  NPU_MEMORY_CLEAR();
  EXPECT_EQ(tile.GetElement(7, 7), 0.0f);
  NPU_MEMORY_INIT(NPUArch::A2A3);
  EXPECT_NE(FaultOf(assign), "");
}

TEST(HostCore, EachThreadIsACoreOfItsOwn) {
  VecTile<int32_t, 1, 8> tile;
  TASSIGN(tile, 0);
  TEXPANDS(tile, 1);
  std::thread([] {
    VecTile<int32_t, 1, 8> other;
    TASSIGN(other, 0);
    TEXPANDS(other, 2);
  }).join();
  EXPECT_EQ(tile.GetElement(0, 0), 1);
}

TEST(HostCore, ContextsNameBlocksAndNest) {
  EXPECT_EQ(get_block_idx(), 0);
  {
    const ScopedExecutionContext outer(3, 1, 2);
    {
      const ScopedExecutionContext inner(5, 0);
      EXPECT_EQ(block_idx, 5u);
      EXPECT_EQ(get_subblockdim(), 1);
    }
    EXPECT_EQ(get_block_idx(), 3);
    EXPECT_EQ(get_subblockid(), 1);
    EXPECT_EQ(get_subblockdim(), 2);
  }
  EXPECT_EQ(get_block_idx(), 0);
}

TEST(HostCore, LaunchRunsTheKernelOncePerCore) {
  std::vector<std::atomic<int>> seen(6);
  LaunchKernelMultiCore(
      {.kernel_name = "count", .subblocks_per_block = 2, .explicit_block_count = 3}, nullptr,
      [&] { ++seen[get_block_idx() * 2 + get_subblockid()]; });
  for (const auto& count : seen) EXPECT_EQ(count, 1);
  // 4 cores would take 8 of 30 each, no multiple of 10; 3 take 10.
  std::atomic<int> cores = 0;
  LaunchKernelMultiCore(
      {.kernel_name = "share", .requested_cores = 4, .total_work_items = 30, .work_quantum = 10},
      nullptr, [&] { ++cores; });
  EXPECT_EQ(cores, 3);
}

// In a process of its own, whose memory ends a little above what it has: that of a sanitizer has no
// end.
TEST(HostCoreDeathTest, LaunchSaysWhenTheHostMakesNoFurtherThread) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer maps more memory than any limit allows";
#endif
  const auto launch = [] {
    std::ifstream statistics("/proc/self/statm");
    rlim_t pages = 0;
    statistics >> pages;
    const rlim_t bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{256} << 20);
    const rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
    const std::string fault = FaultOf([] {
      LaunchKernelMultiCore({.kernel_name = "many", .explicit_block_count = 500}, nullptr,
                            [] { usleep(200'000); });
    });
    std::fputs(fault.c_str(), stderr);
    _exit(0);
  };
  EXPECT_EXIT(launch(), testing::ExitedWithCode(0),
              "many: LaunchKernelMultiCore: expected threads for 500 cores, got [0-9]+ \\(");
}

TEST(HostCore, LaunchThrowsWhatAKernelThrew) {
  const auto kernel = [] {
    VecTile<float, 8, 8> tile;
    if (block_idx == 2) TASSIGN(tile, 17);
  };
  const auto launch = [&] {
    LaunchKernelMultiCore({.kernel_name = "odd", .explicit_block_count = 3}, nullptr, kernel);
  };
  EXPECT_NE(FaultOf(launch).find("odd, block 2"), std::string::npos) << FaultOf(launch);
}

TEST(HostCore, SaysThatOtherCoresAreMissing) {
  npu::HostCore().block_num = 2;
  const std::string fault = FaultOf([] { SYNCALL(); });
  npu::HostCore().block_num = 1;
  EXPECT_NE(fault.find("expected a kernel that was launched, got one that host code calls"),
            std::string::npos);
}

TEST(HostCore, MemoryAndHalfAreThoseOfPrograms) {
  aclrtStream stream = nullptr;
  void* memory = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  const std::vector<aclFloat16> values(32, 1.5f);
  ASSERT_EQ(aclrtMemcpy(memory, 64, values.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  VecTile<half, 1, 32> tile;
  TASSIGN(tile, 0);
  GlobalTensor<half, Shape<1, 1, 1, 1, 32>, Stride<32, 32, 32, 32, 1>> global(
      static_cast<half*>(memory));
  TLOAD(tile, global);
  EXPECT_EQ(static_cast<float>(tile.GetElement(0, 31)), 1.5f);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST(HostCore, PrefetchesTilesAndMovesTensorsWithoutASession) {
  VecTile<float, 2, 8> from, to;
  TASSIGN(from, 0);
  TASSIGN(to, 64);
  Fill(from, 1);
  TPREFETCH(to, from);
  EXPECT_EQ(to.GetElement(1, 7), 108.0f);

  using Global = GlobalTensor<float, Shape<1, 1, 2, 3, 4>, Stride<24, 24, 12, 4, 1>>;
  std::vector<float> source(24, 2.5f), copy(24);
  Global source_global(source.data()), copy_global(copy.data());
  const comm::AsyncSession session = {};
  comm::TGET_ASYNC(copy_global, source_global, session);
  EXPECT_EQ(copy, source);
  using Gaps = GlobalTensor<float, Shape<1, 1, 1, 3, 4>, Stride<24, 24, 24, 8, 1>>;
  Gaps gaps(source.data());
  EXPECT_NE(FaultOf([&] { comm::TPUT_ASYNC(copy_global, gaps, session); }).find("of one line"),
            std::string::npos);
}

TEST(HostCore, PrintsToTheStreamThatProgramsRedirect) {
  VecTile<int32_t, 2, 8> tile;
  TASSIGN(tile, 0);
  TEXPANDS(tile, -17);
  std::ostringstream printed;
  std::streambuf* const before = std::cout.rdbuf(printed.rdbuf());
  TPRINT(tile);
  std::cout.rdbuf(before);
  EXPECT_NE(printed.str().find("TPRINT 2x8\nTPRINT block 0: Vec int32 tile of 2x8"),
            std::string::npos);
  EXPECT_NE(printed.str().find("     -17      -17"), std::string::npos) << printed.str();
}

TEST(HostCore, WritesElementsOf4BitsOneByOne) {
  using Pair = float4_e2m1x2_t;
  Tile<TileType::Vec, Pair, 2, 64> tile;
  VecTile<uint8_t, 1, 64> next;
  TASSIGN(tile, 0);
  TASSIGN(next, 64);
  TEXPANDS(next, uint8_t{0});
  for (size_t col = 0; col < 64; ++col) {
    tile.SetElement(0, col, Pair{0});
    tile.SetElement(1, col, Pair{static_cast<uint8_t>(col % 16)});
  }
  for (size_t col = 0; col < 64; ++col) {
    EXPECT_EQ(tile.GetElement(1, col).RawData(), col % 16);
    EXPECT_EQ(tile.GetElement(0, col).RawData(), 0);
    EXPECT_EQ(next.GetElement(0, col), 0);
  }
  TileLeft<Pair, 16, 64, 2, 64> left;
  TASSIGN(left, 0);
  left.SetElement(2, 63, Pair{9});
  TMOV(left, tile);  // no chip has this path
  for (size_t col = 0; col < 64; ++col) {
    EXPECT_EQ(left.GetElement(1, col).RawData(), col % 16);
  }
  EXPECT_EQ(left.GetElement(2, 63).RawData(), 9);
  VecTile<float, 2, 64> floats;
  TASSIGN(floats, 128);
  TPREFETCH(floats, tile);  // copies element by element
  for (size_t col = 0; col < 64; ++col) {
    EXPECT_EQ(floats.GetElement(1, col), static_cast<float>(Pair{static_cast<uint8_t>(col % 16)}));
  }
}

TEST(HostCore, NamesElementsThatTheTileDoesNotHave) {
  VecTile<float, 2, 8> tile;
  EXPECT_NE(FaultOf([&] {
              tile.GetElement(0, 0);
            }).find("GetElement: expected a tile with an address from TASSIGN, got one without"),
            std::string::npos);
  TASSIGN(tile, 0);
  EXPECT_EQ(FaultOf([&] { tile.GetElement(1, 7); }), "");
  EXPECT_NE(FaultOf([&] { tile.SetElement(1, 8, 0.0f); })
                .find("SetElement: expected an element of a tile of 2x8 within its on-chip space, "
                      "got row 1, column 8"),
            std::string::npos);
  EXPECT_NE(FaultOf([&] { tile.GetElement(2, 0); }), "");
  TileAcc<float, 512, 256, 16, 16> window;
  TASSIGN(window, 127 * 1024);
  EXPECT_EQ(FaultOf([&] { window.GetElement(15, 15); }), "");
  // Of L0C, which has 128 KiB, the window begins in the last.
  EXPECT_NE(FaultOf([&] { window.GetElement(16, 0); }), "");
  EXPECT_EQ(FaultOf([&] { window.GetValue(255); }), "");
  EXPECT_NE(FaultOf([&] {
              window.SetValue(256, 0.0f);
            }).find("SetValue: expected an element from 0 to 255, got 256"),
            std::string::npos);
  EXPECT_NE(FaultOf([&] { window.GetElement(511, 255); }), "");
  EXPECT_NE(FaultOf([&] { window.GetValue(512 * 256 - 1); }), "");
}

TEST(HostCore, LooksAtGlobalMemoryAnewForEachTransfer) {
  alignas(64) static float words[16] = {};
  const auto load = [] {  // bytes 16 to 48
    GlobalTensor<float, Shape<1, 1, 1, 1, 8>, Stride<8, 8, 8, 8, 1>> global(words + 4);
    VecTile<float, 1, 8> tile;
    TASSIGN(tile, 0);
    TLOAD(tile, global);
  };
  EXPECT_EQ(FaultOf(load), "");  // memory that nobody knows
  ASSERT_EQ(npuMemoryAdopt(words, 32), NPU_SUCCESS);
  EXPECT_NE(FaultOf(load).find("within the 32 bytes of its allocation, got bytes 16 to 48"),
            std::string::npos);
  ASSERT_EQ(npuMemoryDisown(words), NPU_SUCCESS);
  ASSERT_EQ(npuMemoryAdopt(words, 64), NPU_SUCCESS);
  EXPECT_EQ(FaultOf(load), "");
  ASSERT_EQ(npuMemoryDisown(words), NPU_SUCCESS);
  ASSERT_EQ(npuMemoryAdopt(words, 32), NPU_SUCCESS);
  EXPECT_NE(FaultOf(load), "");
  ASSERT_EQ(npuMemoryDisown(words), NPU_SUCCESS);
}

TEST(HostCore, ReadsElementsOf4BitsOneByOne) {
  Tile<TileType::Vec, float4_e2m1x2_t, 2, 64> tile;
  static_assert(decltype(tile)::GetSizeInBytes() == 64);
  TASSIGN(tile, 0);
  tile.data()[32 + 3].pair = 0x5a;  // row 1, columns 6 and 7
  EXPECT_EQ(tile.GetElement(1, 6).RawData(), 0xa);
  EXPECT_EQ(tile.GetElement(1, 7).RawData(), 0x5);
  SetProperDataPart(tile.data(), 64 + 6, tile.GetElement(1, 7));
  EXPECT_EQ(GetProperDataPart(tile.data(), 64 + 6).RawData(), 0x5);
  EXPECT_EQ(tile.data()[32 + 3].RawData(), 0x55);
  static_assert(::IsTwinType<float4_e2m1x2_t>() && !IsTwinType<half>());
  EXPECT_EQ(static_cast<float>(tile.GetElement(1, 7)), 3.0f);
  EXPECT_EQ(static_cast<float>(int4b_t{0x1f}), -1.0f);
  static_assert(isCustomPadValue(PadValueCustom(1.0f)) && !isCustomPadValue(PadValue::Max));
}

TEST(HostCore, TracesInstructionsWithTheirTiles) {
  static_assert(cpu_sim::kInstructionTraceEnabled, "built with PTO_CPU_SIM_TRACE_MODE");
  cpu_sim::ResetInstructionTrace();
  VecTile<float, 2, 8> x, y;
  TASSIGN(x, 0);
  TASSIGN(y, 64);
  Fill(x, 1);
  const ScopedExecutionContext context(7, 0);
  TADD(y, x, x);
  TEXP(x, y);
  TSYNC<Op::TADD>();
  const auto trace = cpu_sim::CopyInstructionTraceRecords();
  ASSERT_EQ(trace.size(), 3u);
  EXPECT_EQ(trace[2].opcode, "TSYNC");
  EXPECT_TRUE(trace[2].input_tiles.empty() && trace[2].output_tiles.empty());
  EXPECT_EQ(trace[0].opcode, "TADD");
  EXPECT_EQ(trace[0].block_idx, 7u);
  EXPECT_EQ(trace[1].sequence_id, 1u);
  ASSERT_EQ(trace[0].output_tiles.size(), 1u);
  EXPECT_EQ(trace[0].output_tiles[0].address, reinterpret_cast<uintptr_t>(y.data()));
  EXPECT_EQ(trace[0].output_tiles[0].shape, (std::vector<int64_t>{2, 8}));
  EXPECT_EQ(trace[1].input_tiles[0].address, reinterpret_cast<uintptr_t>(y.data()));
  std::ostringstream json;
  cpu_sim::DumpInstructionTraceJson(json);
  EXPECT_NE(json.str().find("{\"opcode\":\"TEXP\",\"block_idx\":7,\"sequence_id\":1,"),
            std::string::npos)
      << json.str();
}

TEST(HostCore, TheEndOfAStreamClearsFlags) {
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_NE(FaultOf([] { wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); }), "");
}

}  // namespace
