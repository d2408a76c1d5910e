// SPDX-License-Identifier: Apache-2.0
// How findings reach the caller.
#include <thread>

#include "hazards.hpp"

namespace {

using namespace pto;
using Vec = test::VecTile<float, 1, 256>;

void ReadTooSoon(float* from) {
  test::Row<256> row(from);
  Vec x(1, 256), y(1, 256);
  TASSIGN(x, 0);
  TASSIGN(y, 1024);
  TLOAD(x, row);
  TADDS(y, x, 1.0f);
}

TEST(Status, TheSentenceNamesBothLinesAndTheMend) {
  const test::Block<float> in(1024);
  const test::Checking checking;
  ASSERT_EQ(test::Run([&] { ReadTooSoon(in.data()); }), NPU_ERROR_HAZARD);
  const std::string sentence = npuGetLastErrorMessage();
  for (const char* part :
       {"kernel_under_test, vector core of block 0: read-after-write: expected TADDS (PIPE_V, ",
        "status_test.cpp:18) to read UB bytes 0 to 1024 after TLOAD (PIPE_MTE2, ",
        "status_test.cpp:17) has written them, got no order between the two; mend: "
        "set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);"}) {
    test::ExpectContains(sentence, part);
  }
}

TEST(Status, AFindingIsToldOnceAndWhatIsQueuedBehindRuns) {
  const test::Block<float> in(1024);
  const test::Checking checking;
  EXPECT_EQ(test::Run([&] { ReadTooSoon(in.data()); }), NPU_ERROR_HAZARD);
  EXPECT_EQ(test::Run([&] { ReadTooSoon(in.data()); }), NPU_SUCCESS);
  ASSERT_EQ(test::Findings().size(), 1u);
  EXPECT_EQ(test::Findings()[0].times, 2u);
}

TEST(Status, StartForgetsAndStopEnds) {
  const test::Block<float> in(1024);
  {
    const test::Checking checking;
    EXPECT_EQ(test::Run([&] { ReadTooSoon(in.data()); }), NPU_ERROR_HAZARD);
  }
  EXPECT_EQ(test::Run([&] { ReadTooSoon(in.data()); }), NPU_SUCCESS);
  EXPECT_EQ(test::Findings().size(), 1u);
  const test::Checking checking;
  EXPECT_TRUE(test::Findings().empty());
}

TEST(Status, WrongArgumentsAreNamed) {
  EXPECT_EQ(npuHazardsStart(64), NPU_ERROR_INVALID_VALUE);
  test::ExpectContains(npuGetLastErrorMessage(), "npuHazardsStart: expected a sum of kinds");
  EXPECT_EQ(npuHazardsStart(0), NPU_ERROR_INVALID_VALUE);
  EXPECT_EQ(npuHazardsCount(nullptr), NPU_ERROR_INVALID_VALUE);
  EXPECT_EQ(npuHazardsFinding(0, nullptr), NPU_ERROR_INVALID_VALUE);
  npuFinding finding = {};
  EXPECT_EQ(npuHazardsFinding(1'000'000, &finding), NPU_ERROR_INVALID_VALUE);
}

TEST(Status, StreamsAreCheckedSideBySide) {
  const test::Block<float> in(1024);
  const test::Checking checking;
  std::thread other([&] {
    for (int i = 0; i < 20; ++i) test::Run([] { pipe_barrier(PIPE_ALL); }, 8);
  });
  for (int i = 0; i < 20; ++i) test::Run([&] { ReadTooSoon(in.data()); }, 4);
  other.join();
  ASSERT_EQ(test::Findings().size(), 1u);
  EXPECT_EQ(test::Findings()[0].times, 80u);
}

}  // namespace
