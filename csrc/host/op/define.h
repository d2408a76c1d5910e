// SPDX-License-Identifier: Apache-2.0
// Telling PyTorch of an operator: schema and kernels for all dispatch keys in one call.
#pragma once

#include <torch/library.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "device/registration.h"

namespace npu_host {

/// What autocast does to the floating tensors among the arguments.
enum class Autocast : uint8_t {
  kNone,    // nothing
  kLower,   // the dtype of autocast
  kFloat,   // float32
  kWidest,  // float32 when one of them is, else the dtype of autocast
};

void DefineAutocast(const char* name, Autocast policy);

/// Defines schema ("my_add(Tensor x, Tensor y) -> Tensor") in torch.ops.npu.
///   compute   for npu and cpu tensors
///   meta      shape and dtype of the result, with symbolic sizes
///   gradient  on the key Autograd
template <class Compute, class Meta, class Gradient>
void DefineOperator(const char* schema, Compute* compute, Meta* meta, Gradient* gradient,
                    Autocast policy) {
  const std::string name(schema, std::strcspn(schema, "("));
  npu_backend::Extend("npu").def(schema);
  npu_backend::Implement("npu", c10::DispatchKey::PrivateUse1).impl(name.c_str(), compute);
  npu_backend::Implement("npu", c10::DispatchKey::CPU).impl(name.c_str(), compute);
  npu_backend::Implement("npu", c10::DispatchKey::Meta).impl(name.c_str(), meta);
  npu_backend::Implement("npu", c10::DispatchKey::Autograd).impl(name.c_str(), gradient);
  DefineAutocast(name.c_str(), policy);
}

/// What an operator "name_" that changes its first argument and returns it needs besides: its
/// version counter, and "name" in its place where tensors must not change (torch.compile, export).
void DefineInPlace(const char* name);

}  // namespace npu_host
