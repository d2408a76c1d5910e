// SPDX-License-Identifier: Apache-2.0
// What observers are told of the bytes that instructions touch: all of them, and no gaps.
#include <algorithm>
#include <string>
#include <vector>

#include "device_block.hpp"
#include "elements.hpp"
#include "plain_tile.hpp"

namespace {

using namespace pto;
using test::AsA5;
using test::Matrix;
using test::OnCore;
using test::OnCube;
using test::VecTile;

/// Keeps the accesses of the instructions that run while it lives.
class Accesses final : public npu::InstructionObserver {
 public:
  Accesses() { npu::current_core->observer = this; }
  ~Accesses() { npu::current_core->observer = nullptr; }
  Accesses(const Accesses&) = delete;
  Accesses& operator=(const Accesses&) = delete;

  void OnInstruction(const npu::Core&, const npu::Instruction& instruction) override {
    all_.assign(instruction.accesses, instruction.accesses + instruction.access_count);
    name_ = instruction.name;
    pipe_ = instruction.pipe;
    work_ = instruction.work;
  }

  /// All that the last instruction told.
  std::string Told() const {
    std::string text = name_ + " " + npu::PipeName(pipe_) + " " + std::to_string(work_.elements) +
                       " " + std::to_string(work_.bytes) + " " + std::to_string(work_.macs);
    for (const npu::Access& access : all_) {
      text += access.is_write ? ", writes" : ", reads";
      for (const size_t part : {reinterpret_cast<size_t>(access.begin), access.rows,
                                access.row_bytes, access.pitch_bytes}) {
        text += " " + std::to_string(part);
      }
      text += std::string(" ") + npu::SpaceName(access.space);
      text += std::string(access.is_atomic ? " atomic" : "") + (access.goes_on ? " on" : "");
    }
    return text;
  }

  void ExpectNone() const { EXPECT_TRUE(all_.empty()); }
  void ExpectScalar(const char* name, bool is_write, const void* begin, size_t bytes) const {
    EXPECT_EQ(name_, name);
    EXPECT_EQ(pipe_, npu::Pipe::kS);
    EXPECT_EQ(all_.size(), 1u);
    Expect(is_write, begin, 1, bytes, bytes);
  }

  /// Whether the last instruction touched these bytes, and no others of the same start.
  void Expect(bool is_write, const void* begin, size_t rows, size_t row_bytes, size_t pitch) const {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const npu::Access& access) {
      return access.begin == begin && access.is_write == is_write;
    });
    ASSERT_NE(found, all_.end()) << rows << "x" << row_bytes;
    EXPECT_EQ(found->rows, rows);
    EXPECT_EQ(found->row_bytes, row_bytes);
    EXPECT_EQ(rows > 1 ? found->pitch_bytes : pitch, pitch);
  }

 private:
  std::vector<npu::Access> all_;
  std::string name_;
  npu::Pipe pipe_ = npu::Pipe::kAll;
  npu::Work work_;
};

TEST(Observed, TheScalarPipeReadsAndWritesSingleElements) {
  OnCore([] {
    VecTile<half, 2, 64> tile(2, 64);
    TASSIGN(tile, 256);
    const uint64_t before = npu::current_core->instruction;
    const Accesses accesses;
    tile.SetValue(65, half(3));
    accesses.ExpectScalar("SetValue", true, tile.data() + 65, 2);
    EXPECT_EQ(tile.GetValue(65), half(3));
    accesses.ExpectScalar("GetValue", false, tile.data() + 65, 2);
    EXPECT_EQ(npu::current_core->instruction, before);
  });
}

