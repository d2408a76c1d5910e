// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/util/flat_hash_map.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "npu_runtime.h"

namespace npu_backend {

/// Where a caller's own library gets memory: torch.npu.NPUPluggableAllocator.
struct MemorySource {
  void* (*allocate)(size_t bytes, int device, npuStream_t stream) = nullptr;
  void (*free)(void* memory, size_t bytes, int device, npuStream_t stream) = nullptr;
};

/// Caches memory of the devices. Requests up to 1 MiB are cut from segments of 2 MiB in size
/// classes of at most 25 % waste; larger ones are segments of their own, multiples of 2 MiB. Freed
/// blocks wait in the list of their size. Each arena (torch.npu.MemPool; 0 is the ordinary one) has
/// segments of its own. The runtime is never called with the lock held: it calls back into Free.
class BlockPool {
 public:
  using Stats = c10::CachingDeviceAllocator::DeviceStats;
  using ArenaId = int64_t;
  static constexpr ArenaId kOrdinaryArena = 0;

  static BlockPool& Get();

  /// 64-byte aligned memory of device; nullptr for 0 bytes. Throws c10::OutOfMemoryError.
  void* Allocate(c10::DeviceIndex device, size_t bytes);
  /// Any thread may call it, with work on the block pending: then RecordStream or a reference held
  /// it.
  void Free(void* pointer) noexcept;
  /// The device whose block begins at pointer, -1 if none does.
  c10::DeviceIndex DeviceOf(const void* pointer);
  /// Whether a block that is given out begins at pointer.
  bool IsInUse(const void* pointer);

  /// The block of pointer is not given out again before the work that is on stream when it is freed
  /// has run.
  void RecordStream(const void* pointer, c10::Stream stream);
  /// Waits for device and gives the unused segments of arena 0 and of dropped ones back to the
  /// system.
  void Trim(c10::DeviceIndex device);

  /// An arena that takes its segments from source, or from the runtime when that is empty.
  ArenaId NewArena(MemorySource source);
  /// No memory is taken from arena any more; its segments go when nobody uses them.
  void DropArena(ArenaId arena);
  /// This thread takes memory of device from arena from now on. Returns the one before.
  ArenaId UseArena(c10::DeviceIndex device, ArenaId arena);
  /// All memory comes from source, uncached. Throws when memory was given out already.
  void ReplaceSource(MemorySource source);
  bool IsReplaced() const { return replaced_.load(std::memory_order_relaxed); }

  Stats StatsOf(c10::DeviceIndex device);
  void ResetAccumulated(c10::DeviceIndex device);
  void ResetPeak(c10::DeviceIndex device);
  /// At most bytes are reserved on device from now on.
  void SetLimit(c10::DeviceIndex device, size_t bytes);
  /// For each block of device, and for the rest of a segment: kSnapshotColumns numbers, see there.
  std::vector<int64_t> Snapshot(c10::DeviceIndex device);

  /// Held around fork(), so that the child finds the pool whole.
  std::mutex& Mutex() { return mutex_; }

 private:
  struct Arena;
  struct Segment {
    char* memory;
    size_t bytes;
    bool small;  // shared by blocks up to 1 MiB
    Arena* arena;
    size_t cut = 0;         // bytes made into blocks so far
    size_t live = 0;        // blocks in use
    size_t live_bytes = 0;  // of those
    size_t free = 0;        // blocks that wait for a request
  };
  struct Block {
    char* memory;
    size_t bytes;
    size_t requested;  // 0: waits for a request
    Segment* segment;
    c10::DeviceIndex device;
    std::vector<c10::Stream> streams;  // other streams that use it
  };
  /// A freed block, and events behind the work of other streams that may still use it.
  struct Awaited {
    Block* block;
    std::vector<npuEvent_t> events;
  };
  struct Arena {
    ArenaId id;
    MemorySource source;
    bool dropped = false;
    std::map<size_t, std::vector<Block*>> free;  // by bytes
    std::vector<std::unique_ptr<Segment>> segments;
    Segment* open = nullptr;  // small blocks are cut from it
  };
  struct Device {
    std::map<ArenaId, Arena> arenas;
    std::vector<Awaited> awaited;
    size_t limit = SIZE_MAX;
    Stats stats;
  };
  /// A segment that nobody uses any more, on its way back.
  struct Unused {
    void* memory;
    size_t bytes;
    MemorySource source;
  };

  Device& At(c10::DeviceIndex device);
  Arena& ArenaOf(Device& device, ArenaId id);
  ArenaId ArenaInUse(c10::DeviceIndex device) const;
  static void* AllocateFromSource(c10::DeviceIndex index, const MemorySource& source, size_t bytes);
  void* TakeCached(c10::DeviceIndex index, size_t bytes, size_t requested);
  Block* FindFree(Arena& arena, size_t bytes);
  Block* Cut(c10::DeviceIndex index, Segment& segment, size_t bytes);
  void* Use(Device& device, Block* block, size_t requested, bool was_free);
  void GiveBack(Device& device, Block* block);
  bool IsAwaited(const Block& block);
  void* TakeNew(c10::DeviceIndex index, size_t bytes, size_t requested);
  MemorySource SourceOf(ArenaId arena);
  bool MayReserve(c10::DeviceIndex index, size_t bytes);
  void CountRetry(c10::DeviceIndex index);
  void CollectAwaited(c10::DeviceIndex index);
  static void CountAllocated(Device& device, const Block& block, bool allocated);
  static void CountActive(Device& device, const Block& block, bool active);
  static void CountSegment(Device& device, const Segment& segment, bool reserved);
  /// What of segment is free but cannot be given back.
  struct Idle {
    size_t blocks;
    size_t bytes;
  };
  static Idle IdleOf(const Segment& segment) {
    return segment.live == 0 ? Idle{0, 0} : Idle{segment.free, segment.bytes - segment.live_bytes};
  }
  static void CountIdle(Device& device, const Segment& segment, Idle before);
  std::vector<Unused> TakeUnusedSegments(Device& device, Arena& arena);
  static void GiveBackToSource(c10::DeviceIndex index,
                               const std::vector<Unused>& segments) noexcept;
  [[noreturn]] void ThrowOutOfMemory(c10::DeviceIndex index, size_t requested);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Device>> devices_;
  ska::flat_hash_map<const void*, std::unique_ptr<Block>> blocks_;
  std::map<ArenaId, MemorySource> sources_;  // of arenas that are not dropped; without: the runtime
  ArenaId newest_arena_ = kOrdinaryArena;
  std::atomic<bool> awaits_ = false;    // blocks of some device wait for other streams
  std::atomic<bool> replaced_ = false;  // by the source of the ordinary arena
};

/// Columns of BlockPool::Snapshot: segment address, segment bytes, segment is small, arena, block
/// address, block bytes, requested bytes, state (0 free, 1 in use, 2 freed with work pending).
inline constexpr size_t kSnapshotColumns = 8;

}  // namespace npu_backend
