// SPDX-License-Identifier: Apache-2.0
// The path that kernels written with the vendor's toolkit include.
#pragma once

#include "pto/pto-inst.hpp"

/// The cores that a kernel is for: read by what makes its launch function.
#define KERNEL_TASK_TYPE_DEFAULT(type) static_assert(true, #type)

namespace AscendC {

inline int64_t GetBlockIdx() { return get_block_idx(); }
inline int64_t GetBlockNum() { return get_block_num(); }

}  // namespace AscendC
