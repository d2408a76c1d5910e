// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "pto/types.hpp"

namespace pto {

inline constexpr int kGlobalDims = 5;

namespace detail {

/// Five numbers, each a constant or, where the constant is DYNAMIC, given at run time.
template <int64_t... kDims>
class Dims5 {
 public:
  static_assert(sizeof...(kDims) == kGlobalDims, "expected five dimensions");
  static constexpr int kDynamic = ((kDims == DYNAMIC) + ...);

  Dims5() = default;

  /// All five, or exactly the dynamic ones, outermost first.
  template <class... Values, class = decltype((static_cast<int64_t>(Values()) + ... + 0))>
  Dims5(Values... values) {  // NOLINT(google-explicit-constructor): kernels pass braces
    static_assert(sizeof...(Values) == kGlobalDims || sizeof...(Values) == kDynamic,
                  "expected all five dimensions, or exactly the dynamic ones");
    const int64_t given[] = {static_cast<int64_t>(values)..., 0};
    int next = 0;
    for (int i = 0; i < kGlobalDims; ++i) {
      if (sizeof...(Values) == kGlobalDims) {
        if (kStatic[i] == DYNAMIC) dims_[i] = given[i];
      } else if (kStatic[i] == DYNAMIC) {
        dims_[i] = given[next++];
      }
    }
  }

  int64_t Get(int i) const { return kStatic[i] == DYNAMIC ? dims_[i] : kStatic[i]; }
  void Set(int i, int64_t value) { dims_[i] = value; }

 private:
  static constexpr int64_t kStatic[kGlobalDims] = {kDims...};
  int64_t dims_[kGlobalDims] = {kDims...};
};

}  // namespace detail

/// Extents of a GlobalTensor in elements, outermost first; -1 where given at run time.
template <int64_t N1 = DYNAMIC, int64_t N2 = DYNAMIC, int64_t N3 = DYNAMIC, int64_t N4 = DYNAMIC,
          int64_t N5 = DYNAMIC>
struct Shape : detail::Dims5<N1, N2, N3, N4, N5> {
  using detail::Dims5<N1, N2, N3, N4, N5>::Dims5;
};

/// Distances between neighbours of a GlobalTensor in elements, outermost first; -1 where given at
/// run time.
template <int64_t N1 = DYNAMIC, int64_t N2 = DYNAMIC, int64_t N3 = DYNAMIC, int64_t N4 = DYNAMIC,
          int64_t N5 = DYNAMIC>
struct Stride : detail::Dims5<N1, N2, N3, N4, N5> {
  using detail::Dims5<N1, N2, N3, N4, N5>::Dims5;
};

/// A five-dimensional view of global memory. Source: PTO ISA, GlobalTensor.
template <class T, class Shape_, class Stride_, Layout kLayout = Layout::ND>
class GlobalTensor {
 public:
  using DType = T;
  using RawDType = T;
  using Shape = Shape_;
  using Stride = Stride_;
  static constexpr Layout layout = kLayout;

  GlobalTensor() = default;
  explicit GlobalTensor(T* data, const Shape& shape = Shape(), const Stride& stride = Stride())
      : data_(data), shape_(shape), stride_(stride) {}

  int64_t GetShape(int dim) const { return shape_.Get(dim); }
  int64_t GetStride(int dim) const { return stride_.Get(dim); }
  T*& data() { return data_; }
  T* const& data() const { return data_; }

 private:
  T* data_ = nullptr;
  Shape shape_;
  Stride stride_;
};

}  // namespace pto
