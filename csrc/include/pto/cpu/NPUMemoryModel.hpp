// SPDX-License-Identifier: Apache-2.0
// The memory of the core that a thread of host code is, under the names that programs for
// simulators use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "npu/host_core.hpp"
#include "pto/tile.hpp"

namespace pto {

enum class NPUArch { A2A3, A5 };

/// On-chip memory of the calling thread's core. Its sizes are those of the chip.
class NPUMemoryModel {
 public:
  static NPUMemoryModel& Instance() {
    static NPUMemoryModel model;
    return model;
  }

  /// From here on this thread, and threads that begin later, are cores of that generation.
  static void SetDefaultArch(NPUArch arch) {
    npu::SetHostArch(*npu::FindArch(arch == NPUArch::A5 ? "Ascend950PR" : "Ascend910B1"));
  }
  void Initialize(NPUArch arch) { SetDefaultArch(arch); }
  void EnsureInitialized() { npu::HostCore(); }
  bool IsInitialized() const { return true; }
  NPUArch GetArch() const {
    return npu::HostCore().arch->generation == npu::Generation::kA5 ? NPUArch::A5 : NPUArch::A2A3;
  }

  char* GetUBBase() { return Base(npu::Space::kUb); }
  char* GetL1Base() { return Base(npu::Space::kL1); }
  char* GetL0ABase() { return Base(npu::Space::kL0A); }
  char* GetL0BBase() { return Base(npu::Space::kL0B); }
  char* GetL0CBase() { return Base(npu::Space::kL0C); }

  bool ContainsAddress(uintptr_t address) const { return SpaceAt(address) >= 0; }
  /// Bytes from the start of the space that pointer leads into.
  template <class T>
  size_t GetNPUAddr(T* pointer) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const int space = SpaceAt(address);
    if (space < 0) {
      throw std::invalid_argument("GetNPUAddr: expected an address on the chip, got another");
    }
    return address - reinterpret_cast<uintptr_t>(npu::HostCore().scratchpad[space]);
  }

  /// Fills all of it with 0.
  void Clear() {
    const npu::Core& core = npu::HostCore();
    for (int space = 0; space < npu::kOnChipSpaces; ++space) {
      std::memset(core.scratchpad[space], 0, core.arch->capacity[space]);
    }
  }
  void Reset() { Clear(); }

 private:
  NPUMemoryModel() = default;

  static char* Base(npu::Space space) {
    return reinterpret_cast<char*>(npu::HostCore().scratchpad[static_cast<int>(space)]);
  }
  static int SpaceAt(uintptr_t address) {
    const npu::Core& core = npu::HostCore();
    for (int space = 0; space < npu::kOnChipSpaces; ++space) {
      const uintptr_t base = reinterpret_cast<uintptr_t>(core.scratchpad[space]);
      if (address - base < core.arch->capacity[space]) return space;
    }
    return -1;
  }
};

inline void NPU_MEMORY_INIT(NPUArch arch = NPUArch::A2A3) { NPUMemoryModel::SetDefaultArch(arch); }
inline void NPU_MEMORY_CLEAR() { NPUMemoryModel::Instance().Clear(); }

}  // namespace pto
