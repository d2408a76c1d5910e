// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Queues of tiles between the cube core and the vector cores of a block. Source: PTO ISA, TPUSH.
namespace pto {

/// What of a pushed tile each vector core gets.
enum TileSplitAxis : uint8_t {
  TILE_NO_SPLIT,        // all of it
  TILE_UP_DOWN,         // half of the rows
  TILE_LEFT_RIGHT,      // half of the columns
  TILE_UP_DOWN_ODD,     // of an odd number of rows: vector core 0 one more
  TILE_LEFT_RIGHT_ODD,  // of an odd number of columns: vector core 0 one more
};

/// Who produces. Those with GM go through global memory on A5, too, where others go straight from
/// core to core.
enum Direction : uint8_t {
  UNDEFINED,
  DIR_C2V,
  DIR_V2C,
  DIR_BOTH,
  DIR_V2C_CTRL,  // one word a slot, which tells the cube core to go on or not
  DIR_C2V_GM,
  DIR_V2C_GM,
  DIR_BOTH_GM,
};

/// Where the slots of a TPipe lie.
template <int kSlotSize, int kSlotNum, int kLocalSlotNum>
struct RingFIFO {
  static constexpr uint32_t SLOT_SIZE = kSlotSize;
  static constexpr uint32_t SLOT_NUM = kSlotNum;
  static constexpr uint32_t SLOT_SYNCT = kSlotNum;
  static constexpr uint32_t LOCAL_SLOT_NUM = kLocalSlotNum;

  void* GM_SLOT_BUFFER = nullptr;
  uint32_t C2V_CONSUMER_BUF = 0;  // address in UB
  uint32_t V2C_CONSUMER_BUF = 0;  // address in L1
  bool ctrlSignal = false;        // the last word that was popped is 1

  RingFIFO(void* slots, uint32_t c2v_buffer, uint32_t v2c_buffer)
      : GM_SLOT_BUFFER(slots), C2V_CONSUMER_BUF(c2v_buffer), V2C_CONSUMER_BUF(v2c_buffer) {}
};

enum class FIFOType : uint8_t { GM_FIFO, VEC_FIFO, MAT_FIFO, CTRL_FIFO };

enum class VecCubeRatio : uint8_t { V1C1_VEC0, V1C1_VEC1, V2C1_VECS };

/// Where the slots of a TMPipe lie.
template <class T, FIFOType kType, int kDepth, int kPeriod, int kLocalDepth = 0>
struct DataFIFO {
  using DType = T;
  static constexpr int fifoDepth = kDepth;
  static constexpr int fifoPeriod = kPeriod;
  static constexpr FIFOType fifoType = kType;
  static constexpr int localFiFoDepth = kLocalDepth;
  static constexpr bool useLocalFiFo = kLocalDepth > 0;

  T* fifoBase = nullptr;
  uint32_t localFiFoBase = 0;  // address on the core of the consumer
  bool ctrlSignal = false;

  DataFIFO(T* base, uint32_t local_base) : fifoBase(base), localFiFoBase(local_base) {}
  explicit DataFIFO(T* base) : fifoBase(base) {}
  T* getBasePtr() { return fifoBase; }
};

namespace detail {

/// Elements of a slot that come before those of a vector core with a tile of rows x cols, and the
/// distance of its rows.
struct SlotPart {
  int64_t offset;
  int64_t row_stride;
};

constexpr SlotPart PartOf(TileSplitAxis split, int64_t sub_block, int64_t rows, int64_t cols) {
  switch (split) {
    case TILE_UP_DOWN:
      return {sub_block * rows * cols, cols};
    case TILE_LEFT_RIGHT:
      return {sub_block * cols, 2 * cols};
    case TILE_UP_DOWN_ODD:
      return {sub_block * (rows + sub_block) * cols, cols};
    case TILE_LEFT_RIGHT_ODD:
      return {sub_block * (cols + sub_block), 2 * cols + 2 * sub_block - 1};
    default:
      return {0, cols};
  }
}

}  // namespace detail

}  // namespace pto
