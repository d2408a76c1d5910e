// SPDX-License-Identifier: Apache-2.0
// Kernels of one cube core and two vector cores per block.
#include "pto/cross_core.hpp"

#include "npu/error.hpp"
#include "pto/syncall.hpp"

namespace {

constexpr int kBlockGroup = 2;  // mode: between the cube core and both vector cores of a block
constexpr int kVectorPair = 1;  // mode: the vector cores of a block

AICORE void SetFlag(int mode, int id) { ffts_cross_core_sync(PIPE_MTE3, 1 | mode << 4 | id << 8); }

#ifdef __DAV_CUBE__
constexpr bool kIsCube = true;
#else
constexpr bool kIsCube = false;
#endif

}  // namespace

// cells: of each block [cube, vector 0, vector 1]; errors: how often a core saw another one out of
// step.
extern "C" __global__ AICORE void ping_pong(__gm__ uint32_t* cells, __gm__ uint32_t* errors,
                                            uint32_t rounds) {
  __gm__ uint32_t* mine = cells + 3 * block_idx;
  for (uint32_t round = 1; round <= rounds; ++round) {
    if (kIsCube) {
      mine[0] = round;
      SetFlag(kBlockGroup, 1);
      wait_flag_dev(2);
      if (mine[1] != round || mine[2] != round) ++*errors;
    } else {
      wait_flag_dev(1);
      if (mine[0] != round) ++*errors;
      mine[1 + get_subblockid()] = round;
      SetFlag(kBlockGroup, 2);
    }
  }
}

// The same between the vector cores; the cube core does nothing.
extern "C" __global__ AICORE void vector_pair(__gm__ uint32_t* cells, __gm__ uint32_t* errors,
                                              uint32_t rounds) {
  if (kIsCube) return;
  __gm__ uint32_t* mine = cells + 2 * block_idx;
  for (uint32_t round = 1; round <= rounds; ++round) {
    mine[get_subblockid()] = round;
    SetFlag(kVectorPair, 3);
    wait_flag_dev(3);
    if (mine[1 - get_subblockid()] < round) ++*errors;
    SetFlag(kVectorPair, 4);
    wait_flag_dev(4);
  }
}

// cells: one per core of the launch.
extern "C" __global__ AICORE void sync_mix(__gm__ uint32_t* cells, __gm__ uint32_t* errors,
                                           uint32_t rounds) {
  const uint32_t cores = 3 * block_num;
  const uint32_t mine = 3 * block_idx + (kIsCube ? 0 : 1 + get_subblockid());
  for (uint32_t round = 1; round <= rounds; ++round) {
    cells[mine] = round;
    pto::SYNCALL<pto::SyncCoreType::Mix>();
    for (uint32_t core = 0; core < cores; ++core) {
      if (cells[core] != round) ++*errors;
    }
    pto::SYNCALL<pto::SyncCoreType::Mix>();
  }
}

// Each core of a block adds to what the others computed, in steps whose number nobody can foresee;
// the bits of total depend on the order in which all cores add to it.
extern "C" __global__ AICORE void random_work(__gm__ float* cells, __gm__ float* total,
                                              uint32_t rounds) {
  __gm__ float* mine = cells + 3 * block_idx;
  const auto core = static_cast<uint32_t>(kIsCube ? 0 : 1 + get_subblockid());
  uint32_t state = 3 * block_idx + core + 1;
  for (uint32_t round = 0; round < rounds; ++round) {
    if (!kIsCube) wait_flag_dev(1);
    float value = kIsCube ? mine[1] + mine[2] + 1.0f : mine[0];
    state = state * 1664525u + 1013904223u;
    for (uint32_t step = state >> 24; step > 0; --step) value = value * 0.999f + 0.37f;
    mine[core] = value;
    *total = *total * 1.0001f + value;
    SetFlag(kBlockGroup, kIsCube ? 1 : 2);
    if (kIsCube) wait_flag_dev(2);
    if (round % 5 == 4) pto::SYNCALL<pto::SyncCoreType::Mix>();
  }
}

extern "C" __global__ AICORE void cross_wait() { wait_flag_dev(kIsCube ? 5 : 6); }

// The cube core ends; the vector cores wait for it.
extern "C" __global__ AICORE void cube_leaves() {
  if (!kIsCube) pto::SYNCALL<pto::SyncCoreType::Mix>();
}

extern "C" __global__ AICORE void too_many_sets() {
  if (kIsCube) {
    for (int i = 0; i < 16; ++i) SetFlag(kBlockGroup, 7);
  }
}

extern "C" __global__ AICORE void cube_asks_for_vector_pair() {
  if (kIsCube) SetFlag(kVectorPair, 0);
}

// Vector core 1 of block 1 faults while all other cores wait, some inside a catch block.
extern "C" __global__ AICORE void fault_among_waiting(__gm__ uint32_t* destroyed) {
  struct Counted {
    __gm__ uint32_t* count;
    ~Counted() { ++*count; }
  };
  const Counted counted{destroyed};
  if (!kIsCube && block_idx == 1 && get_subblockid() == 1)
    npu::RaiseFault("TEST", "an answer", "none");
  try {
    throw 1;
  } catch (int) {
    wait_flag_dev(8);
  }
}
