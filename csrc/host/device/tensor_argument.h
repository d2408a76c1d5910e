// SPDX-License-Identifier: Apache-2.0
// Which tensors may stand for a parameter of a kernel, however it is launched.
#pragma once

#include <cstdint>
#include <string>

#include "device/tensor_interface.h"
#include "npu/parameter.hpp"

namespace npu {

inline std::string DeviceName(int32_t device) {
  return device == NPU_TENSOR_ON_CPU ? "cpu" : "npu:" + std::to_string(device);
}

/// Why a tensor may not stand for a parameter.
struct TensorRefusal {
  enum Kind : uint8_t { kNone, kType, kValue };

  Kind kind = kNone;
  std::string sentence;  // from behind "expected "
};

/// first_device: that of the launch's first tensor; NPU_TENSOR_ELSEWHERE where this is it.
/// strided_option: what allows strides, or null where they are allowed.
inline TensorRefusal RefusalOf(const npuParameter& parameter, const npuTensorFacts& facts,
                               int32_t first_device, const char* strided_option) {
  if (!TakesElement(parameter, facts.kind, facts.element_bytes)) {
    return {TensorRefusal::kType,
            "a tensor of dtype " + DtypeFor(parameter) + ", got " + facts.dtype};
  }
  if (!facts.shows_its_memory) {
    return {TensorRefusal::kValue,
            "a tensor whose memory holds its values (as resolve_conj() and resolve_neg() give it), "
            "got a conjugated or negated view"};
  }
  if (!facts.is_contiguous && strided_option != nullptr) {
    return {TensorRefusal::kValue, std::string("a contiguous tensor (or ") + strided_option +
                                       "), got one with other strides"};
  }
  if (first_device != NPU_TENSOR_ELSEWHERE && facts.device != first_device) {
    return {TensorRefusal::kValue, "a tensor on " + DeviceName(first_device) +
                                       " (as the first one), got one on " +
                                       DeviceName(facts.device)};
  }
  return {};
}

}  // namespace npu