TEST(Observed, QuantizationWritesFourTiles) {
  OnCore([] {
    const AsA5 chip;
    VecTile<half, 2, 64> src(2, 64);
    VecTile<int8_t, 2, 64> dst(2, 64);
    VecTile<uint8_t, 1, 32> exp(1, 4);
    VecTile<half, 1, 16> max(1, 4), scaling(1, 4);
    TASSIGN(src, 0);
    TASSIGN(dst, 1024);
    TASSIGN(exp, 2048);
    TASSIGN(max, 3072);
    TASSIGN(scaling, 4096);
    TEXPANDS(src, half(1));
    const Accesses accesses;
    TQUANT<QuantType::MXFP8>(dst, src, &exp, &max, &scaling);
    accesses.Expect(true, dst.data(), 1, 128, 0);
    accesses.Expect(true, exp.data(), 1, 4, 0);
    accesses.Expect(true, max.data(), 1, 8, 0);
    accesses.Expect(true, scaling.data(), 1, 8, 0);
    accesses.Expect(false, src.data(), 2, 128, 128);
  });
}

TEST(Observed, AGatherToL1ReadsItsIndexes) {
  const std::vector<half> table(16 * 32, half(1));
  const std::vector<int32_t> indexes(16 * 32);
  std::vector<half> scratch(16 * 32);
  OnCube([&] {
    test::MatNz<half, 16, 32> dst(3, 32);
    TASSIGN(dst, 0);
    GlobalTensor<const half, Shape<1, 1, 1, 16, 32>, Stride<1, 1, 1, 32, 1>> global(table.data());
    GlobalTensor<const int32_t, Shape<1, 1, 1, 16, 32>, Stride<1, 1, 1, 32, 1>> idx(indexes.data());
    GlobalTensor<half, Shape<1, 1, 1, 16, 32>, Stride<1, 1, 1, 32, 1>> space(scratch.data());
    const Accesses accesses;
    MGATHER<Coalesce::Row, GatherOOB::Zero>(dst, global, idx);
    accesses.Expect(false, indexes.data(), 1, 3 * 4, 0);
    accesses.Expect(true, dst.data(), 1, 1024, 0);
    MGATHER<Coalesce::Elem, GatherOOB::Zero>(dst, global, idx, space);
    accesses.Expect(false, indexes.data(), 3, 32 * 4, 32 * 4);
    accesses.Expect(true, scratch.data(), 1, 1024, 0);
  });
}

TEST(Observed, ScalesAreReadLineByLine) {
  const std::vector<float8_e8m0_t> scales(16 * 10);
  OnCube([&] {
    const AsA5 chip;
    Tile<TileType::Mat, float8_e8m0_t, 16, 4, BLayout::RowMajor, -1, -1, SLayout::RowMajor, 32>
        tile(16, 4);
    TASSIGN(tile, 0);
    GlobalTensor<const float8_e8m0_t, Shape<1, 1, 16, 2, 2>, Stride<160, 160, 10, 2, 1>,
                 Layout::MX_A_ND>
        global(scales.data());
    const Accesses accesses;
    TLOAD(tile, global);
    accesses.Expect(false, scales.data(), 16, 4, 10);
    accesses.Expect(true, tile.data(), 1, 64, 0);
  });
}

/// A transfer tells the same the first time, while its memory is not at hand, and then.
template <class Transfer>
void ExpectTheSameEachTime(const Transfer& transfer) {
  for (npu::GlobalMemory& memory : npu::current_core->memories) memory = {};
  const Accesses accesses;
  transfer();
  const std::string told = accesses.Told();
  transfer();
  EXPECT_EQ(accesses.Told(), told);
}

TEST(Observed, TheShortWayOfRowsTellsWhatTheLongWayDoes) {
  struct Case {
    int rows, cols, pitch;
    bool is_short;
  };
  const test::Block<float> from(4096), to(4096);
  for (const Case& rows : {Case{5, 12, 40, true}, Case{16, 32, 32, true}, Case{1, 7, 9, true},
                           Case{3, 31, 31, true}, Case{3, 8, 0, false}, Case{4, 8, 7, false}}) {
    OnCore([&] {
      VecTile<float, 16, 32> tile(rows.rows, rows.cols);
      TASSIGN(tile, 256);
      Matrix<float> source(from.data(), {rows.rows, rows.cols}, {rows.pitch, 1});
      Matrix<float> target(to.data(), {rows.rows, rows.cols}, {rows.pitch, 1});
      ExpectTheSameEachTime([&] { TLOAD(tile, source); });
      ExpectTheSameEachTime([&] { TSTORE(target, tile); });
      TLOAD(tile, source);
      const Accesses accesses;
      EXPECT_EQ(detail::PlainRows(tile, source).tile != nullptr, rows.is_short)
          << rows.rows << "x" << rows.cols;
      EXPECT_EQ(detail::FindAlike("TLOAD", tile, source).tile, nullptr);
    });
  }
}

