// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/tensor_interface.h"
#include "npu/kernel.h"

namespace npu_python {

/// Where tensors are described and launched on, once op_extension has handed it over.
struct TensorAccess {
  const npuTensorInterface* interface = nullptr;
  PyTypeObject* type = nullptr;  // torch.Tensor

  static TensorAccess& Get();
};

/// What a library of one kernel and one pass exports.
struct Pass {
  const npuKernelPass* pass;
  const npuSignature* signature;
};

/// A kernel whose passes are libraries of their own: functions that both passes instantiate share a
/// name, and one library would keep one of them. Libraries stay loaded: queued launches call into
/// them.
class Kernel {
 public:
  /// Paths of the libraries; empty: no such pass.
  Kernel(const std::string& name, const std::string& vector_library,
         const std::string& cube_library, bool accept_strided);

  /// (type, kind, bytes, is_pointer, is_const) of each parameter.
  pybind11::list Signature() const;

  /// Launches the kernel. False, and nothing has happened, when an argument for a pointer is
  /// neither a tensor nor None.
  bool Launch(uint32_t block_dim, uintptr_t stream, uint32_t flags,
              const pybind11::tuple& args) const;

 private:
  std::string name_;
  const npuKernel* kernel_;
  const npuSignature* signature_;
  bool accept_strided_;
  uint32_t forbidden_flags_ = 0;  // launch flags that do not fit the parameters
};

}  // namespace npu_python
