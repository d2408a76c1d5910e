// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ranks/rank_group.hpp"

namespace npu::ranks {

/// Memory that each rank of a group has allocated for itself and lets the others reach.
class LentMemory {
 public:
  /// Lends bytes from memory on, which stays where it is and keeps its content. All ranks call it.
  ///   memory  of aclrtMalloc: whole huge pages, since they are mapped anew
  /// Null and a sentence when that cannot be.
  static std::unique_ptr<LentMemory> Lend(const char* where, RankGroup& group, void* memory,
                                          size_t bytes, std::string* error);
  /// Gives back what others have lent; the device must be idle.
  ~LentMemory();
  LentMemory(const LentMemory&) = delete;
  LentMemory& operator=(const LentMemory&) = delete;

  /// Where this process reaches the memory of rank.
  void* Of(uint32_t rank) const { return parts_[rank].memory; }

 private:
  struct Part {
    void* memory;
    size_t mapped;  // 0: this rank's own
  };

  LentMemory() = default;
  bool Borrow(const GroupAddress& address, size_t bytes, std::string* error);

  std::vector<Part> parts_;
};

}  // namespace npu::ranks
