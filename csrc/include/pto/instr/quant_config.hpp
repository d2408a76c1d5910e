// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <type_traits>

#include "pto/check.hpp"
#include "pto/intrinsics.hpp"

namespace pto {

namespace detail {

NPU_ONE_BODY(void SetQuantWord(float scale, bool narrow, bool into_int8)) {
  const void* call_site = __builtin_return_address(0);
  const auto operands = [](auto report) { report(npu::Work{}); };
  npu::Issue("SET_QUANT_SCALAR", npu::Pipe::kS, call_site, operands, [&] {
    uint32_t bits;
    std::memcpy(&bits, &scale, sizeof(bits));
    npu::current_core->quant_word = bits | static_cast<uint64_t>(narrow && into_int8) << 46;
  });
}

NPU_ONE_BODY(void SetQuantTable(const TileFacts& fp)) {
  const void* call_site = __builtin_return_address(0);
  const auto operands = [](auto report) { report(npu::Work{}); };  // pushes read the words
  npu::Issue("SET_QUANT_VECTOR", npu::Pipe::kS, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    CheckTile(core, "SET_QUANT_VECTOR", "fp", fp);
    const std::byte* start = core.scratchpad[static_cast<int>(npu::Space::kFix)];
    core.quant_table = static_cast<uint64_t>(fp.data - start);
  });
}

}  // namespace detail

/// The scale of the pushes from here on that quantize with one word (DEQF16, REQ8, QF322B8_PRE).
///   Out  the element type they make: int8 or uint8 tells the range that 8 bits are held to
/// Pipe S. Source: PTO ISA, SET_QUANT_SCALAR.
template <class Out, class... Events>
[[gnu::always_inline]] inline RecordEvent SET_QUANT_SCALAR(float scale, Events&... events) {
  (events.Wait(), ...);
  detail::SetQuantWord(scale, sizeof(Out) == 1, std::is_same_v<Out, int8_t>);
  npu::KeepCallSite();
  return {};
}

/// The words of the pushes from here on that quantize with one for each column (VDEQF16, VREQ8,
/// VQF322B8_PRE).
///   fp  Scaling tile of 64-bit words
/// Pipe S. Source: PTO ISA, SET_QUANT_VECTOR.
template <class Fp, class... Events>
[[gnu::always_inline]] inline RecordEvent SET_QUANT_VECTOR(Fp& fp, Events&... events) {
  static_assert(Fp::Loc == TileType::Scaling, "SET_QUANT_VECTOR: expected a Scaling tile");
  (events.Wait(), ...);
  detail::SetQuantTable(detail::TileFacts(fp));
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
