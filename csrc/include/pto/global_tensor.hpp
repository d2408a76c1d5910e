// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "pto/constants.hpp"
#include "pto/types.hpp"

namespace pto {

inline constexpr int kGlobalDims = GlobalTensorDim::TOTAL_DIM;

namespace detail {

/// Five numbers, each a constant or, where the constant is DYNAMIC, given at run time; 1 until
/// then.
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
  int64_t dims_[kGlobalDims] = {(kDims == DYNAMIC ? 1 : kDims)...};
};

}  // namespace detail

/// Extents of a GlobalTensor in elements, outermost first; -1 where given at run time.
template <int64_t N1 = DYNAMIC, int64_t N2 = DYNAMIC, int64_t N3 = DYNAMIC, int64_t N4 = DYNAMIC,
          int64_t N5 = DYNAMIC>
struct Shape : detail::Dims5<N1, N2, N3, N4, N5> {
  static constexpr int64_t staticShape[kGlobalDims] = {N1, N2, N3, N4, N5};
  using detail::Dims5<N1, N2, N3, N4, N5>::Dims5;
};

/// Distances between neighbours of a GlobalTensor in elements, outermost first; -1 where given at
/// run time.
template <int64_t N1 = DYNAMIC, int64_t N2 = DYNAMIC, int64_t N3 = DYNAMIC, int64_t N4 = DYNAMIC,
          int64_t N5 = DYNAMIC>
struct Stride : detail::Dims5<N1, N2, N3, N4, N5> {
  static constexpr int64_t staticStride[kGlobalDims] = {N1, N2, N3, N4, N5};
  using detail::Dims5<N1, N2, N3, N4, N5>::Dims5;
};

// Shape(1, 1, 1, rows, cols) names no constants: all five are given at run time.
template <class... Values>
Shape(Values...) -> Shape<>;
template <class... Values>
Stride(Values...) -> Stride<>;

namespace detail {

/// number, or DYNAMIC where one of the sizes it is made of is.
template <class... Sizes>
constexpr int64_t IfStatic(int64_t number, Sizes... sizes) {
  return ((sizes == DYNAMIC) || ...) ? DYNAMIC : number;
}

/// Elements in the innermost run of NZ.
template <class T>
inline constexpr int64_t kC0 = C0_SIZE_BYTE / static_cast<int64_t>(sizeof(T));

template <class T, int64_t kRows, int64_t kCols, Layout kLayout>
struct Matrix2D {
  using TileShape = Shape<1, 1, 1, kRows, kCols>;
  static constexpr int64_t kAll = IfStatic(kRows * kCols, kRows, kCols);
  using BaseStride = std::conditional_t<kLayout == Layout::ND, Stride<kAll, kAll, kAll, kCols, 1>,
                                        Stride<kAll, kAll, kAll, 1, kRows>>;

  static TileShape ShapeOf(int64_t rows, int64_t cols) { return {1, 1, 1, rows, cols}; }
  static BaseStride StrideOf(int64_t rows, int64_t cols) {
    const int64_t all = rows * cols;
    if (kLayout == Layout::ND) return {all, all, all, cols, 1};
    return {all, all, all, 1, rows};
  }
};

template <class T, int64_t kRows, int64_t kCols>
struct Matrix2D<T, kRows, kCols, Layout::NZ> {
  static_assert(kRows == DYNAMIC || kRows % FRACTAL_NZ_ROW == 0,
                "expected rows of a multiple of 16 in layout NZ");
  static_assert(kCols == DYNAMIC || kCols % kC0<T> == 0,
                "expected columns of a multiple of 32 bytes in layout NZ");
  static constexpr int64_t kBox = FRACTAL_NZ_ROW * kC0<T>;
  using TileShape = Shape<1, IfStatic(kCols / kC0<T>, kCols),
                          IfStatic(kRows / FRACTAL_NZ_ROW, kRows), FRACTAL_NZ_ROW, kC0<T>>;
  using BaseStride =
      Stride<IfStatic(kRows* kCols, kRows, kCols), IfStatic(kRows* kC0<T>, kRows), kBox, kC0<T>, 1>;

