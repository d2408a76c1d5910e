// SPDX-License-Identifier: Apache-2.0
#include "op/last_dim.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "op/my_split.h"
#include "op/operand.h"

namespace npu_host {
namespace {

/// An int64 tensor as pairs of int32.
class Pairs {
 public:
  explicit Pairs(const at::Tensor& x) : data_(const_cast<void*>(x.const_data_ptr())) {
    for (int64_t d = 0; d < x.dim(); ++d) {
      shape_.push_back(x.size(d));
      strides_.push_back(2 * x.stride(d));
    }
    shape_.push_back(2);
    strides_.push_back(1);
  }

  operator op::Tensor() const {  // NOLINT(google-explicit-constructor)
    return {data_, op::DType::kInt32, static_cast<int>(shape_.size()), shape_.data(),
            strides_.data()};
  }

 private:
  void* data_;
  c10::SmallVector<int64_t, 6> shape_;
  c10::SmallVector<int64_t, 6> strides_;
};

}  // namespace

int64_t FrontDim(const char* where, const at::Tensor& x, int64_t dim) {
  const int64_t dims = std::max<int64_t>(x.dim(), 1);
  TORCH_CHECK_INDEX(-dims <= dim && dim < dims, where, ": expected dim from ", -dims, " to ",
                    dims - 1, ", got ", dim);
  return dim < 0 ? dim + dims : dim;
}

at::Tensor ContiguousCopy(const at::Tensor& x) {
  const at::Tensor z = at::empty(x.sizes(), x.options());
  TensorLauncher launcher(z, {x});
  if (x.scalar_type() == at::kLong) {
    Check(op::MySplit(Pairs(x), Pairs(z), launcher));
  } else {
    Check(op::MySplit(Operand(x, x.sizes()), Operand(z, z.sizes()), launcher));
  }
  return z;
}

at::Tensor WithDimLast(const at::Tensor& x, int64_t dim, bool whole) {
  const at::Tensor turned = x.dim() == 0 ? x.view(c10::IntArrayRef{1}) : x.transpose(dim, -1);
  const bool fits =
      turned.is_contiguous() || (!whole && (turned.size(-1) == 1 || turned.stride(-1) == 1));
  return fits ? turned : ContiguousCopy(turned);
}

at::Tensor WithLastAtDim(const at::Tensor& x, int64_t dim) {
  const at::Tensor turned = x.transpose(dim, -1);
  return turned.is_contiguous() ? turned : ContiguousCopy(turned);
}

}  // namespace npu_host
