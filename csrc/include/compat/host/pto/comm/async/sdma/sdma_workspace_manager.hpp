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
  /// A copy, as a launch in brackets takes one, has the workspace but does not free it.
  SdmaWorkspaceManager(const SdmaWorkspaceManager& other) : workspace_(other.workspace_) {}
  SdmaWorkspaceManager& operator=(const SdmaWorkspaceManager&) = delete;

  /// False when the device has no memory.
  bool Init() {
    constexpr size_t kHeadBytes = 16384, kQueues = 48, kQueueBytes = 512;
    if (workspace_ != nullptr) return true;
    owns_workspace_ = aclrtMalloc(&workspace_, kHeadBytes + kQueues * kQueueBytes,
                                  ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS;
    return owns_workspace_;
  }
  void Finalize() {
    if (owns_workspace_) aclrtFree(workspace_);
    owns_workspace_ = false;
    workspace_ = nullptr;
  }
  void* GetWorkspaceAddr() const { return workspace_; }

 private:
  void* workspace_ = nullptr;
  bool owns_workspace_ = false;
};

}  // namespace pto::comm::sdma
