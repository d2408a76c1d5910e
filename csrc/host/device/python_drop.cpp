// SPDX-License-Identifier: Apache-2.0
#include "device/python_drop.h"

#include <atomic>
#include <memory>
#include <utility>

#include "device/python.h"

namespace npu_backend {
namespace {

struct Deferred {
  StoragePtr storage;
  Deferred* next;
};

// A list without a mutex: a child of fork() finds it whole.
std::atomic<Deferred*> list = nullptr;
std::atomic<bool> is_scheduled = false;

void DropList() {
  std::unique_ptr<Deferred> first(list.exchange(nullptr));
  while (first) first.reset(first->next);
}

int DropListInMainThread(void*) {
  is_scheduled = false;
  DropList();
  return 0;
}

}  // namespace

void DropSeen(StoragePtr storage) noexcept {
  if (HoldsGil()) {
    storage.reset();
    return DropList();
  }
  auto* entry = new Deferred{std::move(storage), list.load()};
  while (!list.compare_exchange_weak(entry->next, entry)) {
  }
  if (!is_scheduled.exchange(true) && !CallInMainThread(&DropListInMainThread)) {
    is_scheduled = false;
  }
}

void DropDeferred() noexcept {
  if (list.load() != nullptr) CallWithGil(&DropList);
}

}  // namespace npu_backend
