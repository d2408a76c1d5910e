// SPDX-License-Identifier: Apache-2.0
#include "op/operand.h"

#include "device/stream.h"
#include "device/strict_dtypes.h"
#include "op/memory.h"

namespace npu_host {
namespace {

/// The dtype of operators for a scalar type; false if there is none.
bool ToDType(c10::ScalarType type, op::DType* dtype) {
  switch (type) {
    case c10::kFloat:
      *dtype = op::DType::kFloat32;
      return true;
    case c10::kHalf:
      *dtype = op::DType::kFloat16;
      return true;
    case c10::kBFloat16:
      *dtype = op::DType::kBfloat16;
      return true;
    case c10::kInt:
      *dtype = op::DType::kInt32;
      return true;
    case c10::kDouble:
      *dtype = op::DType::kFloat64;
      return true;
    default:
      return false;
  }
}

}  // namespace

Operand::Operand(const at::Tensor& tensor, c10::IntArrayRef shape)
    : data_(const_cast<void*>(tensor.const_data_ptr())),
      dtype_(op::DType::kFloat32),
      shape_(shape),
      strides_(shape.size(), 0) {
  ToDType(tensor.scalar_type(), &dtype_);
  const size_t leading = shape.size() - static_cast<size_t>(tensor.dim());
  for (size_t d = leading; d < shape.size(); ++d) {
    const auto own = static_cast<int64_t>(d - leading);
    if (tensor.size(own) == shape[d]) strides_[d] = tensor.stride(own);
  }
}

void CheckMemory(const char* where, const char* operand, const at::Tensor& x) {
  TORCH_CHECK(x.layout() == c10::kStrided, where, ": expected ", operand,
              " of layout Strided, got ", x.layout());
  const auto bytes = [&] { return x.storage().unsafeGetStorageImpl()->sym_nbytes(); };
  TORCH_CHECK(x.is_meta() || x.sym_numel() == 0 || bytes() != 0, where, ": expected ", operand,
              " with memory, got a tensor of size ", x.sym_sizes(), " whose storage was freed");
}

void CheckOperand(const char* where, const char* operand, const at::Tensor& x) {
  TORCH_CHECK_TYPE(x.defined(), where, ": expected a tensor as ", operand, ", got None");
  op::DType dtype;
  TORCH_CHECK_TYPE(ToDType(x.scalar_type(), &dtype), where, ": expected ", operand,
                   " of dtype Float, Half, BFloat16, Int or Double, got ", x.scalar_type());
  TORCH_CHECK_NOT_IMPLEMENTED(
      dtype != op::DType::kFloat64 || !x.is_privateuseone() || !npu_backend::StrictDtypes(), where,
      ": expected ", operand,
      " of dtype Float, Half, BFloat16 or Int (what a chip computes with; "
      "npu_backend.strict_dtypes is on), got Double");
  CheckMemory(where, operand, x);
}

void CheckSameKind(const char* where, const at::Tensor& x, const at::Tensor& y,
                   const char* operand) {
  TORCH_CHECK_TYPE(y.defined(), where, ": expected a tensor as ", operand, ", got None");
  TORCH_CHECK(x.scalar_type() == y.scalar_type(), where, ": expected ", operand, " of dtype ",
              x.scalar_type(), " (the dtype of x), got ", y.scalar_type());
  TORCH_CHECK(x.device() == y.device(), where, ": expected ", operand, " on ", x.device(),
              " (the device of x), got ", y.device());
  CheckMemory(where, operand, y);
}

npuError_t TensorLauncher::Launch(npuKernel_t kernel, uint32_t block_dim, uint32_t flags,
                                  const void* args, size_t args_bytes) {
  npu_backend::Launch(kernel, block_dim, args, args_bytes, output_, inputs_, flags);
  return NPU_SUCCESS;
}

void Check(const op::Status& status) { TORCH_CHECK(status.ok(), status.message); }

}  // namespace npu_host
