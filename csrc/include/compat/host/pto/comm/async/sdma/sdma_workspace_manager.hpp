// SPDX-License-Identifier: Apache-2.0
// Memory that a host gives to transfers of the SDMA engine.
#pragma once

#include <cstddef>

#include "pto/comm/async/workspace.hpp"

namespace pto::comm::sdma {

/// The workspace of all sessions of a program. Here no transfer looks at it.
class SdmaWorkspaceManager : public Workspace {
 public:
  /// False when the device has no memory.
  bool Init() {
    constexpr size_t kHeadBytes = 16384, kQueues = 48, kQueueBytes = 512;
    return GetWorkspaceAddr() != nullptr || Allocate(kHeadBytes + kQueues * kQueueBytes);
  }
};

}  // namespace pto::comm::sdma
