// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "npu/core.hpp"
#include "runtime/launch.hpp"

namespace npu::runtime {

/// The memory that address lies in, where instruction op starts a transfer: a range of launch, else
/// a block of npuMalloc, else the gap around address. Faults at a null pointer, and where the
/// launch keeps to its ranges and address lies in none.
GlobalMemory FindGlobalMemory(const Launch& launch, const char* op, const void* address);

/// The same up to the end of what was asked for, without faults.
GlobalMemory FindRequestedMemory(const Launch& launch, const void* address);

/// Transfers whose memory nobody knew, over all launches that have ended.
uint64_t UnknownTransfers();
void AddUnknownTransfers(uint64_t count);

}  // namespace npu::runtime
