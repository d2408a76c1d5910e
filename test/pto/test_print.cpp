// SPDX-License-Identifier: Apache-2.0
#include "on_core.hpp"

namespace {

using namespace pto;

TEST(Tprint, ShowsTheValidRegionRowByRow) {
  testing::internal::CaptureStdout();
  test::OnCore([] {
    test::VecTile<float, 2, 8> tile(2, 3);
    test::VecTile<int16_t, 1, 16> integers(1, 2);
    TASSIGN(tile, 0);
    TASSIGN(integers, 64);
    for (int i = 0; i < 16; ++i) tile.SetValue(i, static_cast<float>(i) - 1.5f);
    integers.SetValue(0, -7);
    integers.SetValue(1, 12);
    TPRINT(tile);
    TPRINT<PrintFormat::Width8_Precision2>(integers);
  });
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "TPRINT block 0: Vec float tile of 2x8, valid 2x3\n"
            " -1.5000  -0.5000   0.5000 \n"
            "  6.5000   7.5000   8.5000 \n"
            "TPRINT block 0: Vec int16 tile of 1x16, valid 1x2\n"
            "      -7       12 \n");
}

}  // namespace
