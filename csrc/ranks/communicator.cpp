// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "npu_runtime.h"

namespace npu::ranks {
namespace {

constexpr uint32_t kIn = 0, kOut = 1;  // the windows of a rank

}  // namespace

std::unique_ptr<Communicator> Communicator::Join(const Membership& membership, std::string* error) {
  constexpr const char* kWhere = "HcclCommInitRootInfo";
  auto group = RankGroup::Join(kWhere, membership, error);
  if (group == nullptr) return nullptr;
  *error = group->Barrier(kWhere);  // all have opened the memory: its maker may go
  if (!error->empty()) return nullptr;
  std::unique_ptr<Communicator> result(new Communicator(std::move(group)));
  if (result->AdoptWindows()) return result;
  *error = npuGetLastErrorMessage();
  return nullptr;
}

Communicator::Communicator(std::unique_ptr<RankGroup> group)
    : group_(std::move(group)), name_("npu_group_" + std::to_string(group_->inode())) {}

bool Communicator::AdoptWindows() {
  for (uint32_t rank = 0; rank < group_->size(); ++rank) {
    for (const uint32_t which : {kIn, kOut}) {
      void* window = group_->Window(rank, which);
      if (npuMemoryAdopt(window, group_->window_bytes()) != NPU_SUCCESS) return false;
      windows_.push_back(window);
    }
  }
  return npuPeerWatchAdd(&Communicator::Lost, this) == NPU_SUCCESS;
}

Communicator::~Communicator() {
  npuPeerWatchRemove(this);
  for (void* window : windows_) npuMemoryDisown(window);
  npuFree(context_);
}

const char* Communicator::Lost(void* communicator) {
  thread_local std::string sentence;
  sentence = static_cast<Communicator*>(communicator)->group_->Lost();
  return sentence.c_str();
}

DeviceContext* Communicator::Context() {
  // What the vendor's library gives is longer.
  constexpr size_t kContextBytes = 4096, kWorkspaceBytes = 4096;
  if (context_ != nullptr) return context_;
  void* memory = nullptr;
  if (npuMalloc(&memory, kContextBytes + kWorkspaceBytes) != NPU_SUCCESS) return nullptr;
  std::memset(memory, 0, kContextBytes + kWorkspaceBytes);
  context_ = static_cast<DeviceContext*>(memory);
  context_->workspace = reinterpret_cast<uintptr_t>(memory) + kContextBytes;
  context_->workspace_bytes = kWorkspaceBytes;
  context_->rank = group_->rank();
  context_->size = group_->size();
  context_->window_bytes = group_->window_bytes();
  for (uint32_t rank = 0; rank < group_->size(); ++rank) {
    context_->windows_in[rank] = reinterpret_cast<uintptr_t>(group_->Window(rank, kIn));
    context_->windows_out[rank] = reinterpret_cast<uintptr_t>(group_->Window(rank, kOut));
  }
  return context_;
}

const LentMemory* Communicator::Lend(const char* where, void* memory, size_t bytes,
                                     std::string* error) {
  auto lent = LentMemory::Lend(where, *group_, memory, bytes, error);
  if (lent == nullptr) return nullptr;
  lent_.push_back(std::move(lent));
  return lent_.back().get();
}

Communicators& Communicators::Get() {
  static auto* const communicators = new Communicators;  // kernels may run when statics end
  static const struct Departure {
    ~Departure() { Get().LeaveAll(); }
  } departure;
  return *communicators;
}

void Communicators::LeaveAll() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto& communicator : all_) communicator->group().Leave();
}

Communicator* Communicators::Add(std::unique_ptr<Communicator> communicator) {
  const std::lock_guard<std::mutex> lock(mutex_);
  all_.push_back(std::move(communicator));
  return all_.back().get();
}

Communicator* Communicators::Find(const void* handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& communicator : all_) {
    if (communicator.get() == handle) return communicator.get();
  }
  return nullptr;
}

Communicator* Communicators::FindByName(const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& communicator : all_) {
    if (communicator->name() == name) return communicator.get();
  }
  return nullptr;
}

std::unique_ptr<Communicator> Communicators::Remove(const void* handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(all_.begin(), all_.end(),
                                  [&](const auto& entry) { return entry.get() == handle; });
  if (found == all_.end()) return nullptr;
  std::unique_ptr<Communicator> result = std::move(*found);
  all_.erase(found);
  return result;
}

}  // namespace npu::ranks
