// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// value up to a multiple of unit, as kernels spell it.
template <class Value, class Unit>
constexpr auto PTO_CEIL(Value value, Unit unit) {
  return (value + unit - 1) / unit * unit;
}

/// Numbers of the chip under the names that kernels use. Source: PTO ISA.
namespace pto {

inline constexpr int BLOCK_BYTE_SIZE = 32;             // unit of transfers, in bytes
inline constexpr int C0_SIZE_BYTE = 32;                // innermost run of NZ and ZN
inline constexpr int FRACTAL_NZ_ROW = 16;              // rows of a box of NZ
inline constexpr int MX_ROW_LEN = 16, MX_COL_LEN = 2;  // lines and depth of a box of scales
inline constexpr int MX_BLOCK_SIZE = 32;               // elements that share a scale
inline constexpr int CUBE_BLOCK_SIZE = 512;            // bytes of a box
inline constexpr int ACC_C0_SIZE = 16;                 // columns of a box of an accumulator
inline constexpr int BLOCK_LEN = 16;
inline constexpr int REPEAT_BYTE = 256;  // bytes that a vector instruction takes at a time
inline constexpr int REPEAT_MAX = 255;
inline constexpr uint32_t TMP_UB_OFFSET = 184 * 1024;  // scratch of instructions without tmp
inline constexpr uint32_t TMP_UB_SIZE = 8 * 1024;
inline constexpr uint64_t BLOCK_MAX_PER_REPEAT = REPEAT_BYTE / BLOCK_BYTE_SIZE;

// Plain numbers that kernels spell so.
inline constexpr int NUM_1 = 1, NUM_4 = 4, NUM_8 = 8, NUM_12 = 12, NUM_16 = 16, NUM_32 = 32;
inline constexpr int NUM_64 = 64, NUM_77 = 77, NUM_96 = 96, NUM_128 = 128, NUM_256 = 256;
inline constexpr int NUM_512 = 512;

/// Bytes of boxes (fractal) and of rows (aligned), rows and columns of boxes.
struct TileConfig {
  static constexpr int alignedSize = 32;
  static constexpr int fixedRowSize = 16, fixedColSize = 16;
  static constexpr int fixedMxRowSize = 16, fixedMxColSize = 2;
  static constexpr int fractalABSize = 512, fractalCSize = 1024, fractalMxSize = 32;
};

/// Indices of GlobalTensor's dimensions, outermost first.
struct GlobalTensorDim {
  static constexpr int DIM_0 = 0, DIM_1 = 1, DIM_2 = 2, DIM_3 = 3, DIM_4 = 4, TOTAL_DIM = 5;
};

}  // namespace pto
