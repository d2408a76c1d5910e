// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "npu/instruction.hpp"

namespace npu {

/// Numbers for the calls of a launch, so that a stamp is small.
class HazardSites {
 public:
  struct Site {
    const char* instruction = nullptr;
    const void* call_site = nullptr;
  };

  uint32_t NumberOf(const char* instruction, const void* call_site) {
    const Site site{instruction, call_site};
    Slot& slot = slots_[Hash(site) % kSlots];
    if (slot.site.call_site == call_site && slot.site.instruction == instruction) {
      return slot.number;
    }
    slot = {site, Look(site)};
    return slot.number;
  }
  const Site& operator[](uint32_t number) const { return sites_[number]; }

 private:
  static constexpr size_t kSlots = 64;
  struct Slot {
    Site site;
    uint32_t number = 0;
  };

  static size_t Hash(const Site& site) {
    const auto address = reinterpret_cast<uintptr_t>(site.call_site);
    return address ^ address >> 6 ^ reinterpret_cast<uintptr_t>(site.instruction);
  }
  uint32_t Look(const Site& site) {
    for (auto [at, end] = numbers_.equal_range(Hash(site)); at != end; ++at) {
      const Site& other = sites_[at->second];
      if (other.call_site == site.call_site && other.instruction == site.instruction) {
        return at->second;
      }
    }
    const auto number = static_cast<uint32_t>(sites_.size());
    sites_.push_back(site);
    numbers_.emplace(Hash(site), number);
    return number;
  }

  Slot slots_[kSlots];
  std::vector<Site> sites_ = {Site()};  // number 0 is that of an empty slot
  std::unordered_multimap<size_t, uint32_t> numbers_;
};

}  // namespace npu
