// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "npu/host_core.hpp"
#include "pto/check.hpp"
#include "pto/fifo.hpp"

/// Queues of a TPipe in kernels that host code calls: threads share them, and one thread may be the
/// cube core and a vector core in turn. No flags: each slot says what has been done to it.
namespace pto::detail {

/// Gives the memory of the queues of a key, bytes of it, zero at first; or none: those of the
/// runtime.
using HostPipeMemory = void* (*)(uint64_t key, size_t bytes);
inline HostPipeMemory host_pipe_memory = nullptr;

/// One direction. A slot is full once all cores that produce have given their part, and free again
/// once all that consume have taken theirs; a bit for each core. Programs for simulators look at
/// some of these by their names.
template <uint32_t kSlots, size_t kBytes>
struct HostQueue {
  int32_t next_producer_slot, next_consumer_slot, occupied;
  uint32_t producers_allocated[kSlots], producers_done[kSlots], consumers_done[kSlots];
  bool is_full[kSlots];
  alignas(npu::kTileAlignment) std::byte slots[kSlots][kBytes];  // without global memory
};

/// Both directions; where one alone is used the other takes next to nothing.
template <uint32_t kSlots, size_t kBytes, bool kBoth>
struct HostQueues : HostQueue<kSlots, kBytes> {
  HostQueue<kBoth ? kSlots : 1, kBoth ? kBytes : 1> of_vector_cores;
  uint32_t lock;
};

class HostPipeLock {
 public:
  explicit HostPipeLock(uint32_t& lock) : lock_(lock) {
    while (__atomic_exchange_n(&lock_, 1, __ATOMIC_ACQUIRE) != 0) sched_yield();
  }
  ~HostPipeLock() { __atomic_store_n(&lock_, 0, __ATOMIC_RELEASE); }
  HostPipeLock(const HostPipeLock&) = delete;
  HostPipeLock& operator=(const HostPipeLock&) = delete;

 private:
  uint32_t& lock_;
};

/// The queues of the pipe that tag stands for, in the block of this thread.
template <class Queues>
Queues& QueuesOnHost(const char& tag) {
  const uint64_t key = reinterpret_cast<uintptr_t>(&tag) << 16 | npu::HostCore().block_idx % 65536;
  void* memory = host_pipe_memory == nullptr ? nullptr : host_pipe_memory(key, sizeof(Queues));
  if (memory == nullptr) memory = npu::SharedByHostCode(key, sizeof(Queues));
  return *static_cast<Queues*>(memory);
}

/// What one side does to a slot: as the producer, or the consumer, of tiles from the vector cores
/// or the cube core.
template <bool kProduces, class Pipe, class Queue>
class HostSlot {
 public:
  /// is_parted: all vector cores of the block take part on this side.
  HostSlot(uint32_t& lock, Queue& queue, uint32_t tile, bool is_parted, int64_t sub_block)
      : lock_(lock), queue_(queue), slot_(tile % Pipe::kSlots) {
    const bool is_shared = is_parted && npu::current_core->sub_block_num > 1;
    all_ = is_shared ? 3 : 1;
    mine_ = is_shared && (sub_block & 1) != 0 ? 2 : 1;
  }

  char* OwnMemory() const { return reinterpret_cast<char*>(queue_.slots[slot_]); }

  /// Until this core may give, or take, its part.
  void Await(const char* op) const {
    npu::Core& core = *npu::current_core;
    npu::CountInstruction(core);
    while (!IsReady()) core.scheduler->Yield(core, op);
  }
  void Begin() const {
    if (!kProduces) return;
    const HostPipeLock held(lock_);
    queue_.producers_allocated[slot_] |= mine_;
  }
  void End() const {
    const HostPipeLock held(lock_);
    uint32_t& done = kProduces ? queue_.producers_done[slot_] : queue_.consumers_done[slot_];
    done |= mine_;
    if (done != all_) return;
    done = 0;
    queue_.is_full[slot_] = kProduces;
    queue_.occupied += kProduces ? 1 : -1;
    if (kProduces) queue_.producers_allocated[slot_] = 0;
    (kProduces ? queue_.next_producer_slot : queue_.next_consumer_slot) =
        static_cast<int32_t>((slot_ + 1) % Pipe::kSlots);
  }

 private:
  bool IsReady() const {
    const HostPipeLock held(lock_);
    const uint32_t done = kProduces ? queue_.producers_done[slot_] : queue_.consumers_done[slot_];
    return queue_.is_full[slot_] != kProduces && (done & mine_) == 0;
  }

  uint32_t& lock_;
  Queue& queue_;
  uint32_t slot_, mine_, all_;
};

}  // namespace pto::detail