TEST(Observed, BurstsLeaveTheirGapsOut) {
  std::vector<char> global(1024);
  OnCore([&] {
    VecTile<int32_t, 16, 8> tile(16, 8);
    TASSIGN(tile, 0);
    const Accesses accesses;
    copy_gm_to_ubuf(tile.data(), global.data(), 0, 3, 2, 1, 3);
    accesses.Expect(false, global.data(), 3, 64, 96);
    accesses.Expect(true, tile.data(), 3, 64, 160);
  });
}

TEST(Observed, AnAsynchronousTransferStartsAtTheOffsetOfItsSession) {
  std::vector<int16_t> src(100), dst(100);
  uint8_t workspace = 0;
  OnCore([&] {
    Tile<TileType::Vec, uint8_t, 1, 256> scratch;
    TASSIGN(scratch, 0);
    comm::AsyncSession session;
    ASSERT_TRUE(comm::BuildAsyncSession(scratch, &workspace, session, 0, {64, 20, 2}));
    using Line = GlobalTensor<int16_t, Shape<1, 1, 1, 1, -1>, Stride<-1, -1, -1, -1, 1>>;
    Line to(dst.data(), {10}, {10, 10, 10, 10}), from(src.data(), {10}, {10, 10, 10, 10});
    const Accesses accesses;
    comm::TPUT_ASYNC(to, from, session);
    accesses.Expect(true, &dst[10], 1, 20, 20);
    accesses.Expect(false, &src[10], 1, 20, 20);
  });
}

TEST(Observed, AllSignalsOfAMatrixAreRead) {
  std::vector<int32_t> signals(300);
  OnCore([&] {
    using Any = GlobalTensor<int32_t, Shape<>, Stride<>>;
    comm::Signal2D<4, 8> dense(signals.data()), wide(signals.data(), 16);
    Any apart(signals.data(), {1, 2, 3, 1, 5}, {0, 60, 20, 0, 2});
    Any even(signals.data(), {1, 2, 3, 1, 5}, {0, 30, 10, 0, 1});
    Any back(signals.data() + 50, {1, 1, 1, 2, 5}, {0, 0, 0, -10, 1});
    Any none(signals.data(), {1, 1, 1, 0, 5}, {0, 0, 0, 5, 1});
    const Accesses accesses;
    comm::TTEST(dense, 0, comm::WaitCmp::EQ);
    accesses.Expect(false, signals.data(), 1, 128, 128);
    comm::TWAIT(wide, 0, comm::WaitCmp::EQ);
    accesses.Expect(false, signals.data(), 4, 32, 64);
    comm::TTEST(apart, 0, comm::WaitCmp::EQ);
    accesses.Expect(false, signals.data(), 1, (60 + 40 + 8 + 1) * 4, (60 + 40 + 8 + 1) * 4);
    comm::TTEST(even, 0, comm::WaitCmp::EQ);
    accesses.Expect(false, signals.data(), 6, 20, 40);
    comm::TTEST(back, 0, comm::WaitCmp::EQ);
    accesses.Expect(false, &signals[40], 1, 60, 60);
    comm::TTEST(none, 0, comm::WaitCmp::EQ);
    accesses.ExpectNone();
    comm::TNOTIFY(dense, 1, comm::NotifyOp::Set);
    accesses.Expect(true, signals.data(), 1, 4, 4);
  });
}

}  // namespace
