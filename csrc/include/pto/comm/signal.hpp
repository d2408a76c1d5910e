// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "pto/comm/comm_types.hpp"
#include "pto/global_range.hpp"

namespace pto {

namespace detail {

/// What a wait or a test asks of its signals.
struct SignalQuery {
  GlobalFacts signals;
  int32_t value;
  comm::WaitCmp compare;

  bool Met(int32_t signal) const {
    switch (compare) {
      case comm::WaitCmp::EQ:
        return signal == value;
      case comm::WaitCmp::NE:
        return signal != value;
      case comm::WaitCmp::GT:
        return signal > value;
      case comm::WaitCmp::GE:
        return signal >= value;
      case comm::WaitCmp::LT:
        return signal < value;
      case comm::WaitCmp::LE:
        return signal <= value;
    }
    return false;
  }
};

NPU_ONE_BODY(NPU_RAISES void RaiseSignal(const char* op, const char* data)) {
  npu::RaiseFault(op, "signals at a multiple of 4 bytes",
                  "one " +
                      npu::TextOf(static_cast<int64_t>(reinterpret_cast<uintptr_t>(data) % 4)) +
                      " bytes behind");
}

/// Faults where a signal lies outside of the allocation that the first one lies in. What is not
/// aligned would not be written at once.
NPU_ONE_BODY(void CheckSignals(npu::Core& core, const char* op, const GlobalFacts& signals)) {
  if (core.check_limits) CheckGlobalMemory(core, op, signals);
  if (reinterpret_cast<uintptr_t>(signals.data) % 4 != 0) RaiseSignal(op, signals.data);
}

/// Address of the first signal that does not meet the query; null if all do.
NPU_ONE_BODY(const int32_t* FirstUnmet(const SignalQuery& query)) {
  const int64_t* shape = query.signals.shape;
  const int64_t* stride = query.signals.stride;
  if (query.signals.Empty()) return nullptr;
  int64_t at[kGlobalDims] = {};
  const auto* const start = reinterpret_cast<const int32_t*>(query.signals.data);
  for (int d = kGlobalDims - 1; d >= 0;) {
    int64_t offset = 0;
    for (int i = 0; i < kGlobalDims; ++i) offset += at[i] * stride[i];
    const int32_t* signal = start + offset;
    if (!query.Met(__atomic_load_n(signal, __ATOMIC_ACQUIRE))) return signal;
    for (d = kGlobalDims - 1; d >= 0 && ++at[d] == shape[d]; --d) at[d] = 0;
  }
  return nullptr;
}

inline npu::Access SignalAccess(const GlobalFacts& signals, bool is_write) {
  return {npu::Space::kGm, is_write, signals.data, 1, sizeof(int32_t), sizeof(int32_t)};
}

NPU_ONE_BODY(void Notify(const GlobalFacts& signal, int32_t value, comm::NotifyOp op)) {
  constexpr const char* kOp = "TNOTIFY";
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) {
    report(npu::Work{1, sizeof(value), 0}, SignalAccess(signal, true));
  };
  npu::Issue(kOp, npu::Pipe::kS, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    CheckSignals(core, kOp, signal);
    auto* const to = reinterpret_cast<int32_t*>(signal.data);
    if (op == comm::NotifyOp::AtomicAdd) {
      __atomic_fetch_add(to, value, __ATOMIC_ACQ_REL);
    } else {
      __atomic_store_n(to, value, __ATOMIC_RELEASE);
    }
    core.scheduler->Yield(core, kOp);
  });
}

NPU_ONE_BODY(bool TestSignals(const SignalQuery& query)) {
  constexpr const char* kOp = "TTEST";
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) {
    report(npu::Work{1, sizeof(int32_t), 0}, SignalAccess(query.signals, false));
  };
  bool met = false;
  npu::Issue(kOp, npu::Pipe::kS, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    CheckSignals(core, kOp, query.signals);
    core.scheduler->Yield(core, kOp);
    met = FirstUnmet(query) == nullptr;
  });
  return met;
}

/// What a core polls, for the sentence about a poll without progress.
NPU_ONE_BODY(npu::Text DescribeWait(const SignalQuery& query, int32_t now)) {
  constexpr const char* kNames[] = {"==", "!=", ">", ">=", "<", "<="};
  return npu::Text("TWAIT for a signal ") + kNames[static_cast<int>(query.compare)] + " " +
         npu::TextOf(query.value) + " (" + npu::TextOf(now) + " at first)";
}

NPU_ONE_BODY(void AwaitSignals(const SignalQuery& query)) {
  constexpr const char* kOp = "TWAIT";
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) {
    report(npu::Work{1, sizeof(int32_t), 0}, SignalAccess(query.signals, false));
  };
  npu::Issue(kOp, npu::Pipe::kS, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    CheckSignals(core, kOp, query.signals);
    const int32_t* unmet = FirstUnmet(query);
    if (unmet == nullptr) return;
    const npu::Text wait = DescribeWait(query, __atomic_load_n(unmet, __ATOMIC_RELAXED));
    while (FirstUnmet(query) != nullptr) core.scheduler->Yield(core, wait.c_str());
  });
}

template <class Global>
constexpr void CheckSignalType() {
  static_assert(std::is_same_v<typename Global::RawDType, int32_t>,
                "expected signals of type int32_t");
}

}  // namespace detail

namespace comm {

/// Sets a signal, or adds to it in one step; what this core has stored before is seen by whoever
/// sees the signal.
///   signal  global tensor of int32 at a multiple of 4 bytes, mostly of another rank; its first
///           element counts
/// Lets other cores run. Pipe S. Source: PTO ISA, TNOTIFY.
template <class Global, class... Events>
[[gnu::always_inline]] inline void TNOTIFY(Global& signal, int32_t value, NotifyOp op,
                                           Events&... events) {
  pto::detail::CheckSignalType<Global>();
  (events.Wait(), ...);
  pto::detail::Notify(pto::detail::GlobalFacts(signal), value, op);
  npu::KeepCallSite();
}

/// Returns once all signals compare to value as asked; other cores run meanwhile. Ends with a fault
/// when nobody makes progress, or a rank that could has ended.
///   signals  global tensor of int32 at a multiple of 4 bytes; any shape and strides
/// Pipe S. Source: PTO ISA, TWAIT.
template <class Global, class... Events>
[[gnu::always_inline]] inline void TWAIT(Global& signals, int32_t value, WaitCmp compare,
                                         Events&... events) {
  pto::detail::CheckSignalType<Global>();
  (events.Wait(), ...);
  pto::detail::AwaitSignals({pto::detail::GlobalFacts(signals), value, compare});
  npu::KeepCallSite();
}

/// Whether all signals compare to value as asked. Lets other cores run. Operands are those of
/// TWAIT. Pipe S. Source: PTO ISA, TTEST.
template <class Global, class... Events>
[[gnu::always_inline]] inline bool TTEST(Global& signals, int32_t value, WaitCmp compare,
                                         Events&... events) {
  pto::detail::CheckSignalType<Global>();
  (events.Wait(), ...);
  const bool met = pto::detail::TestSignals({pto::detail::GlobalFacts(signals), value, compare});
  npu::KeepCallSite();
  return met;
}

}  // namespace comm
}  // namespace pto
