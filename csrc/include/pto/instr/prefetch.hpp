// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "pto/global_range.hpp"
#include "pto/tile_facts.hpp"

namespace pto {

namespace detail {

NPU_ONE_BODY(void PrefetchGlobal(const void* call_site, const GlobalFacts& global)) {
  const auto operands = [&](auto report) {
    const int64_t elements = global.Empty() ? 0 : global.Rows() * global.Cols();
    const size_t bytes = static_cast<size_t>(elements) * global.element_bytes;
    report(npu::Work{0, bytes, 0},
           npu::Access{npu::Space::kGm, false, global.data, 1, bytes, bytes});
  };
  npu::Issue("TPREFETCH", npu::Pipe::kMte2, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    if (core.check_limits) CheckGlobalMemory(core, "TPREFETCH", global);
  });
}

template <class Global>
[[gnu::noinline]] void Prefetch(Global& global) {
  PrefetchGlobal(__builtin_return_address(0), GlobalFacts(global));
}

}  // namespace detail

/// Brings src near for loads that follow. Nothing is computed; memory outside of its allocation is
/// a fault.
///   dst  Vec tile that the chip uses as scratch; not touched here
/// Pipe MTE2. Source: PTO ISA, TPREFETCH.
template <class TileT, class Global>
[[gnu::always_inline]] inline RecordEvent TPREFETCH(TileT&, Global& src) {
  detail::Prefetch(src);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
