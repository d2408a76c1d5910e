// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "npu/core.hpp"
#include "npu/observer.hpp"

namespace npu {

/// Records where kernels place tiles and what they store, over all launches that start while it is
/// on.
class MemoryMap final : public InstructionObserver {
 public:
  static constexpr size_t kMostStores = 1'000'000;  // that are recorded

  /// A placement, once for all blocks and times that agree in it.
  struct Tile {
    const char* kernel;
    CoreType core;
    Placement placement;
    uint64_t capacity;
    uint64_t times;
  };
  struct Store {
    uint32_t block;
    uint32_t sub_block;
    uint64_t instruction;
    Access target;
    const void* call_site;
  };

  /// Forgets what was recorded and records from now on.
  static void Start();
  static void Stop();
  /// The map while it is on, else null.
  static InstructionObserver* Active();

  static size_t TileCount();
  static size_t StoreCount();
  /// False when there is none with that index.
  static bool GetTile(size_t index, Tile* tile);
  static bool GetStore(size_t index, Store* store);

  void OnInstruction(const Core& core, const Instruction& instruction) override;
  void OnPlacement(const Core& core, const Placement& placement) override;
};

}  // namespace npu
