// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "acl/acl.h"

namespace pto::comm {

/// Memory of the device that kernels are given as a workspace.
class Workspace {
 public:
  Workspace() = default;
  ~Workspace() { Finalize(); }
  /// A copy, as a launch in brackets takes one, has the workspace but does not free it.
  Workspace(const Workspace& other) : workspace_(other.workspace_) {}
  Workspace& operator=(const Workspace&) = delete;

  void Finalize() {
    if (owns_workspace_) aclrtFree(workspace_);
    owns_workspace_ = false;
    workspace_ = nullptr;
  }
  void* GetWorkspaceAddr() const { return workspace_; }

 protected:
  /// False when the device has no memory.
  bool Allocate(size_t bytes) {
    Finalize();
    owns_workspace_ = aclrtMalloc(&workspace_, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS;
    return owns_workspace_;
  }

 private:
  void* workspace_ = nullptr;
  bool owns_workspace_ = false;
};

}  // namespace pto::comm
