// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "pto/cross_core.hpp"
#include "pto/global_range.hpp"
#include "pto/traits.hpp"

namespace pto {

namespace detail {

/// Whether core takes part in a SYNCALL of cores: it means nothing to those of the other kind.
inline bool TakesPart(const npu::Core& core, SyncCoreType cores) {
  return cores == SyncCoreType::Mix ||
         (cores == SyncCoreType::AIVOnly) == (core.type == npu::CoreType::kVector);
}

template <class Meet>
inline void SyncAt(npu::Core& core, const npu::SyncPoint& point, const void* call_site,
                   const Meet& meet) {
  if (core.observer) {
    core.observer->OnArrive(core, point, call_site);
    core.scheduler->AwaitPipes(core);
  }
  meet();
  if (core.observer) core.observer->OnLeave(core, point, call_site);
}

NPU_ONE_BODY(void SyncAll(SyncCoreType cores)) {
  const void* call_site = __builtin_return_address(0);
  npu::Core& core = npu::RunningCore("SYNCALL");
  npu::CountInstruction(core);
  if (!TakesPart(core, cores)) return;
  const auto group = static_cast<npu::SyncGroup>(cores);
  SyncAt(core, {group, nullptr, 0}, call_site, [&] { core.scheduler->SyncAll(core, group); });
}

/// Cores that a SYNCALL of the launch waits for.
inline uint32_t CoresOfLaunch(const npu::Core& core, SyncCoreType cores) {
  if (cores == SyncCoreType::Mix) return core.block_num * (core.sub_block_num == 1 ? 1 : 3);
  return core.block_num * (cores == SyncCoreType::AIVOnly ? core.sub_block_num : 1);
}

NPU_ONE_BODY(NPU_RAISES void RaiseCounter(const void* counter, int64_t used_cores)) {
  if (counter == nullptr) npu::RaiseFault("SYNCALL", "a workspace in global memory", "NULL");
  npu::RaiseFault("SYNCALL", "a positive number of cores, or 0 for all", npu::TextOf(used_cores));
}

NPU_ONE_BODY(void SyncAllSoft(SyncCoreType cores, int32_t* counter, int32_t used_cores)) {
  const void* call_site = __builtin_return_address(0);
  npu::Core& core = npu::RunningCore("SYNCALL");
  npu::CountInstruction(core);
  if (!TakesPart(core, cores)) return;
  if (counter == nullptr || used_cores < 0) RaiseCounter(counter, used_cores);
  CheckGlobalBytes(core, "SYNCALL", counter, sizeof(*counter));
  const uint32_t all =
      used_cores != 0 ? static_cast<uint32_t>(used_cores) : CoresOfLaunch(core, cores);
  const npu::SyncPoint point = {static_cast<npu::SyncGroup>(cores), counter, all};
  SyncAt(core, point, call_site, [&] {
    // The cores may belong to several launches, which run in several threads.
    const auto before = static_cast<uint32_t>(__atomic_fetch_add(counter, 1, __ATOMIC_ACQ_REL));
    const uint32_t target = (before / all + 1) * all;
    while (static_cast<uint32_t>(__atomic_load_n(counter, __ATOMIC_ACQUIRE)) < target) {
      core.scheduler->Yield(core, "SYNCALL");
    }
  });
}

}  // namespace detail

/// Waits until every core of kCores in the launch has arrived; cores of the other kind go on. Does
/// not flush caches. All blocks must be alive at once: at most as many as the chip has cores.
/// Source: PTO ISA, SYNCALL.
template <SyncCoreType kCores = SyncCoreType::AIVOnly>
[[gnu::always_inline]] inline void SYNCALL() {
  detail::SyncAll(kCores);
  npu::KeepCallSite();
}

/// The same, where Soft over a counter in global memory: waits until used_cores (0: all of kCores)
/// have arrived since the last time. The cores may be part of those of a launch, or of several
/// launches.
///   workspace  global tensor of int32; its first element is 0 before the first use
template <SyncAllMode kMode, SyncCoreType kCores = SyncCoreType::AIVOnly, class Global,
          std::enable_if_t<is_global_data_v<Global>, int> = 0>
[[gnu::always_inline]] inline void SYNCALL(Global& workspace, int32_t used_cores = 0) {
  if constexpr (kMode == SyncAllMode::Hard) {
    detail::SyncAll(kCores);
  } else {
    static_assert(std::is_same_v<typename Global::RawDType, int32_t>,
                  "SYNCALL: expected a workspace of int32");
    detail::SyncAllSoft(kCores, workspace.data(), used_cores);
  }
  npu::KeepCallSite();
}

}  // namespace pto
