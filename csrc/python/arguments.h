// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "npu/parameter.hpp"
#include "python/kernel.h"

namespace npu_python {

using npu::KindOf;
using npu::TypeName;

/// Writes Python objects as the parameters of a kernel. Raises TypeError or ValueError with a
/// sentence.
class Arguments {
 public:
  Arguments(const std::string& kernel, const npuSignature& signature, bool accept_strided);

  /// False when an argument for a pointer is neither a tensor nor None.
  bool Pack(const pybind11::tuple& args);

  const std::byte* bytes() const { return bytes_.data(); }
  const std::vector<void*>& tensors() const { return tensors_; }
  /// Device of the tensors; NPU_TENSOR_ON_CPU with none.
  int32_t device() const { return has_device_ ? device_ : NPU_TENSOR_ON_CPU; }

 private:
  void PackTensor(size_t index, pybind11::handle tensor);
  void CheckFacts(size_t index, const npuTensorFacts& facts);
  void PackScalar(size_t index, pybind11::handle value);
  void PackInteger(size_t index, pybind11::handle value);
  void PackFloat(size_t index, pybind11::handle value);
  void PackBytes(size_t index, pybind11::handle value);
  std::string Where(size_t index) const;
  [[noreturn]] void RaiseType(size_t index, const std::string& expected,
                              pybind11::handle got) const;
  [[noreturn]] void RaiseRange(size_t index, pybind11::handle got) const;

  const std::string& kernel_;
  const npuSignature& signature_;
  bool accept_strided_;
  bool has_device_ = false;
  int32_t device_ = NPU_TENSOR_ON_CPU;
  std::vector<std::byte> bytes_;
  std::vector<void*> tensors_;
};

}  // namespace npu_python
