// SPDX-License-Identifier: Apache-2.0
#include "op/elementwise.h"

#include <cstring>

#include "kernel/tiling.h"
#include "op/dimensions.h"
#include "op/kernel_library.h"

namespace op {
namespace {

constexpr int kMaxOperands = 3;
using Merged = Dimensions<kMaxOperands + 1>;

static_assert(sizeof(ElementwiseTiling<1>) == (1 + 3 * kMaxDims) * sizeof(int64_t));

/// The dimensions of z and x. Operands that are not there lie as z does.
Merged MergeDimensions(const Tensor& z, std::initializer_list<Tensor> x) {
  Merged dimensions;
  for (int d = 0; d < z.dims; ++d) {
    int64_t stride[kMaxOperands + 1];
    for (int64_t& each : stride) each = z.strides[d];
    for (size_t k = 0; k < x.size(); ++k) stride[k + 1] = x.begin()[k].strides[d];
    dimensions.Append(z.shape[d], stride);
  }
  // A tile row is contiguous, or one value repeated. Any other stride becomes the distance of rows
  // of one element.
  bool rows_are_good = dimensions.inner_stride(0) == 1;
  for (size_t k = 1; k <= x.size(); ++k) {
    const int64_t stride = dimensions.inner_stride(static_cast<int>(k));
    rows_are_good = rows_are_good && (stride == 0 || stride == 1);
  }
  if (!rows_are_good) dimensions.AppendAsIs(1, {1, 1, 1, 1});
  dimensions.PadToTwo();
  return dimensions;
}

/// The parameters of a kernel as they lie in a C struct: all are words of eight bytes.
class Args {
 public:
  void Add(int64_t word) { words_[count_++] = word; }
  void Add(const void* address) { Add(reinterpret_cast<int64_t>(address)); }
  /// Room for kMaxDims words, to be filled.
  int64_t* AddDims() {
    int64_t* dims = words_ + count_;
    count_ += kMaxDims;
    return dims;
  }

  const void* data() const { return words_; }
  size_t bytes() const { return static_cast<size_t>(count_) * sizeof(int64_t); }

 private:
  int64_t words_[3 + kMaxOperands + (kMaxOperands + 2) * kMaxDims] = {};
  int count_ = 0;
};

}  // namespace

int64_t Scalar::For(DType dtype) const {
  int64_t word = 0;
  if (dtype == DType::kInt32) {
    word = integer_;
  } else if (dtype == DType::kFloat64) {
    std::memcpy(&word, &value_, sizeof(value_));
  } else {
    const auto narrow = static_cast<float>(value_);
    std::memcpy(&word, &narrow, sizeof(narrow));
  }
  return word;
}

Status Elementwise(const char* where, const std::string& name, const Tensor& z,
                   std::initializer_list<Tensor> x, Launcher& launcher, const Scalar* scalar) {
  if (x.size() > kMaxOperands) {
    return Status::Invalid(std::string(where) + ": expected at most " +
                           std::to_string(kMaxOperands) + " operands, got " +
                           std::to_string(x.size()));
  }
  int64_t elements = 1;
  for (int d = 0; d < z.dims; ++d) elements *= z.shape[d];
  if (elements == 0) return {};
  const Merged dimensions = MergeDimensions(z, x);
  Status status = CheckDims(where, "operands", dimensions.count());
  if (!status.ok()) return status;
  Args args;
  args.Add(z.data);
  for (const Tensor& operand : x) args.Add(operand.data);
  args.Add(dimensions.count());
  int64_t* shape = args.AddDims();
  for (int d = 0; d < dimensions.count(); ++d) shape[d] = dimensions.shape(d);
  for (int k = 0; k <= static_cast<int>(x.size()); ++k) {
    int64_t* stride = args.AddDims();
    for (int d = 0; d < dimensions.count(); ++d) stride[d] = dimensions.stride(k, d);
  }
  if (scalar) args.Add(scalar->For(z.dtype));
  return LaunchFor(name, z.dtype, elements, args.data(), args.bytes(), launcher);
}

}  // namespace op
