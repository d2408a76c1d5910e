// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>

#include "op/tensor.h"

namespace op {

/// A number as kernels take it: in the type in which they compute on elements of a dtype.
class Scalar {
 public:
  Scalar() = default;
  explicit Scalar(double value) : value_(value), integer_(static_cast<int64_t>(value)) {}
  explicit Scalar(int64_t value) : value_(static_cast<double>(value)), integer_(value) {}

  /// int32 (its low bits) for kInt32, float64 for kFloat64, else float, in the low bytes.
  int64_t For(DType dtype) const;

 private:
  double value_ = 0;
  int64_t integer_ = 0;
};

/// Launches the kernel "name_dtype" of an element-wise operation, z = f(x...), which takes the
/// addresses of z and x, an ElementwiseTiling, and perhaps a scalar. where: the operator, for
/// errors.
///   z       any strides, no two elements in one place
///   x       one to three, with the shape and dtype of z, any strides (0 where broadcast)
///   scalar  null when the kernel takes none
Status Elementwise(const char* where, const std::string& name, const Tensor& z,
                   std::initializer_list<Tensor> x, Launcher& launcher,
                   const Scalar* scalar = nullptr);

}  // namespace op
