// SPDX-License-Identifier: Apache-2.0
// A path that programs for simulators include: a kernel around TPARTARGMAX or TPARTARGMIN.
#pragma once

#include "pto/pto-inst.hpp"

namespace pto {

namespace detail {

/// A tile of rows x cols elements at address, and the matrix in global memory that it is.
template <class T, int kRows, int kCols, int kPitch>
struct PartArgOperand {
  using TileT = Tile<TileType::Vec, T, kRows, kCols, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
  using Global = GlobalTensor<T, Shape<1, 1, 1, kRows, kCols>, Stride<1, 1, 1, kPitch, 1>>;
  static constexpr size_t kBytes = sizeof(T) * kRows * kCols;

  TileT tile;
  Global global;

  PartArgOperand(T* data, size_t address) : tile(kRows, kCols), global(data) {
    TASSIGN(tile, address);
  }
};

}  // namespace detail

/// Runner::Run(dst, src0, src1, and their indexes) over matrices of kRows x kCols, of which src1
/// has the first kRows1 x kCols1, with rows kCols apart.
template <int kRows, int kCols, int kRows1, int kCols1, class Runner>
void RunPartArgKernel(float* dst, float* src0, float* src1, uint32_t* dst_index,
                      uint32_t* src0_index, uint32_t* src1_index) {
  using Value = detail::PartArgOperand<float, kRows, kCols, kCols>;
  using Value1 = detail::PartArgOperand<float, kRows1, kCols1, kCols>;
  using Index = detail::PartArgOperand<uint32_t, kRows, kCols, kCols>;
  using Index1 = detail::PartArgOperand<uint32_t, kRows1, kCols1, kCols>;
  constexpr size_t kWhole = Value::kBytes, kPart = Value1::kBytes;
  Value value0(src0, 0), value(dst, kWhole + kPart);
  Value1 value1(src1, kWhole);
  Index index0(src0_index, 2 * kWhole + kPart), index(dst_index, 3 * kWhole + 2 * kPart);
  Index1 index1(src1_index, 3 * kWhole + kPart);
  TLOAD(value0.tile, value0.global);
  TLOAD(value1.tile, value1.global);
  TLOAD(index0.tile, index0.global);
  TLOAD(index1.tile, index1.global);
  Runner::Run(value.tile, value0.tile, value1.tile, index.tile, index0.tile, index1.tile);
  TSTORE(value.global, value.tile);
  TSTORE(index.global, index.tile);
}

}  // namespace pto
