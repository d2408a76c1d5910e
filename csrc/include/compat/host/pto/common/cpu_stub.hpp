// SPDX-License-Identifier: Apache-2.0
// Names that programs for the vendor's simulator take from it: their ranks are a loop in one
// process, so that there is nobody to meet. Programs for the chip: hccl/hccl.h.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <vector>

#include "acl/acl.h"

inline constexpr uint32_t HCCL_MAX_RANK_NUM = 64;

struct HcclRootInfo {};

/// What kernels are told of a group.
struct CommDeviceContext {
  uint64_t workSpace;
  uint64_t workSpaceSize;
  uint32_t rankId;
  uint32_t rankNum;
  uint64_t winSize;
  uint64_t windowsIn[HCCL_MAX_RANK_NUM];
  uint64_t windowsOut[HCCL_MAX_RANK_NUM];
};

// Macros, since programs pass members that their contexts do not have here.
#define HcclHostBarrier(comm, stream)
#define CommMpiInit(argc, argv) (true)
#define CommMpiFinalize()
#define SKIP_IF_RANKS_LT(ranks)