  static TileShape ShapeOf(int64_t rows, int64_t cols) {
    return {1, cols / kC0<T>, rows / FRACTAL_NZ_ROW, FRACTAL_NZ_ROW, kC0<T>};
  }
  static BaseStride StrideOf(int64_t rows, int64_t cols) {
    return {rows * cols, rows * kC0<T>, kBox, kC0<T>, 1};
  }
};

/// Scales of products, 16 x 2 to a box, box after box along the depth. kLines x kDepth: rows x
/// columns of MX_A, columns x rows of MX_B.
template <int64_t kLines, int64_t kDepth>
struct ScaleBoxes {
  static_assert(kDepth == DYNAMIC || kDepth % 2 == 0, "expected scales in pairs");
  using TileShape = Shape<1, IfStatic(kLines / 16, kLines), IfStatic(kDepth / 2, kDepth), 16, 2>;
  using BaseStride =
      Stride<IfStatic(kLines* kDepth, kLines, kDepth), IfStatic(kDepth * 16, kDepth), 32, 2, 1>;

  static TileShape Shapes(int64_t lines, int64_t depth) {
    return {1, lines / 16, depth / 2, 16, 2};
  }
  static BaseStride Strides(int64_t lines, int64_t depth) {
    return {lines * depth, depth * 16, 32, 2, 1};
  }
};

/// The same line after line (kLinesFirst) or pair of depths after pair.
template <int64_t kLines, int64_t kDepth, bool kLinesFirst>
struct ScalePairs {
  static_assert(kDepth == DYNAMIC || kDepth % 2 == 0, "expected scales in pairs");
  static constexpr int64_t kPairs = IfStatic(kDepth / 2, kDepth);
  static constexpr int64_t kAll = IfStatic(kLines * kDepth, kLines, kDepth);
  using TileShape = std::conditional_t<kLinesFirst, Shape<1, 1, kLines, kPairs, 2>,
                                       Shape<1, 1, kPairs, kLines, 2>>;
  using BaseStride = Stride<kAll, kAll, kLinesFirst ? kDepth : IfStatic(kLines * 2, kLines), 2, 1>;

  static TileShape Shapes(int64_t lines, int64_t depth) {
    if (kLinesFirst) return {1, 1, lines, depth / 2, 2};
    return {1, 1, depth / 2, lines, 2};
  }
  static BaseStride Strides(int64_t lines, int64_t depth) {
    const int64_t all = lines * depth;
    return {all, all, kLinesFirst ? depth : lines * 2, 2, 1};
  }
};

template <class Scales, bool kIsA>
struct ScaleMatrix : Scales {
  static auto ShapeOf(int64_t rows, int64_t cols) {
    return kIsA ? Scales::Shapes(rows, cols) : Scales::Shapes(cols, rows);
  }
  static auto StrideOf(int64_t rows, int64_t cols) {
    return kIsA ? Scales::Strides(rows, cols) : Scales::Strides(cols, rows);
  }
};
template <class T, int64_t kRows, int64_t kCols>
struct Matrix2D<T, kRows, kCols, Layout::MX_A_ZZ> : ScaleMatrix<ScaleBoxes<kRows, kCols>, true> {};
template <class T, int64_t kRows, int64_t kCols>
struct Matrix2D<T, kRows, kCols, Layout::MX_B_NN> : ScaleMatrix<ScaleBoxes<kCols, kRows>, false> {};
template <class T, int64_t kRows, int64_t kCols>
struct Matrix2D<T, kRows, kCols, Layout::MX_A_ND>
    : ScaleMatrix<ScalePairs<kRows, kCols, true>, true> {};
template <class T, int64_t kRows, int64_t kCols>
struct Matrix2D<T, kRows, kCols, Layout::MX_A_DN>
    : ScaleMatrix<ScalePairs<kRows, kCols, false>, true> {};
template <class T, int64_t kRows, int64_t kCols>
struct Matrix2D<T, kRows, kCols, Layout::MX_B_ND>
    : ScaleMatrix<ScalePairs<kCols, kRows, false>, false> {};
template <class T, int64_t kRows, int64_t kCols>
struct Matrix2D<T, kRows, kCols, Layout::MX_B_DN>
    : ScaleMatrix<ScalePairs<kCols, kRows, true>, false> {};

}  // namespace detail

