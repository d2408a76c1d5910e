// SPDX-License-Identifier: Apache-2.0
// Scalar intrinsics, and what observers see of flags between cores.
#include <set>
#include <string>
#include <vector>

#include "elements.hpp"
#include "on_mixed.hpp"

namespace {

using namespace pto;
using test::ExpectContains;
using test::FaultOf;
using test::OnCore;
using test::OnMixed;

TEST(Intrinsics, TheCounterAdvancesAt50MHz) {
  int64_t first = 0, last = 0, polls = 0;
  OnCore([&] {
    first = get_sys_cnt();
    do {
      last = get_sys_cnt();
      ++polls;
    } while (last - first < 50000);  // 1 ms
  });
  EXPECT_GE(last - first, 50000);
  EXPECT_GT(polls, 1);
}

TEST(Intrinsics, WhoWaitsForTheCounterLetsOthersRun) {
  int order = 0, done[2] = {};
  OnCore(
      [&] {
        if (block_idx == 1) {
          done[1] = ++order;
          return;
        }
        const int64_t end = get_sys_cnt() + 5000;
        while (get_sys_cnt() < end) {
        }
        done[0] = ++order;
      },
      2);
  EXPECT_EQ(done[1], 1);
  EXPECT_EQ(done[0], 2);
}

TEST(Intrinsics, TheControlRegisterLastsAsLongAsTheKernel) {
  uint64_t before = 1, within = 0, after = 1;
  OnCore([&] {
    before = get_ctrl();
    set_ctrl(sbitset1(get_ctrl(), 59));
    set_ctrl(sbitset1(get_ctrl(), 3));
    set_ctrl(sbitset0(get_ctrl(), 3));
    within = get_ctrl();
  });
  OnCore([&] { after = get_ctrl(); });
  EXPECT_EQ(before, 0u);
  EXPECT_EQ(within, uint64_t{1} << 59);
  EXPECT_EQ(after, 0u);
}

TEST(Intrinsics, MasksAndFencesLeaveTileInstructionsAlone) {
  std::vector<float> x(64, 1.0f), z(64);
  OnCore([&] {
    Tile<TileType::Vec, float, 1, 64> tile;
    TASSIGN(tile, 0);
    GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>> from(x.data()),
        to(z.data());
    set_mask_count();
    set_vector_mask(0, 1);
    TLOAD(tile, from);
    dsb(DSB_UB);
    TADD(tile, tile, tile);
    set_mask_norm();
    set_vector_mask(0, 1);
    TADD(tile, tile, tile);
    dcci(x.data(), cache_line_t::ENTIRE_DATA_CACHE, dcci_dst_t::CACHELINE_OUT);
    dsb(DSB_DDR);
    dsb(DSB_ALL);
    TSTORE(to, tile);
    EXPECT_EQ(__cce_get_tile_ptr(&z), &z);
  });
  EXPECT_EQ(z, std::vector<float>(64, 4.0f));
}

TEST(Intrinsics, StoresAsManyBytesAsTheAddressNames) {
  uint8_t bytes[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  uint64_t word = ~uint64_t{0};
  OnCore([&] {
    st_dev(0x1ff, bytes, 2);
    st_dev(uint16_t{5}, &word, 0);
  });
  EXPECT_EQ(bytes[2], 0xff);
  EXPECT_EQ(bytes[3], 1);
  EXPECT_EQ(word, 5u);
}

TEST(Intrinsics, CoresThatRunHaveNumbersOfTheirOwn) {
  std::multiset<int64_t> cube, vector;
  OnMixed(
      [&] {
        cube.insert(get_coreid());
        EXPECT_EQ(get_coreid(), get_coreid());
        SYNCALL<SyncCoreType::Mix>();
      },
      [&] {
        vector.insert(get_coreid());
        SYNCALL<SyncCoreType::Mix>();
      },
      24);
  ASSERT_EQ(cube.size(), 24u);
  ASSERT_EQ(vector.size(), 48u);
  EXPECT_EQ(std::set<int64_t>(cube.begin(), cube.end()).size(), 24u);
  EXPECT_EQ(std::set<int64_t>(vector.begin(), vector.end()).size(), 48u);
  EXPECT_EQ(*cube.rbegin(), 23);
  EXPECT_EQ(*vector.rbegin(), 47);
}

TEST(Intrinsics, ATrapIsAFault) {
  ExpectContains(FaultOf([] { trap(); }),
                 "kernel_under_test, block 0, instruction 1: trap: expected a kernel that runs to "
                 "its end, got one that stops itself");
}

TEST(Intrinsics, PrintfWritesToStandardOutput) {
  testing::internal::CaptureStdout();
  OnCore([] {
    cce::printf("block %d of %s: %5.2f\n", static_cast<int>(block_idx), "two", 1.5);
    cce::printf("100%%\n");
  });
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "block 0 of two:  1.50\n100%\n");
}

TEST(Intrinsics, PrintfTakesWhatCDoesNot) {
  testing::internal::CaptureStdout();
  OnCore([] {
    cce::printf("block %d of %ld: ", block_idx, block_num);
    cce::printf("%.2f %g %d\n", half(1.5f), bfloat16_t(-0.25f), 7);
  });
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "block 0 of 1: 1.50 -0.25 7\n");
}

