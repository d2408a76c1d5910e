// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace npu::ranks {

inline constexpr uint32_t kMaxRanks = 64;
/// The byte that whoever starts the ranks keeps locked while it lives.
inline constexpr uint32_t kLauncherByte = kMaxRanks;
/// The byte that is locked while the length of the memory is looked at and changed.
inline constexpr uint32_t kLengthByte = kMaxRanks + 1;
inline constexpr size_t kExchangeBytes = 64 * 1024;

/// Where the memory of a group is found: it has no name, and goes with the last process that has it
/// open. "process:descriptor:inode".
struct GroupAddress {
  pid_t process = 0;
  int descriptor = -1;
  uint64_t inode = 0;

  std::string ToText() const;
  /// False where text is none.
  static bool Parse(const char* text, GroupAddress* address);
};

/// A call in which all ranks take part, as one of them sees it.
struct Call {
  char name[24];
  uint32_t root;
  uint64_t bytes;
};

/// kRefused: has left, since a call of the others was wrong on it.
enum RankState : uint32_t { kAbsent, kJoined, kLeft, kRefused };

/// What ranks share before their windows. Starts as zeros.
struct GroupState {
  struct Rank {
    std::atomic<uint32_t> state;
    std::atomic<int32_t> process;
    std::atomic<uint32_t> turn;  // of the last call that it has come to, from 1
    /// Of even and odd turns: ranks may look at the call that has ended while this one comes to the
    /// next.
    Call calls[2];
    char refusal[256];  // the sentence, once the state is kRefused
  };
  std::atomic<uint32_t> size;  // ranks, from the first that joins
  /// The last call to which all were seen to have come. Where ranks sleep: whether all have come
  /// only their own turns tell, since the one that came last may end before it writes here.
  std::atomic<uint32_t> turn;
  Rank ranks[kMaxRanks];
  char exchange[kExchangeBytes];
};
inline constexpr size_t kStateBytes = size_t{2} << 20;  // windows start on a huge page
static_assert(sizeof(GroupState) <= kStateBytes);

/// Memory of a group in this process.
class GroupMemory {
 public:
  /// Makes memory that no process has yet; the descriptor, or -1 and an error number.
  static int Create();
  /// The address of memory that Create has made.
  static GroupAddress AddressOf(int descriptor);
  /// A descriptor of the memory at address: another one, unless this process has made it; -1 and a
  /// sentence's end if there is none.
  static int OpenDescriptor(const GroupAddress& address, std::string* error);
  /// Opens the memory at address, with room for the state and window_bytes. Null and a sentence's
  /// end ("expected ..., got ...") when that cannot be.
  static std::unique_ptr<GroupMemory> Open(const GroupAddress& address, size_t window_bytes,
                                           std::string* error);
  ~GroupMemory();
  GroupMemory(const GroupMemory&) = delete;
  GroupMemory& operator=(const GroupMemory&) = delete;

  GroupState& state() const { return *reinterpret_cast<GroupState*>(base_); }
  std::byte* windows() const { return base_ + kStateBytes; }
  uint64_t inode() const { return inode_; }

  /// Locks a byte for this process. The system unlocks it when the process ends, however it ends.
  bool Lock(uint32_t byte) const;
  /// Whether another process has locked it.
  bool IsLocked(uint32_t byte) const;

 private:
  GroupMemory(int descriptor, std::byte* base, size_t bytes, uint64_t inode)
      : descriptor_(descriptor), base_(base), bytes_(bytes), inode_(inode) {}

  int descriptor_;
  std::byte* base_;
  size_t bytes_;
  uint64_t inode_;
};

}  // namespace npu::ranks
