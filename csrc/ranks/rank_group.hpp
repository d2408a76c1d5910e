// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "ranks/group_memory.hpp"

namespace npu::ranks {

/// How this process joins a group.
struct Membership {
  GroupAddress address;
  uint32_t size = 0;
  uint32_t rank = 0;
  size_t window_bytes = 0;             // of each window
  uint32_t windows = 0;                // of each rank
  bool has_launcher = false;           // which keeps kLauncherByte locked
  std::chrono::seconds patience{120};  // for ranks that have not joined
};

/// This process as one rank of a group. No call waits for a rank that has ended or left, or refused
/// a call: it returns a sentence instead, and so do all calls after it. Calls of several threads
/// take their turns.
class RankGroup {
 public:
  /// Null and a sentence ("where: expected ..., got ...") when that cannot be.
  static std::unique_ptr<RankGroup> Join(const char* where, const Membership& membership,
                                         std::string* error);
  ~RankGroup();
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  uint32_t rank() const { return membership_.rank; }
  uint32_t size() const { return membership_.size; }
  size_t window_bytes() const { return membership_.window_bytes; }
  uint64_t inode() const { return memory_->inode(); }
  std::byte* Window(uint32_t rank, uint32_t which) const;

  /// Tells the others that this rank comes to no further call. The memory stays.
  void Leave();
  /// Tells the others, who may wait for this rank, that a call was wrong on it: sentence. It comes
  /// to no further call.
  void Refuse(const std::string& sentence);
  /// Returns when all ranks have called it; "" or a sentence.
  std::string Barrier(const char* where);
  /// Copies data of root to all ranks.
  std::string Broadcast(const char* where, void* data, size_t bytes, uint32_t root);
  /// A sentence's end about a rank that has ended without leaving, or that all others have left.
  std::string Lost() const;

 private:
  RankGroup(const Membership& membership, std::unique_ptr<GroupMemory> memory)
      : membership_(membership), memory_(std::move(memory)), process_(getpid()) {}

  std::string Enter();
  /// What forbids a call; "" if nothing does. Before the mutex, which a fork may have copied
  /// locked.
  std::string Forbidden() const;
  std::string Meet(const char* where, uint32_t root, uint64_t bytes);
  /// What this rank has refused, as an end of sentence; "" if nothing.
  std::string OwnRefusal() const;
  std::string CopyInTurns(const char* where, char* data, size_t bytes, uint32_t root);
  bool AllHaveCome(uint32_t turn) const;
  std::string AwaitTurn(uint32_t turn);
  /// A sentence's end about a rank that will not come to turn; "" while all may.
  std::string Missing(uint32_t turn, std::chrono::steady_clock::time_point since) const;
  std::string Mismatch(uint32_t turn) const;
  bool HasEnded(uint32_t rank) const;

  Membership membership_;
  std::unique_ptr<GroupMemory> memory_;
  pid_t process_;
  std::mutex mutex_;    // of a call in which all ranks take part
  std::string broken_;  // the first sentence's end
  std::atomic<bool> has_refused_{false};
};

}  // namespace npu::ranks
