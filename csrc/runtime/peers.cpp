// SPDX-License-Identifier: Apache-2.0
#include "runtime/peers.hpp"

#include <algorithm>

#include "runtime/status.hpp"

namespace npu::runtime {

Peers& Peers::Get() {
  static auto* const peers = new Peers;  // outlives static destructors
  return *peers;
}

npuError_t Peers::Add(const char* function, npuPeerWatch watch, void* owner) {
  if (watch == nullptr || owner == nullptr)
    return Invalid(function, "a watch and its owner", "NULL");
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.push_back({watch, owner});
  count_.store(entries_.size(), std::memory_order_release);
  return NPU_SUCCESS;
}

npuError_t Peers::Remove(const char* function, void* owner) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const size_t removed =
      std::erase_if(entries_, [owner](const Entry& entry) { return entry.owner == owner; });
  count_.store(entries_.size(), std::memory_order_release);
  return removed != 0 ? NPU_SUCCESS : Invalid(function, "an owner of a watch", owner);
}

std::string Peers::Lost() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Entry& entry : entries_) {
    const char* sentence = entry.watch(entry.owner);
    if (sentence != nullptr && *sentence != '\0') return sentence;
  }
  return "";
}

}  // namespace npu::runtime
