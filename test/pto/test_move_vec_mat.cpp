// SPDX-License-Identifier: Apache-2.0
// From the vector cores to L1 of the cube core of their block.
#include <optional>

#include "elements.hpp"
#include "on_mixed.hpp"
#include "plain_tile.hpp"

namespace {

using namespace pto;
using test::AsA5;
using test::At;
using test::ExpectContains;
using test::Fill;
using test::MatNd;
using test::MatNz;
using test::MatZn;
using test::MixedFault;
using test::OnMixed;

void Tell(pipe_t pipe, int id) { ffts_cross_core_sync(pipe, 1 | 2 << 4 | id << 8); }

int Number(int core, int row, int col) { return core * 1000 + row * 20 + col; }

template <class Mat>
using VecLike =
    Tile<TileType::Vec, typename Mat::DType, 32, 32, Mat::BFractal, -1, -1, Mat::SFractal>;

/// Each vector core moves rows x cols; core i to row and column col + 32 * i.
template <class Mat, class Move>
void CheckMove(int rows, int cols, int row, int col, const Move& move) {
  OnMixed(
      [&] {
        const AsA5 chip;
        Mat mat(Mat::Rows, Mat::Cols);
        TASSIGN(mat, 4096);
        Fill(mat, [](int, int) { return -1; });
        Tell(PIPE_MTE1, 1);
        wait_flag_dev(2);
        for (int r = 0; r < Mat::Rows; ++r) {
          for (int c = 0; c < Mat::Cols; ++c) {
            const int core = c / 32, in_row = r - row, in_col = c % 32 - col;
            const bool inside = in_row >= 0 && in_row < rows && in_col >= 0 && in_col < cols;
            const float expected = inside ? Number(core, in_row, in_col) : -1;
            ASSERT_EQ(static_cast<float>(At(mat, r, c)), expected) << r << " " << c;
          }
        }
      },
      [&] {
        const AsA5 chip;
        const int core = static_cast<int>(get_subblockid());
        Mat mat(Mat::Rows, Mat::Cols);
        VecLike<Mat> vec(rows, cols);
        TASSIGN(mat, 4096);
        TASSIGN(vec, 1024);
        Fill(vec, [&](int r, int c) { return Number(core, r, c); });
        wait_flag_dev(1);
        move(mat, vec, row, col + 32 * core);
        Tell(PIPE_MTE3, 2);
      });
}

TEST(TinsertVecToMat, PutsTilesOfEachLayout) {
  const auto insert = [](auto& dst, auto& src, int row, int col) { TINSERT(dst, src, row, col); };
  CheckMove<MatNz<half, 64, 64>>(21, 32, 7, 0, insert);
  CheckMove<MatNz<float, 64, 64>>(32, 13, 16, 8, insert);
  CheckMove<MatZn<half, 64, 64>>(16, 21, 32, 5, insert);
  CheckMove<MatNd<float, 64, 64>>(9, 16, 3, 8, insert);
  CheckMove<MatNz<half, 64, 64>>(16, 32, 16, 0, [](auto& dst, auto& src, int row, int col) {
    TINSERT<TInsertMode::SPLIT2>(dst, src, row, col);
  });
}

TEST(TinsertVecToMat, NamesWhatItRefuses) {
  const auto fault = [](bool a5, int col) {
    return MixedFault([] {},
                      [&] {
                        std::optional<AsA5> chip;
                        if (a5) chip.emplace();
                        MatNz<half, 64, 64> mat(64, 64);
                        VecLike<MatNz<half, 64, 64>> vec(16, 16);
                        TASSIGN(mat, 0);
                        TASSIGN(vec, 0);
                        TINSERT(mat, vec, 0, col);
                      });
  };
  ExpectContains(fault(false, 0),
                 "TINSERT: expected a chip that moves a Vec tile to a Mat tile (A5)");
  ExpectContains(fault(true, 8), "TINSERT: expected a column of a multiple of 16, got 8");
}

}  // namespace
