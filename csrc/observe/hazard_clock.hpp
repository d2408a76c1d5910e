// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "npu/instruction.hpp"

namespace npu {

/// Counts what a pipe lets others know of: it grows when the pipe sets a flag or meets others.
using Epoch = uint32_t;
inline constexpr Epoch kNeverKnown = UINT32_MAX;

/// A core of a launch: of block b of a mixed kernel 3 b is the cube core, 3 b + 1 and 3 b + 2 are
/// the vector cores; of others it is b.
using HazardTask = uint32_t;
inline constexpr HazardTask kNobody = UINT32_MAX;

/// An access as a map keeps it.
struct HazardStamp {
  HazardTask task = kNobody;
  Epoch epoch = 0;
  uint32_t site = 0;  // index of the call in the launch
  Pipe pipe = Pipe::kS;
  bool is_write = false;
  bool is_atomic = false;

  bool operator==(const HazardStamp&) const = default;
};

/// What has ended of other cores, by task.
struct CoreEpochs {
  HazardTask task;
  Epoch epochs[kPipes];
};
using KnownCores = std::shared_ptr<const std::vector<CoreEpochs>>;

/// All that a or b know; one of the two where it knows all.
KnownCores Join(const KnownCores& a, const KnownCores& b);

/// What has ended before something: of the own core up to an epoch of each pipe. Of other cores
/// what flags and meetings of cores told, shared by all clocks that know no more.
struct HazardClock {
  Epoch own[kPipes] = {};
  KnownCores others;

  void JoinOwn(const Epoch (&epochs)[kPipes]) {
    for (int pipe = 0; pipe < kPipes; ++pipe) own[pipe] = std::max(own[pipe], epochs[pipe]);
  }
  /// clock is of the same core.
  void Join(const HazardClock& clock) {
    JoinOwn(clock.own);
    if (clock.others != others) others = npu::Join(others, clock.others);
  }
  /// What core self, whose clock this is, learns from another core.
  void Learn(HazardTask self, const KnownCores& cores);
  /// The clock of core self for another core.
  KnownCores Export(HazardTask self) const;
  /// Whether another core has told anything of the pipe of stamp.
  bool HasHeardOf(const HazardStamp& stamp) const {
    return others != nullptr && EpochOf(stamp.task, static_cast<int>(stamp.pipe)) != 0;
  }
  /// Whether the access, another core's or one of self, has ended.
  bool Knows(HazardTask self, const HazardStamp& stamp) const {
    const auto pipe = static_cast<int>(stamp.pipe);
    if (stamp.task == self) return own[pipe] >= stamp.epoch;
    return others != nullptr && EpochOf(stamp.task, pipe) >= stamp.epoch;
  }

 private:
  Epoch EpochOf(HazardTask task, int pipe) const;
};

}  // namespace npu