/// Shape of a tile of kRows x kCols elements within a matrix. With two arguments: rows, columns.
/// Source: PTO ISA, TileShape2D.
template <class T, int64_t kRows = DYNAMIC, int64_t kCols = DYNAMIC, Layout kLayout = Layout::ND>
struct TileShape2D : detail::Matrix2D<T, kRows, kCols, kLayout>::TileShape {
  using Matrix = detail::Matrix2D<T, kRows, kCols, kLayout>;
  using Parent = typename Matrix::TileShape;

  TileShape2D() = default;
  template <class Rows, class Cols>
  TileShape2D(Rows rows, Cols cols) : Parent(Matrix::ShapeOf(rows, cols)) {}
  template <class Value>
  explicit TileShape2D(Value value) : Parent(value) {}
};

/// Strides of a matrix of kRows x kCols elements. With two arguments: rows, columns.
/// Source: PTO ISA, BaseShape2D.
template <class T, int64_t kRows = DYNAMIC, int64_t kCols = DYNAMIC, Layout kLayout = Layout::ND>
struct BaseShape2D : detail::Matrix2D<T, kRows, kCols, kLayout>::BaseStride {
  using Matrix = detail::Matrix2D<T, kRows, kCols, kLayout>;
  using Parent = typename Matrix::BaseStride;

  BaseShape2D() = default;
  template <class Rows, class Cols>
  BaseShape2D(Rows rows, Cols cols) : Parent(Matrix::StrideOf(rows, cols)) {}
};

/// A five-dimensional view of global memory. Source: PTO ISA, GlobalTensor.
template <class T, class Shape_, class Stride_, Layout kLayout = Layout::ND>
class GlobalTensor {
 public:
  using DType = T;
  using RawDType = std::remove_cv_t<T>;
  using Shape = Shape_;
  using Stride = Stride_;
  static constexpr Layout layout = kLayout;
  static constexpr int64_t staticShape[kGlobalDims] = {Shape::staticShape[0], Shape::staticShape[1],
                                                       Shape::staticShape[2], Shape::staticShape[3],
                                                       Shape::staticShape[4]};
  static constexpr int64_t staticStride[kGlobalDims] = {
      Stride::staticStride[0], Stride::staticStride[1], Stride::staticStride[2],
      Stride::staticStride[3], Stride::staticStride[4]};

  GlobalTensor() = default;
  explicit GlobalTensor(T* data, const Shape& shape = Shape(), const Stride& stride = Stride())
      : data_(data), shape_(shape), stride_(stride) {}

  int64_t GetShape(int dim) const { return shape_.Get(dim); }
  int64_t GetStride(int dim) const { return stride_.Get(dim); }

  /// A dimension that is a constant.
  template <int kDim>
  static constexpr int64_t GetShape() {
    static_assert(staticShape[kDim] != DYNAMIC, "GetShape: expected a static dimension");
    return staticShape[kDim];
  }
  template <int kDim>
  static constexpr int64_t GetStride() {
    static_assert(staticStride[kDim] != DYNAMIC, "GetStride: expected a static dimension");
    return staticStride[kDim];
  }

  /// SetShape<3, 4>(rows, cols) gives dimensions 3 and 4, which must be dynamic.
  template <int... kDims, class... Values>
  void SetShape(Values... values) {
    static_assert(sizeof...(kDims) == sizeof...(Values), "SetShape: expected a value for each");
    static_assert(((staticShape[kDims] == DYNAMIC) && ...),
                  "SetShape: expected dynamic dimensions");
    (shape_.Set(kDims, static_cast<int64_t>(values)), ...);
  }
  template <int... kDims, class... Values>
  void SetStride(Values... values) {
    static_assert(sizeof...(kDims) == sizeof...(Values), "SetStride: expected a value for each");
    static_assert(((staticStride[kDims] == DYNAMIC) && ...),
                  "SetStride: expected dynamic dimensions");
    (stride_.Set(kDims, static_cast<int64_t>(values)), ...);
  }

  T*& data() { return data_; }
  T* const& data() const { return data_; }

#ifdef __CPU_SIM
  /// The element at offset, counted in memory order, for programs for simulators.
  T GetElement(size_t offset) const { return data_[offset]; }
  void SetElement(size_t offset, const RawDType& value) { data_[offset] = value; }
#endif

 private:
  T* data_ = nullptr;
  Shape shape_;
  Stride stride_;
};

}  // namespace pto
