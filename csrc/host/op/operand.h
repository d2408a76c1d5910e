// SPDX-License-Identifier: Apache-2.0
// Tensors of PyTorch as operands of framework-free operators.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include "op/tensor.h"

namespace npu_host {

/// A tensor as an operator sees it, broadcast to a shape: strides are 0 where it is repeated.
class Operand {
 public:
  /// shape: what tensor broadcasts to; it must outlive the operand.
  Operand(const at::Tensor& tensor, c10::IntArrayRef shape);

  operator op::Tensor() const {  // NOLINT(google-explicit-constructor)
    return {data_, dtype_, static_cast<int>(shape_.size()), shape_.data(), strides_.data()};
  }

 private:
  void* data_;
  op::DType dtype_;
  c10::IntArrayRef shape_;
  c10::SmallVector<int64_t, 6> strides_;
};

/// Raises unless the operators compute on tensors like x. where: the operator, operand: the
/// argument.
void CheckOperand(const char* where, const char* operand, const at::Tensor& x);

/// Raises unless y, the argument called operand, has the dtype and the device of x.
void CheckSameKind(const char* where, const at::Tensor& x, const at::Tensor& y,
                   const char* operand = "y");

/// Launches on the current stream of output's device, or at once for CPU tensors; keeps the
/// tensors' memory until then.
class TensorLauncher final : public op::Launcher {
 public:
  TensorLauncher(const at::Tensor& output, at::TensorList inputs)
      : output_(output), inputs_(inputs.begin(), inputs.end()) {}

  npuError_t Launch(npuKernel_t kernel, uint32_t block_dim, uint32_t flags, const void* args,
                    size_t args_bytes) override;

 private:
  const at::Tensor& output_;
  c10::SmallVector<at::Tensor, 4> inputs_;
};

/// Raises the sentence of a status that is not ok.
void Check(const op::Status& status);

}  // namespace npu_host
