// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace npu_backend {

/// Bytes of freed tensors that only launches hold which have not run yet. An estimate: threads that
/// free and run at the same time may miscount.
int64_t OrphanedBytes() noexcept;
void AddOrphanedBytes(int64_t bytes) noexcept;
/// To be called when the queues have run empty.
void ResetOrphanedBytes() noexcept;

}  // namespace npu_backend
