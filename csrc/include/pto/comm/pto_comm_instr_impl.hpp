// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pto/comm/pto_comm_inst.hpp"

namespace pto::comm {

template <class Global>
[[gnu::always_inline]] inline void TNOTIFY_IMPL(Global& signal, int32_t value, NotifyOp op) {
  TNOTIFY(signal, value, op);
}

}  // namespace pto::comm
