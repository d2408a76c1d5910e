// SPDX-License-Identifier: Apache-2.0
// Memory that a host gives to transfers of the SDMA engine.
#pragma once

#include <cstddef>

#include "acl/acl.h"

namespace pto::comm::sdma {

/// The workspace of all sessions of a program. Here no transfer looks at it.
class SdmaWorkspaceManager {
 public:
  SdmaWorkspaceManager() = default;
  ~SdmaWorkspaceManager() { Finalize(); }
  SdmaWorkspaceManager(const SdmaWorkspaceManager&) = delete;
  SdmaWorkspaceManager& operator=(const SdmaWorkspaceManager&) = delete;

  /// False when the device has no memory.
  bool Init() {
    constexpr size_t kHeadBytes = 16384, kQueues = 48, kQueueBytes = 512;
    if (workspace_ != nullptr) return true;
    return aclrtMalloc(&workspace_, kHeadBytes + kQueues * kQueueBytes,
                       ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS;
  }
  void Finalize() {
    if (workspace_ != nullptr) aclrtFree(workspace_);
    workspace_ = nullptr;
  }
  void* GetWorkspaceAddr() const { return workspace_; }

 private:
  void* workspace_ = nullptr;
};

}  // namespace pto::comm::sdma
