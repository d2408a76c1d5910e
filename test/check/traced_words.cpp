// SPDX-License-Identifier: Apache-2.0
// Words of global memory that several cores write, for the order and the values of a trace.
#include <pto/pto-inst.hpp>

using namespace pto;

/// Each block adds 1 to count, times times.
extern "C" __global__ AICORE void counts(__gm__ int32_t* count, int64_t times) {
  comm::Signal signal(count);
  for (int64_t i = 0; i < times; ++i) comm::TNOTIFY(signal, 1, comm::NotifyOp::AtomicAdd);
}

/// The blocks write their number + 1 to word, one after the other.
extern "C" __global__ AICORE void in_turn(__gm__ int32_t* word) {
  const int64_t block = get_block_idx();
  for (int64_t turn = 0; turn < get_block_num(); ++turn) {
    if (turn == block) st_dev(static_cast<int32_t>(block) + 1, word, 0);
    SYNCALL<SyncCoreType::AIVOnly>();
  }
}

/// Each block writes its number + 1 to word, while a store of its own to z may be under way.
extern "C" __global__ AICORE void at_any_time(__gm__ int32_t* word, __gm__ float* z) {
  using Row = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<1, 1, 1, 64, 1>>;
  const int64_t block = get_block_idx();
  Tile<TileType::Vec, float, 1, 64> tile;
  TASSIGN(tile, 0x0);
  Row to(z + 64 * block);
  TEXPANDS(tile, 1.0f);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, tile);
  st_dev(static_cast<int32_t>(block) + 1, word, 0);
  pipe_barrier(PIPE_ALL);
}

/// Each block stores to z, tells the others by word, and waits until all have, while its store may
/// still be under way.
extern "C" __global__ AICORE void meets(__gm__ int32_t* word, __gm__ float* z) {
  using Row = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<1, 1, 1, 64, 1>>;
  Tile<TileType::Vec, float, 1, 64> tile;
  TASSIGN(tile, 0x0);
  Row to(z + 64 * get_block_idx());
  TEXPANDS(tile, 1.0f);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, tile);
  comm::Signal signal(word);
  comm::TNOTIFY(signal, 1, comm::NotifyOp::AtomicAdd);
  comm::TWAIT(signal, static_cast<int32_t>(get_block_num()), comm::WaitCmp::GE);
}
