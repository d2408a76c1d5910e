// SPDX-License-Identifier: Apache-2.0
// Clocks of several cores.
#include <gtest/gtest.h>

#include "observe/hazard_clock.hpp"

namespace {

using npu::HazardClock;
using npu::HazardStamp;
using npu::Pipe;

HazardStamp Stamp(npu::HazardTask task, Pipe pipe, npu::Epoch epoch) {
  HazardStamp stamp;
  stamp.task = task;
  stamp.pipe = pipe;
  stamp.epoch = epoch;
  return stamp;
}

HazardClock WithEpoch(Pipe pipe, npu::Epoch epoch) {
  HazardClock clock;
  clock.own[static_cast<int>(pipe)] = epoch;
  return clock;
}

TEST(Clock, KnowsWhatItWasTold) {
  HazardClock clock = WithEpoch(Pipe::kV, 3);
  EXPECT_TRUE(clock.Knows(7, Stamp(7, Pipe::kV, 3)));
  EXPECT_FALSE(clock.Knows(7, Stamp(7, Pipe::kV, 4)));
  EXPECT_FALSE(clock.Knows(7, Stamp(8, Pipe::kV, 1)));
  clock.Learn(7, WithEpoch(Pipe::kMte3, 5).Export(8));
  EXPECT_TRUE(clock.Knows(7, Stamp(8, Pipe::kMte3, 5)));
  EXPECT_FALSE(clock.Knows(7, Stamp(8, Pipe::kMte3, 6)));
  EXPECT_FALSE(clock.Knows(7, Stamp(8, Pipe::kV, 1)));
}

TEST(Clock, HandsOnWhatOthersToldAndLearnsOfItself) {
  HazardClock second;
  second.Learn(2, WithEpoch(Pipe::kMte2, 4).Export(1));
  HazardClock third;
  third.Learn(3, second.Export(2));
  EXPECT_TRUE(third.Knows(3, Stamp(1, Pipe::kMte2, 4)));
  HazardClock first;
  first.Learn(1, third.Export(3));
  EXPECT_TRUE(first.Knows(1, Stamp(1, Pipe::kMte2, 4)));
}

TEST(Clock, SharesWhatKnowsMore) {
  const npu::KnownCores one = WithEpoch(Pipe::kV, 1).Export(1);
  const npu::KnownCores more = WithEpoch(Pipe::kV, 2).Export(1);
  const npu::KnownCores other = WithEpoch(Pipe::kV, 1).Export(2);
  EXPECT_EQ(npu::Join(one, more), more);
  EXPECT_EQ(npu::Join(more, one), more);
  EXPECT_EQ(npu::Join(one, nullptr), one);
  const npu::KnownCores both = npu::Join(more, other);
  ASSERT_EQ(both->size(), 2u);
  EXPECT_EQ(npu::Join(both, other), both);
  EXPECT_EQ((*both)[0].epochs[static_cast<int>(Pipe::kV)], 2u);
}

}  // namespace
