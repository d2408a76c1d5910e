// SPDX-License-Identifier: Apache-2.0
#include "ranks/lent_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "npu_runtime.h"

namespace npu::ranks {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

/// What a rank tells of its memory; bytes is 0 where it could not be lent.
struct Offer {
  GroupAddress address;
  uint64_t bytes;
};

bool WriteAll(int descriptor, const char* data, size_t bytes) {
  for (size_t at = 0; at < bytes;) {
    const ssize_t count = pwrite(descriptor, data + at, bytes - at, static_cast<off_t>(at));
    if (count <= 0) return false;
    at += static_cast<size_t>(count);
  }
  return true;
}

std::string Described(const void* memory, size_t bytes) {
  char address[24];
  std::snprintf(address, sizeof(address), "%p", memory);
  return std::to_string(bytes) + " bytes at " + (memory == nullptr ? "NULL" : address);
}

/// Moves the memory into a file without a name, at the same addresses; its descriptor, or -1.
int MoveIntoFile(void* memory, size_t bytes) {
  const int descriptor = GroupMemory::Create();
  if (descriptor < 0) return -1;
  const bool written = ftruncate(descriptor, static_cast<off_t>(bytes)) == 0 &&
                       WriteAll(descriptor, static_cast<const char*>(memory), bytes);
  if (written && mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor,
                      0) != MAP_FAILED) {
    return descriptor;
  }
  close(descriptor);
  return -1;
}

}  // namespace

std::unique_ptr<LentMemory> LentMemory::Lend(const char* where, RankGroup& group, void* memory,
                                             size_t bytes, std::string* error) {
  const bool good =
      memory != nullptr && bytes != 0 && reinterpret_cast<uintptr_t>(memory) % kHugePage == 0;
  const size_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  const int descriptor = good ? MoveIntoFile(memory, rounded) : -1;
  *error = "";
  if (!good) *error = "expected memory of aclrtMalloc, got " + Described(memory, bytes);
  if (good && descriptor < 0)
    *error = std::string("expected memory to share, got ") + std::strerror(errno);
  // A rank that has nothing to lend says so, or the others would wait for it.
  std::unique_ptr<LentMemory> result(new LentMemory);
  for (uint32_t rank = 0; rank < group.size(); ++rank) {
    Offer offer = {};
    if (descriptor >= 0) offer = {GroupMemory::AddressOf(descriptor), rounded};
    std::string failure = group.Broadcast(where, &offer, sizeof(offer), rank);
    if (failure.empty() && rank == group.rank()) {
      result->parts_.push_back({memory, 0});
    } else if (failure.empty() && offer.bytes == 0) {
      failure = "expected rank " + std::to_string(rank) + " to lend memory, got none";
    } else if (failure.empty() && error->empty()) {
      result->Borrow(offer.address, offer.bytes, &failure);
    }
    if (error->empty()) *error = failure;
  }
  const std::string failure = group.Barrier(where);  // all have opened it
  if (error->empty()) *error = failure;
  if (descriptor >= 0) close(descriptor);
  if (error->empty()) return result;
  if (error->rfind(where, 0) != 0) *error = std::string(where) + ": " + *error;
  return nullptr;
}

bool LentMemory::Borrow(const GroupAddress& address, size_t bytes, std::string* error) {
  const int descriptor = GroupMemory::OpenDescriptor(address, error);
  if (descriptor < 0) return false;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) {
    *error = "expected room for " + std::to_string(bytes) + " bytes, got " + std::strerror(errno);
  }
  close(descriptor);
  if (memory == MAP_FAILED) return false;
  parts_.push_back({memory, bytes});
  if (npuMemoryAdopt(memory, bytes) == NPU_SUCCESS) return true;
  *error = npuGetLastErrorMessage();
  return false;
}

LentMemory::~LentMemory() {
  for (const Part& part : parts_) {
    if (part.mapped == 0) continue;
    npuMemoryDisown(part.memory);
    munmap(part.memory, part.mapped);
  }
}

}  // namespace npu::ranks
