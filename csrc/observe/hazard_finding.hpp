// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "npu/core.hpp"
#include "npu/observer.hpp"

namespace npu {

/// What the checker looks for, as bits.
enum HazardKinds : uint32_t {
  kHazardOrder = 1,         // accesses of which at least one writes, in no order
  kHazardUnwritten = 2,     // reads of on-chip bytes that nothing has written
  kHazardOverlap = 4,       // tiles whose places partly overlap while both are in use
  kHazardFlag = 8,          // flags left set at the end, or set again before their wait; those
                            // between cores count, and are looked at when the launch has ended
  kHazardRange = 16,        // global accesses outside of the requested size
  kHazardVectorOrder = 32,  // vector to vector without pipe_barrier(PIPE_V)
};
inline constexpr uint32_t kHazardDefault = 31;
inline constexpr uint32_t kHazardAll = 63;

enum class HazardKind : uint8_t {
  kReadAfterWrite,
  kWriteAfterRead,
  kWriteAfterWrite,
  kUnwrittenRead,
  kOverlap,
  kFlagLeftSet,
  kFlagSetAgain,
  kOutOfRange,
  kVectorOrder
};

inline const char* HazardName(HazardKind kind) {
  constexpr const char* kNames[] = {"read-after-write", "write-after-read", "write-after-write",
                                    "unwritten-read",   "overlap",          "flag-left-set",
                                    "flag-set-again",   "out-of-range",     "vector-order"};
  return kNames[static_cast<int>(kind)];
}

/// One of the two calls of a finding.
struct HazardSide {
  const char* instruction = nullptr;  // null: there is no such side
  Pipe pipe = Pipe::kS;
  CoreType core = CoreType::kVector;
  uint32_t block = 0;
  uint32_t sub_block = 0;
  uint64_t begin = 0, end = 0;  // bytes that it touches; offsets as those of the finding
  const void* call_site = nullptr;
};

inline bool SameCore(const HazardSide& a, const HazardSide& b) {
  return a.block == b.block && a.core == b.core && a.sub_block == b.sub_block;
}

/// What the checker found. Offsets are from the start of the space; in global memory from the start
/// of the allocation, or addresses where nobody knows it.
struct Hazard {
  HazardKind kind = HazardKind::kReadAfterWrite;
  const char* kernel = nullptr;
  Space space = Space::kUb;
  uint64_t begin = 0, end = 0;  // bytes in conflict; of flags none
  HazardSide first, second;
  int flag_id = 0;                   // of kFlag...
  Pipe flag_destination = Pipe::kS;  // the same, within a core; first.pipe is the source
  bool is_between_cores = false;     // the same
  uint64_t limit = 0;                // of kOutOfRange: requested bytes
};

}  // namespace npu
