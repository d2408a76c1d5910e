// SPDX-License-Identifier: Apache-2.0
// Memory of ranks that transfers of the URMA engine reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "hccl/hccl.h"
#include "pto/comm/async/workspace.hpp"

extern "C" HcclResult npuHcclLendMemory(HcclComm comm, void* memory, uint64_t bytes,
                                        uint64_t* addresses);

namespace pto::comm::urma {

/// What kernels are told of it: GetWorkspaceAddr, for UrmaPeerMrBaseAddr.
class UrmaWorkspaceManager : public Workspace {
 public:
  /// Gives memory (of aclrtMalloc, of one size on all ranks) to transfers of all ranks of comm,
  /// which all call it. False, after a sentence on standard error, when that cannot be.
  bool Init(HcclComm comm, uint32_t, uint32_t, void* memory, uint64_t bytes) {
    uint32_t ranks = 0;
    if (HcclGetRankSize(comm, &ranks) != HCCL_SUCCESS) return false;
    bases_.assign(size_t{ranks} + 1, 0);
    bases_[0] = ranks;
    const size_t words = bases_.size() * sizeof(uint64_t);
    return npuHcclLendMemory(comm, memory, bytes, bases_.data() + 1) == HCCL_SUCCESS &&
           Allocate(words) &&
           aclrtMemcpy(GetWorkspaceAddr(), words, bases_.data(), words,
                       ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS;
  }
  /// Where the memory of rank starts; 0 where there is none.
  uint64_t PeerBaseAddr(uint32_t rank) const {
    return size_t{rank} + 1 < bases_.size() ? bases_[rank + 1] : 0;
  }

 private:
  std::vector<uint64_t> bases_;
};

}  // namespace pto::comm::urma
