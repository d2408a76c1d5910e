// SPDX-License-Identifier: Apache-2.0
// Copies between plain addresses of the cores of a block, and with strides in bytes, which A5 has.
#include <optional>
#include <vector>

#include "elements.hpp"
#include "on_mixed.hpp"

namespace {

using namespace pto;
using test::AsA5;
using test::ExpectContains;
using test::FaultOf;
using test::MixedFault;
using test::OnCore;
using test::OnMixed;

void Tell(pipe_t pipe, int id) { ffts_cross_core_sync(pipe, 1 | 2 << 4 | id << 8); }

void* At(uintptr_t offset) { return reinterpret_cast<void*>(offset); }

using Blocks = Tile<TileType::Vec, int32_t, 16, 8>;
using Bursts = Tile<TileType::Mat, int32_t, 16, 8>;

int Number(int core, int block, int lane) { return core * 1000 + block * 8 + lane; }

/// Two bursts of 2 blocks: from blocks 0, 1 and 3, 4 to blocks 0, 1 and 4, 5.
int SourceOf(int block) { return block < 2 ? block : block > 3 && block < 6 ? block - 1 : -1; }

TEST(RawCopyBetweenCores, FromL1ToEachVectorCore) {
  OnMixed(
      [] {
        const AsA5 chip;
        for (int core = 0; core < 2; ++core) {
          Bursts tile;
          TASSIGN(tile, 512 * core);
          for (int i = 0; i < 128; ++i) tile.data()[i] = Number(core, i / 8, i % 8);
          copy_cbuf_to_ubuf(At(1024), At(512 * core), core, 2, 2, 1, 2);
        }
        Tell(PIPE_MTE1, 1);
      },
      [] {
        const AsA5 chip;
        const int core = static_cast<int>(get_subblockid());
        wait_flag_dev(1);
        Blocks tile;
        TASSIGN(tile, 1024);
        for (int i = 0; i < 128; ++i) {
          const int from = SourceOf(i / 8);
          if (from < 0) continue;
          ASSERT_EQ(tile.GetValue(i), Number(core, from, i % 8)) << i;
        }
      });
}

TEST(RawCopyBetweenCores, FromAVectorCoreToL1) {
  OnMixed(
      [] {
        const AsA5 chip;
        wait_flag_dev(2);
        Bursts tile;
        TASSIGN(tile, 0);
        for (int core = 0; core < 2; ++core) {
          for (int i = 0; i < 32; ++i) {
            ASSERT_EQ(tile.data()[core * 64 + i], Number(core, i / 8, i % 8));
          }
        }
      },
      [] {
        const AsA5 chip;
        const int core = static_cast<int>(get_subblockid());
        Blocks tile;
        TASSIGN(tile, 2048);
        for (int i = 0; i < 128; ++i) tile.SetValue(i, Number(core, i / 8, i % 8));
        copy_ubuf_to_cbuf(At(256 * core), At(2048), 0, 1, 4, 0, 0);
        Tell(PIPE_MTE3, 2);
      });
}

/// One text for both kinds of core: what fills L1 is passed over on the vector cores.
TEST(MixedKernel, LeavesTilesOfL1ToTheCubeCoreOnA5) {
  std::vector<int32_t> global(128);
  for (int i = 0; i < 128; ++i) global[i] = i;
  const auto fill = [&](bool is_a5) {
    std::optional<AsA5> chip;
    if (is_a5) chip.emplace();
    Bursts tile, filled;
    TASSIGN(tile, 0);
    TASSIGN(filled, 512);
    test::Matrix<int32_t> source(global.data(), {16, 8}, {8, 1});
    TLOAD(tile, source);
    TEXPANDS(filled, 7);
    return std::pair(tile.data(), filled.data());
  };
  OnMixed(
      [&] {
        const auto [loaded, filled] = fill(true);
        for (int i = 0; i < 128; ++i) ASSERT_EQ(loaded[i] + filled[i], i + 7);
      },
      [&] { fill(true); });
  ExpectContains(
      test::MixedFault([] {}, [&] { fill(false); }),
      "TLOAD: expected a core with L1 for the Mat int32 tile of 16x8, got a vector core");
}

TEST(RawCopyBetweenCores, NamesWhatTheChipRefuses) {
  const auto copy = [](uintptr_t to, int core, bool is_a5 = true) {
    return [to, core, is_a5] {
      std::optional<AsA5> chip;
      if (is_a5) chip.emplace();
      copy_cbuf_to_ubuf(At(to), At(0), core, 1, 1, 0, 0);
    };
  };
  ExpectContains(MixedFault(copy(0, 0, false)),
                 "copy_cbuf_to_ubuf: expected a chip of generation A5, got Ascend910B1");
  ExpectContains(MixedFault(copy(0, 2)), "copy_cbuf_to_ubuf: expected vector core 0 or 1, got 2");
  ExpectContains(MixedFault(copy(256 * 1024, 0)),
                 "copy_cbuf_to_ubuf: expected an address of UB with 32 bytes up to its end, got "
                 "262144");
  ExpectContains(MixedFault(copy(8, 0)),
                 "copy_cbuf_to_ubuf: expected an address of UB of a multiple of 32 bytes, got 8");
  ExpectContains(FaultOf(copy(0, 0)),
                 "copy_cbuf_to_ubuf: expected the cube core of a kernel with cube and vector "
                 "cores, got a vector core");
  ExpectContains(FaultOf([] {
                   const AsA5 chip;
                   copy_ubuf_to_cbuf(At(0), At(0), 0, 1, 1, 0, 0);
                 }),
                 "copy_ubuf_to_cbuf: expected a vector core of a kernel with cube and vector "
                 "cores, got one of a kernel with one kind of core");
}

TEST(RawCopy, BytesInStepsOfBytes) {
  std::vector<char> global(64, 'x');
  OnCore([&] {
    const AsA5 chip;
    Blocks tile;
    TASSIGN(tile, 0);
    for (int i = 0; i < 128; ++i) tile.SetValue(i, static_cast<int>(0x03020100u + i * 0x04040404u));
    copy_ubuf_to_gm_align_v2(global.data(), tile.data(), 0, 3, 5, 0, 7, 32);
  });
  for (int i = 0; i < 64; ++i) {
    const bool written = i < 19 && i % 7 < 5;
    ASSERT_EQ(global[i], written ? static_cast<char>(i / 7 * 32 + i % 7) : 'x') << i;
  }
  test::OnCube([&] {
    const AsA5 chip;
    Bursts tile;
    TASSIGN(tile, 0);
    copy_gm_to_cbuf_align_v2(tile.data(), global.data(), 0, 2, 5, 0, 0, false, 0, 7, 64);
    const char* bytes = reinterpret_cast<const char*>(tile.data());
    for (int i = 0; i < 10; ++i) ASSERT_EQ(bytes[i / 5 * 64 + i % 5], global[i / 5 * 7 + i % 5]);
  });
}

}  // namespace
