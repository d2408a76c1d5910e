// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace npu {

/// Memory spaces that an instruction can touch. All but kGm lie on the chip, one set per core.
/// The last two on the chip hold the scales of what lies in L0A and L0B.
enum class Space : uint8_t { kUb, kL1, kL0A, kL0B, kL0C, kBias, kFix, kScaleA, kScaleB, kGm };
inline constexpr int kOnChipSpaces = 9;

inline const char* SpaceName(Space space) {
  constexpr const char* kNames[] = {"UB", "L1", "L0A",        "L0B",        "L0C",
                                    "BT", "FB", "L0A scales", "L0B scales", "GM"};
  return kNames[static_cast<int>(space)];
}

enum class CoreType : uint8_t { kVector, kCube };

/// Generation of the instruction set. kA3 stands for A2 and A3 (__NPU_ARCH__ 2201), kA5 for 3101
/// and 3510.
enum class Generation : uint8_t { kA3, kA5 };

/// What a system on chip allows. Data of the run-time profile, so that one binary serves every
/// chip.
struct Arch {
  const char* soc;
  Generation generation;
  int cube_cores;
  int vector_cores;
  size_t memory;                   // bytes of global memory of a device
  size_t capacity[kOnChipSpaces];  // bytes, indexed by Space
};

inline constexpr size_t kKiB = 1024;
inline constexpr size_t kGiB = size_t{1} << 30;

/// Start of a tile in any on-chip space, in bytes. Source: PTO ISA, Tile.
inline constexpr size_t kTileAlignment = 32;

/// Event ids of a pair of pipes, and cross-core flag ids of a core. Source: PTO ISA, set_flag and
/// ffts_cross_core_sync.
inline constexpr int kEventIds = 8;
inline constexpr int kCrossCoreFlagIds = 16;
/// Flags of set_intra_block: ids 0 to 15 stand for vector core 0, 16 to 31 for vector core 1. They
/// follow the cross-core flags of a core. Source: PTO ISA, TSync_Custom.
inline constexpr int kIntraBlockFlag = kCrossCoreFlagIds;
inline constexpr int kFlagIdsOfCore = kIntraBlockFlag + 2 * 16;

/// Capacities: PTO ISA, include/pto/common/buffer_limits.hpp. Core counts: CANN platform
/// configuration of the SoC. Memory: the vendor's data sheets of Atlas products (910B: 64 GB,
/// 910B4: 32 GB) and its announcement of the 950PR (128 GB).
inline constexpr Arch kArchTable[] = {
    {"Ascend910B1",
     Generation::kA3,
     24,
     48,
     64 * kGiB,
     {192 * kKiB, 512 * kKiB, 64 * kKiB, 64 * kKiB, 128 * kKiB, 1 * kKiB, 2 * kKiB, 0, 0}},
    {"Ascend910B2",
     Generation::kA3,
     24,
     48,
     64 * kGiB,
     {192 * kKiB, 512 * kKiB, 64 * kKiB, 64 * kKiB, 128 * kKiB, 1 * kKiB, 2 * kKiB, 0, 0}},
    {"Ascend910B3",
     Generation::kA3,
     20,
     40,
     64 * kGiB,
     {192 * kKiB, 512 * kKiB, 64 * kKiB, 64 * kKiB, 128 * kKiB, 1 * kKiB, 2 * kKiB, 0, 0}},
    {"Ascend910B4",
     Generation::kA3,
     20,
     40,
     32 * kGiB,
     {192 * kKiB, 512 * kKiB, 64 * kKiB, 64 * kKiB, 128 * kKiB, 1 * kKiB, 2 * kKiB, 0, 0}},
    {"Ascend950PR",
     Generation::kA5,
     32,
     64,
     128 * kGiB,
     {256 * kKiB, 512 * kKiB, 64 * kKiB, 64 * kKiB, 256 * kKiB, 4 * kKiB, 4 * kKiB, 4 * kKiB,
      4 * kKiB}},
};

/// The most bytes that any chip has in space.
constexpr size_t LargestCapacity(Space space) {
  size_t largest = 0;
  for (const Arch& arch : kArchTable) {
    const size_t capacity = arch.capacity[static_cast<int>(space)];
    if (capacity > largest) largest = capacity;
  }
  return largest;
}

/// The profile named soc, or nullptr.
inline const Arch* FindArch(const char* soc) {
  for (const Arch& arch : kArchTable) {
    if (std::strcmp(arch.soc, soc) == 0) return &arch;
  }
  return nullptr;
}

}  // namespace npu
