// SPDX-License-Identifier: Apache-2.0
#include "ranks/rank_group.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>

namespace npu::ranks {
namespace {

using Clock = std::chrono::steady_clock;

constexpr long kLookPeriodNs = 20'000'000;  // between two looks at whether the others live
constexpr int kSpins = 200;                 // looks at a turn before the system is asked to wait

void AwaitChange(std::atomic<uint32_t>& word, uint32_t old) {
  const timespec period = {0, kLookPeriodNs};
  syscall(SYS_futex, &word, FUTEX_WAIT, old, &period, nullptr, 0);
}

void WakeAll(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

std::string Numbered(uint32_t rank, uint32_t size) {
  return "rank " + std::to_string(rank) + " of " + std::to_string(size);
}

bool SameCall(const Call& a, const Call& b) {
  return std::strncmp(a.name, b.name, sizeof(a.name)) == 0 && a.root == b.root &&
         a.bytes == b.bytes;
}

/// Whether a turn has come; turns start again from 0.
bool Reached(const std::atomic<uint32_t>& turn, uint32_t expected) {
  return static_cast<int32_t>(turn.load() - expected) >= 0;
}

std::string Describe(const Call& call) {
  std::string text(call.name, strnlen(call.name, sizeof(call.name)));
  if (call.bytes != 0) {
    text += " of " + std::to_string(call.bytes) + " bytes from " + std::to_string(call.root);
  }
  return text;
}

/// Groups that this process has joined. It may be one rank of each: its locks are those of all of
/// its descriptors.
class OpenGroups {
 public:
  bool Add(uint64_t inode) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return inodes_.insert(inode).second;
  }
  void Remove(uint64_t inode) {
    const std::lock_guard<std::mutex> lock(mutex_);
    inodes_.erase(inode);
  }

 private:
  std::mutex mutex_;
  std::set<uint64_t> inodes_;
};

OpenGroups& OwnGroups() {
  static auto* const groups = new OpenGroups;  // outlives static destructors
  return *groups;
}

std::string Check(const Membership& membership) {
  if (membership.size == 0 || membership.size > kMaxRanks) {
    return "expected 1 to " + std::to_string(kMaxRanks) + " ranks, got " +
           std::to_string(membership.size);
  }
  if (membership.rank >= membership.size) {
    return "expected a rank below " + std::to_string(membership.size) + ", got " +
           std::to_string(membership.rank);
  }
  return "";
}

}  // namespace

std::unique_ptr<RankGroup> RankGroup::Join(const char* where, const Membership& membership,
                                           std::string* error) {
  *error = Check(membership);
  const uint64_t inode = membership.address.inode;
  if (error->empty() && !OwnGroups().Add(inode)) {
    *error = "expected one rank of a group in a process, got another one";
  } else if (error->empty()) {
    const size_t windows = size_t{membership.size} * membership.windows * membership.window_bytes;
    auto memory = GroupMemory::Open(membership.address, windows, error);
    if (memory == nullptr) {
      OwnGroups().Remove(inode);
    } else {
      std::unique_ptr<RankGroup> group(new RankGroup(membership, std::move(memory)));
      *error = group->Enter();
      if (error->empty()) return group;
      group->process_ = 0;  // has nothing to leave
    }
  }
  *error = std::string(where) + ": " + *error;
  return nullptr;
}

std::string RankGroup::Enter() {
  GroupState& state = memory_->state();
  uint32_t size = 0;
  if (!state.size.compare_exchange_strong(size, this->size()) && size != this->size()) {
    return "expected a group of " + std::to_string(size) + " ranks (as the first rank says), got " +
           std::to_string(this->size());
  }
  GroupState::Rank& own = state.ranks[rank()];
  if (own.state.load() != kAbsent || !memory_->Lock(rank())) {
    return "expected " + Numbered(rank(), this->size()) + " to join once, got it again";
  }
  own.process.store(process_);
  own.state.store(kJoined);
  return "";
}

void RankGroup::Leave() {
  uint32_t joined = kJoined;
  // A forked child has the object, but is no rank.
  if (process_ != getpid()) return;
  memory_->state().ranks[rank()].state.compare_exchange_strong(joined, kLeft);
}

void RankGroup::Refuse(const std::string& sentence) {
  if (!Forbidden().empty() || has_refused_.exchange(true)) return;
  GroupState::Rank& own = memory_->state().ranks[rank()];
  std::strncpy(own.refusal, sentence.c_str(), sizeof(own.refusal) - 1);
  uint32_t joined = kJoined;
  own.state.compare_exchange_strong(joined, kRefused);
}

std::string RankGroup::OwnRefusal() const {
  const GroupState::Rank& own = memory_->state().ranks[rank()];
  if (own.state.load() != kRefused) return "";
  return "expected no call after one that this rank has refused, got another one; " +
         std::string(own.refusal);
}

RankGroup::~RankGroup() {
  Leave();
  OwnGroups().Remove(memory_->inode());
}

std::byte* RankGroup::Window(uint32_t rank, uint32_t which) const {
  return memory_->windows() + (size_t{rank} * membership_.windows + which) * window_bytes();
}

bool RankGroup::HasEnded(uint32_t rank) const {
  const GroupState::Rank& other = memory_->state().ranks[rank];
  return other.state.load() == kJoined && other.process.load() != process_ &&
         !memory_->IsLocked(rank) && other.state.load() == kJoined;
}

bool RankGroup::AllHaveCome(uint32_t turn) const {
  for (uint32_t rank = 0; rank < size(); ++rank) {
    if (!Reached(memory_->state().ranks[rank].turn, turn)) return false;
  }
  return true;
}

std::string RankGroup::Missing(uint32_t turn, Clock::time_point since) const {
  std::string result;
  for (uint32_t rank = 0; rank < size(); ++rank) {
    const GroupState::Rank& other = memory_->state().ranks[rank];
    if (Reached(other.turn, turn)) continue;
    const uint32_t state = other.state.load();
    const bool has_ended = HasEnded(rank);
    if (Reached(other.turn, turn)) continue;  // it came before it ended
    const std::string expected = "expected " + Numbered(rank, size()) + " to come, got ";
    // One that ended so, or refused, is why others have left.
    if (has_ended) return expected + "its end";
    if (state == kRefused) return expected + "its refusal (" + other.refusal + ")";
    if (state == kLeft) result = expected + "its departure";
    if (state == kAbsent && Clock::now() - since > membership_.patience) {
      result = expected + "none in " + std::to_string(membership_.patience.count()) + " s";
    }
  }
  if (!result.empty() || !membership_.has_launcher || memory_->IsLocked(kLauncherByte)) {
    return result;
  }
  return "expected the launcher to live, got its end";
}

std::string RankGroup::AwaitTurn(uint32_t turn) {
  std::atomic<uint32_t>& ended = memory_->state().turn;
  for (int spin = 0; spin < kSpins; ++spin) {
    if (Reached(ended, turn)) return "";
  }
  const Clock::time_point since = Clock::now();
  for (;;) {
    const uint32_t seen = ended.load();
    if (AllHaveCome(turn)) return "";
    AwaitChange(ended, seen);
    if (AllHaveCome(turn)) return "";
    std::string missing = Missing(turn, since);
    if (AllHaveCome(turn)) return "";
    if (!missing.empty()) return missing;
  }
}

std::string RankGroup::Mismatch(uint32_t turn) const {
  const auto call = [&](uint32_t rank) -> const Call& {
    return memory_->state().ranks[rank].calls[turn % 2];
  };
  uint32_t odd_one = 1;
  while (odd_one < size() && SameCall(call(odd_one), call(0))) ++odd_one;
  if (odd_one >= size()) return "";
  return "expected all ranks to come to " + Describe(call(0)) + " (as rank 0 does), got " +
         Describe(call(odd_one)) + " on rank " + std::to_string(odd_one);
}

std::string RankGroup::Forbidden() const {
  return process_ == getpid() ? "" : "expected the process that joined, got one forked from it";
}

std::string RankGroup::Meet(const char* where, uint32_t root, uint64_t bytes) {
  const auto sentence = [&] { return std::string(where) + ": " + broken_; };
  if (broken_.empty()) broken_ = OwnRefusal();
  if (!broken_.empty()) return sentence();
  GroupState& state = memory_->state();
  GroupState::Rank& own = state.ranks[rank()];
  const uint32_t turn = own.turn.load() + 1;
  Call& call = own.calls[turn % 2];
  call = {};
  std::strncpy(call.name, where, sizeof(call.name) - 1);
  call.root = root;
  call.bytes = bytes;
  own.turn.store(turn);
  if (AllHaveCome(turn)) {
    state.turn.store(turn);
    WakeAll(state.turn);
  } else {
    broken_ = AwaitTurn(turn);
  }
  if (broken_.empty()) broken_ = Mismatch(turn);
  if (broken_.empty()) return "";
  Leave();  // one that comes later must not wait for this rank
  return sentence();
}

std::string RankGroup::Barrier(const char* where) {
  if (std::string error = Forbidden(); !error.empty()) return std::string(where) + ": " + error;
  const std::lock_guard<std::mutex> lock(mutex_);
  return Meet(where, 0, 0);
}

std::string RankGroup::Broadcast(const char* where, void* data, size_t bytes, uint32_t root) {
  if (std::string error = Forbidden(); !error.empty()) return std::string(where) + ": " + error;
  if (root >= size()) {
    const std::string sentence = std::string(where) + ": expected a root below " +
                                 std::to_string(size()) + ", got " + std::to_string(root);
    Refuse(sentence);
    return sentence;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  return CopyInTurns(where, static_cast<char*>(data), bytes, root);
}

std::string RankGroup::CopyInTurns(const char* where, char* data, size_t bytes, uint32_t root) {
  char* const exchange = memory_->state().exchange;
  for (size_t at = 0; at < bytes || at == 0; at += kExchangeBytes) {
    const size_t count = std::min(bytes - at, kExchangeBytes);
    if (rank() == root && count != 0) std::memcpy(exchange, data + at, count);
    std::string error = Meet(where, root, bytes);
    if (!error.empty()) return error;
    if (rank() != root && count != 0) std::memcpy(data + at, exchange, count);
    error = Meet(where, root, bytes);  // nobody reads any more
    if (!error.empty()) return error;
  }
  return "";
}

std::string RankGroup::Lost() const {
  uint32_t left = 0;
  for (uint32_t rank = 0; rank < size(); ++rank) {
    if (rank == this->rank()) continue;
    if (HasEnded(rank)) return "expected " + Numbered(rank, size()) + " to live, got its end";
    left += memory_->state().ranks[rank].state.load() >= kLeft;
  }
  if (left == 0 || left + 1 < size()) return "";
  return "expected another rank of the " + std::to_string(size()) + " to be there, got none";
}

}  // namespace npu::ranks
