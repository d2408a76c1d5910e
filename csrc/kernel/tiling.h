// SPDX-License-Identifier: Apache-2.0
// What the host side tells the kernels of this room about shapes. Plain data, passed by value.
#pragma once

#include <cstdint>

/// Dimensions of a tensor after neighbours that lie behind each other were merged.
constexpr int kMaxDims = 16;

/// Size of a tile buffer in blocks of 32 bytes, and in bytes. Six buffers fit the L1 cache of a
/// host core together.
constexpr int kTileBlocks = 128;
constexpr int kTileBytes = kTileBlocks * 32;

/// Bytes of UB of the chip that has least.
constexpr unsigned kUbBytes = 192 * 1024;

/// Tile buffers that the longest tiles of kernels take.
constexpr int kLongestTile = 8;

/// Bytes of work that a block starts for. The emulator runs blocks one after the other, and each
/// costs time beside its elements.
constexpr int kBytesPerBlock = 2 * kLongestTile * kTileBytes;

/// The blocks of 32 bytes per tile row that element-wise kernels are built for; the least that
/// holds a row is taken.
constexpr int kRowBlocks[] = {1, 8, kTileBlocks};

/// An element-wise operation over dims >= 2 dimensions, outermost first. stride[0] is that of the
/// result, the operands' follow. Strides are in elements; the last one is 0 or 1, of the result 1.
template <int kOperands>
struct ElementwiseTiling {
  int64_t dims;
  int64_t shape[kMaxDims];
  int64_t stride[kOperands + 1][kMaxDims];
};

/// A sum over the dimensions whose kept is 0. Strides are in elements; the last stride of x is 0
/// or 1.
struct SumTiling {
  int64_t dims;
  int64_t shape[kMaxDims];
  int64_t x_stride[kMaxDims];
  int64_t z_stride[kMaxDims];
  int64_t kept[kMaxDims];
};