/// Writes down what cores do with flags.
class Listener final : public npu::InstructionObserver {
 public:
  void OnInstruction(const npu::Core&, const npu::Instruction&) override {}
  void OnSetCrossCoreFlag(const npu::Core& core, npu::Pipe pipe, npu::FlagScope scope, int id,
                          const void* call_site) override {
    EXPECT_NE(call_site, nullptr);
    Add(core, std::string("set ") + npu::PipeName(pipe) + " " +
                  std::to_string(static_cast<int>(scope)) + " " + std::to_string(id));
  }
  void OnWaitCrossCoreFlag(const npu::Core& core, npu::Pipe, int id, const void*) override {
    Add(core, "waited " + std::to_string(id));
  }
  void OnArrive(const npu::Core& core, const npu::SyncPoint& point, const void*) override {
    Add(core, "arrive " + std::to_string(static_cast<int>(point.group)));
  }
  void OnLeave(const npu::Core& core, const npu::SyncPoint& point, const void*) override {
    Add(core, "leave " + std::to_string(static_cast<int>(point.group)));
  }
  std::vector<std::string> events;

 private:
  void Add(const npu::Core& core, const std::string& what) {
    const bool is_cube = core.type == npu::CoreType::kCube;
    events.push_back((is_cube ? "c " : "v" + std::to_string(core.sub_block_id) + " ") + what);
  }
};

TEST(Intrinsics, ObserversSeeFlagsBetweenCoresInTheirOrder) {
  Listener listener;
  const auto listen = [&] { npu::current_core->observer = &listener; };
  const auto stop = [] { npu::current_core->observer = nullptr; };
  OnMixed(
      [&] {
        listen();
        wait_flag_dev(4);
        ffts_cross_core_sync(PIPE_FIX, getFFTSMsg(2, 3));
        SYNCALL<SyncCoreType::Mix>();
        stop();
      },
      [&] {
        listen();
        ffts_cross_core_sync(PIPE_MTE3, getFFTSMsg(2, 4));
        wait_flag_dev(3);
        SYNCALL<SyncCoreType::Mix>();
        stop();
      });
  EXPECT_EQ(listener.events,
            (std::vector<std::string>{"v0 set PIPE_MTE3 2 4", "v1 set PIPE_MTE3 2 4", "c waited 4",
                                      "c set PIPE_FIX 2 3", "c arrive 2", "v0 waited 3",
                                      "v0 arrive 2", "v1 waited 3", "v1 arrive 2", "v1 leave 2",
                                      "c leave 2", "v0 leave 2"}));
}

}  // namespace
