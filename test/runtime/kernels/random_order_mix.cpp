// SPDX-License-Identifier: Apache-2.0
// A cube core that sends products to vector cores, through a pipe or by flags of its own.
#include <cstdint>
#include <pto/pto-inst.hpp>

using namespace pto;

namespace {

constexpr int kSide = 16;
constexpr int kElements = kSide * kSide;
constexpr uint32_t kSlotBytes = kElements * sizeof(float);
constexpr uint32_t kSlots = 2;

using Pipe = TPipe<2, DIR_C2V, kSlotBytes, kSlots>;
using Acc = TileAcc<float, kSide, kSide>;
using Half = Tile<TileType::Vec, float, kSide / 2, kSide>;
using HalfGlobal = GlobalTensor<float, Shape<1, 1, 1, kSide / 2, kSide>, Stride<1, 1, 1, kSide, 1>>;

using Left = TileLeft<float, kSide, kSide>;
using Right = TileRight<float, kSide, kSide>;

/// Brings a and b to left and right once buffers are free.
[[maybe_unused]] AICORE void Bring(__gm__ float* a, __gm__ float* b, Left left, Right right) {
  using AGlobal =
      GlobalTensor<float, TileShape2D<float, kSide, kSide>, BaseShape2D<float, kSide, kSide>>;
  using Mat =
      Tile<TileType::Mat, float, kSide, kSide, BLayout::ColMajor, kSide, kSide, SLayout::RowMajor>;
  AGlobal a_global(a), b_global(b);
  Mat a_mat, b_mat;
  TASSIGN(a_mat, 0);
  TASSIGN(b_mat, kSlotBytes);
  wait_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
  TLOAD(a_mat, a_global);
  TLOAD(b_mat, b_global);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  TMOV(left, a_mat);
  TMOV(right, b_mat);
  set_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
}

/// Makes the product of a and b in acc once buffers are free.
[[maybe_unused]] AICORE void Multiply(__gm__ float* a, __gm__ float* b, Acc acc) {
  Left left;
  Right right;
  TASSIGN(left, 0);
  TASSIGN(right, 0);
  Bring(a, b, left, right);
  wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
  TMATMUL(acc, left, right);
  set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
}

/// Flags of buffers that are free, at the start and at the end.
[[maybe_unused]] AICORE void SetFree() {
  set_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
  set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
}
[[maybe_unused]] AICORE void AwaitFree() {
  wait_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
}

/// Adds bias to a tile that has been loaded and stores it.
[[maybe_unused]] AICORE void AddAndStore(Half tile, __gm__ float* to, float bias) {
  HalfGlobal global(to);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TADDS(tile, tile, bias);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(global, tile);
  set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
}

}  // namespace

// z[i] = a[i] * b[i] + i, for count matrices; slots: of the pipe, for each block.
extern "C" __global__ AICORE void send_products(__gm__ float* z, __gm__ float* a, __gm__ float* b,
                                                __gm__ float* slots, int32_t count) {
  const uint32_t first = block_idx * count * kElements;
  Pipe pipe(slots + block_idx * kSlots * kElements, 0, 0);
#ifdef __DAV_CUBE__
  Acc acc;
  TASSIGN(acc, 0);
  SetFree();
  for (int i = 0; i < count; ++i) {
    Multiply(a + first + i * kElements, b + first + i * kElements, acc);
    TPUSH<Pipe, Acc, TILE_UP_DOWN>(pipe, acc);
    set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
  }
  AwaitFree();
#else
  for (int i = 0; i < count; ++i) {
    Half tile;
    TPOP<Pipe, Half, TILE_UP_DOWN>(pipe, tile);
    TFREE<Pipe, TILE_UP_DOWN>(pipe);
    AddAndStore(tile, z + first + i * kElements + get_subblockid() * kElements / 2, float(i));
  }
#endif
}

// The same through one slot by two cross-core flags; tells false: the vector cores do not wait for
// the product.
extern "C" __global__ AICORE void tell_products(__gm__ float* z, __gm__ float* a, __gm__ float* b,
                                                __gm__ float* slot, int32_t count, int32_t tells) {
  constexpr uint16_t kFull = 1, kFree = 2, kBlockGroup = 2;
  const uint32_t first = block_idx * count * kElements;
  __gm__ float* mine = slot + block_idx * kElements;
#ifdef __DAV_CUBE__
  GlobalTensor<float, TileShape2D<float, kSide, kSide>, BaseShape2D<float, kSide, kSide>> to(mine);
  Acc acc;
  TASSIGN(acc, 0);
  SetFree();
  for (int i = 0; i < count; ++i) {
    Multiply(a + first + i * kElements, b + first + i * kElements, acc);
    if (i > 0) wait_flag_dev(kFree);
    TSTORE(to, acc);
    ffts_cross_core_sync(PIPE_FIX, getFFTSMsg(kBlockGroup, kFull));
    set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
  }
  wait_flag_dev(kFree);
  AwaitFree();
#else
  const uint32_t half = get_subblockid() * kElements / 2;
  HalfGlobal from(mine + half);
  Half tile;
  TASSIGN(tile, 0);
  for (int i = 0; i < count; ++i) {
    if (tells) wait_flag_dev(kFull);
    TLOAD(tile, from);
    ffts_cross_core_sync(PIPE_MTE2, getFFTSMsg(kBlockGroup, kFree));
    AddAndStore(tile, z + first + i * kElements + half, float(i));
  }
#endif
}

// z[i] = a[i] * b[i], for count matrices; product and store wait for each other by the unit flag,
// or not at all.
extern "C" __global__ AICORE void store_products(__gm__ float* z, __gm__ float* a, __gm__ float* b,
                                                 int32_t count, int32_t waits) {
#ifdef __DAV_CUBE__
  const uint32_t first = block_idx * count * kElements;
  Acc acc;
  Left left;
  Right right;
  TASSIGN(acc, 0);
  TASSIGN(left, 0);
  TASSIGN(right, 0);
  set_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
  set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  for (int i = 0; i < count; ++i) {
    const uint32_t at = first + i * kElements;
    GlobalTensor<float, TileShape2D<float, kSide, kSide>, BaseShape2D<float, kSide, kSide>> to(z +
                                                                                               at);
    Bring(a + at, b + at, left, right);
    if (waits) {
      TMATMUL<AccPhase::Final>(acc, left, right);
    } else {
      TMATMUL(acc, left, right);
    }
    set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
    TSTORE<STPhase::Final>(to, acc);
  }
  wait_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
#endif
}

// Cube and vector cores wait for each other.
extern "C" __global__ AICORE void cross_wait_in_order(__gm__ float*) {
  set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
#ifdef __DAV_CUBE__
  wait_flag_dev(5);
#else
  wait_flag_dev(6);
#endif
}
