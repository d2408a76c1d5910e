// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ranks/lent_memory.hpp"
#include "ranks/rank_group.hpp"

namespace npu::ranks {

/// What kernels are told of a group, in memory of the device. Source: pto-isa, CommDeviceContext of
/// its communication tests, the head of what the vendor's library gives for a mesh.
struct DeviceContext {
  uint64_t workspace;
  uint64_t workspace_bytes;
  uint32_t rank;
  uint32_t size;
  uint64_t window_bytes;
  uint64_t windows_in[kMaxRanks];
  uint64_t windows_out[kMaxRanks];
};

/// One rank's end of a group whose windows kernels use.
class Communicator {
 public:
  /// Null and a sentence when ranks cannot meet.
  static std::unique_ptr<Communicator> Join(const Membership& membership, std::string* error);
  /// Gives back windows and context; the device must be idle.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  RankGroup& group() { return *group_; }
  const std::string& name() const { return name_; }
  /// The context, made by the first call; null when the device has no memory.
  DeviceContext* Context();
  /// Lends memory to the others, until this ends; null and a sentence as LentMemory::Lend.
  const LentMemory* Lend(const char* where, void* memory, size_t bytes, std::string* error);

 private:
  explicit Communicator(std::unique_ptr<RankGroup> group);

  bool AdoptWindows();
  static const char* Lost(void* communicator);

  std::unique_ptr<RankGroup> group_;
  std::string name_;
  std::vector<void*> windows_;  // that the runtime knows
  DeviceContext* context_ = nullptr;
  std::vector<std::unique_ptr<LentMemory>> lent_;
};

/// Live communicators of this process: handles are checked against it.
class Communicators {
 public:
  static Communicators& Get();

  /// The process ends: tells the others. The system takes the memory.
  void LeaveAll();
  Communicator* Add(std::unique_ptr<Communicator> communicator);
  Communicator* Find(const void* handle);
  Communicator* FindByName(const std::string& name);
  /// Null where handle is none.
  std::unique_ptr<Communicator> Remove(const void* handle);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Communicator>> all_;
};

}  // namespace npu::ranks
