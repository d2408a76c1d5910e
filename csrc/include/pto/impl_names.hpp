// SPDX-License-Identifier: Apache-2.0
// Names that kernels call some instructions by, past their wait events.
#pragma once

#include "pto/instr/concat.hpp"
#include "pto/instr/convert.hpp"
#include "pto/instr/expand.hpp"
#include "pto/instr/expand_arithmetic.hpp"
#include "pto/instr/load.hpp"

namespace pto {

template <class... Operands>
[[gnu::always_inline]] inline void TCONCAT_IMPL(Operands&... operands) {
  TCONCAT(operands...);
}

template <class... Operands>
[[gnu::always_inline]] inline void TROWEXPANDSUB_IMPL(Operands&... operands) {
  TROWEXPANDSUB(operands...);
}

template <class... Operands>
[[gnu::always_inline]] inline void TCOLEXPAND_IMPL(Operands&... operands) {
  TCOLEXPAND(operands...);
}

template <class TileT, class Global>
[[gnu::always_inline]] inline void TLOAD_IMPL(TileT& tile, Global& global) {
  TLOAD(tile, global);
}

template <class Dst, class Src, class... Modes>
[[gnu::always_inline]] inline void TCVT_IMPL(Dst& dst, Src& src, Modes... modes) {
  TCVT(dst, src, modes...);
}

}  // namespace pto
