// SPDX-License-Identifier: Apache-2.0
// The system on chip that is emulated, as tiling code of the vendor's toolkit asks for it.
#pragma once

#include <cctype>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "npu/arch.hpp"
#include "npu_runtime.h"

namespace platform_ascendc {

enum class CoreMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, FB, BT };

enum class SocVersion {
  ASCEND910 = 0,
  ASCEND910B,
  ASCEND310P,
  ASCEND310B,
  ASCEND910_95,
  ASCEND950 = ASCEND910_95,
  RESERVED_VERSION = 99999
};

/// Core counts and sizes of one system on chip.
class PlatformAscendC {
 public:
  explicit PlatformAscendC(const npu::Arch& arch) : arch_(&arch) {}

  const char* Name() const { return arch_->soc; }

  /// Vector cores, where cube and vector cores are apart, as on all that are emulated.
  uint32_t GetCoreNum() const { return GetCoreNumAiv(); }
  uint32_t GetCoreNumAic() const { return static_cast<uint32_t>(arch_->cube_cores); }
  uint32_t GetCoreNumAiv() const { return static_cast<uint32_t>(arch_->vector_cores); }
  uint32_t GetCoreNumVector() const { return 0; }  // of chips that have vector cores besides

  SocVersion GetSocVersion() const {
    return arch_->generation == npu::Generation::kA5 ? SocVersion::ASCEND950
                                                     : SocVersion::ASCEND910B;
  }

  /// Bytes of a kind of memory; 0 for L2, which is not emulated.
  void GetCoreMemSize(CoreMemType type, uint64_t& bytes) const {
    switch (type) {
      case CoreMemType::L0_A:
        bytes = Capacity(npu::Space::kL0A);
        return;
      case CoreMemType::L0_B:
        bytes = Capacity(npu::Space::kL0B);
        return;
      case CoreMemType::L0_C:
        bytes = Capacity(npu::Space::kL0C);
        return;
      case CoreMemType::L1:
        bytes = Capacity(npu::Space::kL1);
        return;
      case CoreMemType::UB:
        bytes = Capacity(npu::Space::kUb);
        return;
      case CoreMemType::FB:
        bytes = Capacity(npu::Space::kFix);
        return;
      case CoreMemType::BT:
        bytes = Capacity(npu::Space::kBias);
        return;
      case CoreMemType::HBM:
        bytes = arch_->memory;
        return;
      case CoreMemType::L2:
        break;
    }
    bytes = 0;
  }

  /// Bytes at the start of a workspace that the vendor's library keeps for itself. Source: CANN,
  /// GetLibApiWorkSpaceSize of Atlas A2.
  uint32_t GetLibApiWorkSpaceSize() const { return uint32_t{16} << 20; }

  /// Blocks for slices of work, where a block has aic cube and aiv vector cores of its own.
  uint32_t CalcTschBlockDim(uint32_t slices, uint32_t aic, uint32_t aiv) const {
    if (aic == 0 || aiv == 0 || aic > aiv) return slices;
    const uint32_t ratio = aiv / aic;
    return (slices + ratio - 1) / ratio;
  }

 private:
  uint64_t Capacity(npu::Space space) const { return arch_->capacity[static_cast<int>(space)]; }

  const npu::Arch* arch_;
};

class PlatformAscendCManager {
 public:
  /// The one of NPU_SOC.
  static PlatformAscendC* GetInstance() {
    const char* soc = nullptr;
    return npuGetSocName(&soc) == NPU_SUCCESS ? Find(soc) : nullptr;
  }
  /// That named soc, in any case of letters; nullptr, and a sentence in the last error, for one
  /// that is not emulated.
  static PlatformAscendC* GetInstance(const char* soc) {
    if (soc == nullptr) return GetInstance();
    PlatformAscendC* found = Find(soc);
    if (found == nullptr) {
      npuSetLastErrorMessage(
          (std::string("PlatformAscendCManager::GetInstance: expected ") + Known() + ", got " + soc)
              .c_str());
    }
    return found;
  }

 private:
  static std::string Lower(std::string text) {
    for (char& letter : text) {
      letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
    return text;
  }
  static PlatformAscendC* Find(const char* soc) {
    static std::vector<PlatformAscendC> platforms(std::begin(npu::kArchTable),
                                                  std::end(npu::kArchTable));
    for (PlatformAscendC& platform : platforms) {
      if (Lower(platform.Name()) == Lower(soc)) return &platform;
    }
    return nullptr;
  }
  static std::string Known() {
    std::string names;
    for (const npu::Arch& arch : npu::kArchTable) {
      names += (names.empty() ? "" : ", ") + std::string(arch.soc);
    }
    return names;
  }
};

}  // namespace platform_ascendc
