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

/// All signals as an access, for observers: rows that are evenly apart, or else the range from the
/// lowest to the highest address.
NPU_ONE_BODY(npu::Access SignalAccess(const GlobalFacts& signals)) {
  int64_t length = 1, rows = 1, pitch = 0, low = 0, high = 1;  // in signals
  bool even = true;
  for (int d = kGlobalDims - 1; d >= 0; --d) {
    const int64_t extent = signals.shape[d], stride = signals.stride[d];
    if (extent <= 0) return {npu::Space::kGm, false, signals.data, 0, 0, 0};
    if (extent == 1) continue;
    (stride < 0 ? low : high) += (extent - 1) * stride;
    if (rows == 1 && stride == length) {
      length *= extent;
    } else {
      even &= stride > 0 && (rows == 1 || stride == rows * pitch);
      if (rows == 1) pitch = stride;
      rows *= extent;
    }
  }
  if (!even) rows = 1, length = high - low;
  const auto bytes = [](int64_t count) { return static_cast<size_t>(count) * sizeof(int32_t); };
  const char* begin = signals.data + (even ? 0 : low * static_cast<int64_t>(sizeof(int32_t)));
  return {npu::Space::kGm,
          false,
          begin,
          static_cast<size_t>(rows),
          bytes(length),
          bytes(rows == 1 ? length : pitch),
          true};
}

NPU_ONE_BODY(npu::Work SignalWork(const GlobalFacts& signals)) {
  uint64_t count = signals.Empty() ? 0 : 1;
  for (int d = 0; count != 0 && d < kGlobalDims; ++d) {
    count *= static_cast<uint64_t>(signals.shape[d]);
  }
  return {count, count * sizeof(int32_t), 0};
}

NPU_ONE_BODY(NPU_RAISES void RaiseNotifyOp(int op)) {
  npu::RaiseFault("TNOTIFY", "NotifyOp AtomicAdd (0) or Set (1)", npu::TextOf(op));
}

NPU_ONE_BODY(NPU_RAISES void RaiseCompare(const char* op, int compare)) {
  npu::RaiseFault(op, "WaitCmp EQ (0), NE (1), GT (2), GE (3), LT (4) or LE (5)",
                  npu::TextOf(compare));
}

inline void CheckQuery(npu::Core& core, const char* op, const SignalQuery& query) {
  if (query.compare > comm::WaitCmp::LE) RaiseCompare(op, static_cast<int>(query.compare));
  CheckSignals(core, op, query.signals);
}

NPU_ONE_BODY(void Notify(const GlobalFacts& signals, int32_t value, comm::NotifyOp op)) {
  constexpr const char* kOp = "TNOTIFY";
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) {
    report(npu::Work{1, sizeof(value), 0},
           npu::Access{npu::Space::kGm, true, signals.data, 1, sizeof(value), sizeof(value), true});
  };
  npu::Issue(kOp, npu::Pipe::kS, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    GlobalFacts first = signals;  // is written, whatever the shape
    for (int64_t& extent : first.shape) extent = 1;
    CheckSignals(core, kOp, first);
    if (op > comm::NotifyOp::Set) RaiseNotifyOp(static_cast<int>(op));
    auto* const to = reinterpret_cast<int32_t*>(first.data);
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
    report(SignalWork(query.signals), SignalAccess(query.signals));
  };
  bool met = false;
  npu::Issue(kOp, npu::Pipe::kS, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    CheckQuery(core, kOp, query);
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
    report(SignalWork(query.signals), SignalAccess(query.signals));
  };
  npu::Issue(kOp, npu::Pipe::kS, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    CheckQuery(core, kOp, query);
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
