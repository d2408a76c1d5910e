// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "pto/comm/async_session.hpp"

namespace pto::comm::urma {

/// Where the memory starts that rank has given to UrmaWorkspaceManager.
///   workspace  of the host's UrmaWorkspaceManager: the number of ranks in a word of 64 bits, then
///   a
///              word for each
/// Source: PTO ISA, UrmaPeerMrBaseAddr.
inline uint64_t UrmaPeerMrBaseAddr(__gm__ uint8_t* workspace, uint32_t rank) {
  const auto* const words = reinterpret_cast<const uint64_t*>(workspace);
  if (words == nullptr || rank >= words[0]) {
    npu::RaiseFault("UrmaPeerMrBaseAddr", "a workspace, and a rank of it",
                    words == nullptr ? npu::Text("a null pointer") : npu::TextOf(rank));
  }
  return words[1 + rank];
}

}  // namespace pto::comm::urma
