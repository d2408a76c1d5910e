// SPDX-License-Identifier: Apache-2.0
// Kernels of vector cores.
#include <chrono>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>

#include "pto/event.hpp"
#include "pto/instr/assign.hpp"
#include "pto/intrinsics.hpp"
#include "pto/syncall.hpp"

namespace {

/// One instruction that takes microseconds.
AICORE void Work(int64_t microseconds) {
  npu::Issue(
      "TEST_WORK", npu::Pipe::kV, nullptr, [](auto report) { report(npu::Work{.elements = 1}); },
      [=] {
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
        while (std::chrono::steady_clock::now() < end) {
        }
      });
}

}  // namespace

extern "C" __global__ AICORE void empty() {}

// out[i] = 10 * in[i] for the blocks i.
extern "C" __global__ AICORE void times_ten(__gm__ uint32_t* out, __gm__ uint32_t* in) {
  out[block_idx] = 10 * in[block_idx];
}

// Appends value to the list that starts with its length.
extern "C" __global__ AICORE void append(__gm__ uint32_t* list, uint32_t value) {
  list[++list[0]] = value;
}

struct Large {
  uint8_t bytes[300];
};

extern "C" __global__ AICORE void sum_large(__gm__ uint32_t* out, Large large) {
  uint32_t sum = 0;
  for (const uint8_t byte : large.bytes) sum += byte;
  *out = sum;
}

extern "C" __global__ AICORE void sync_vector(__gm__ uint32_t* cells, __gm__ uint32_t* errors,
                                              uint32_t rounds) {
  for (uint32_t round = 1; round <= rounds; ++round) {
    cells[block_idx] = round;
    pto::SYNCALL();
    for (uint32_t block = 0; block < block_num; ++block) {
      if (cells[block] != round) ++*errors;
    }
    pto::SYNCALL();
  }
}

// Blocks meet at a flag of mode 0: it becomes visible once all have set it.
extern "C" __global__ AICORE void meet_at_flag(__gm__ uint32_t* cells, __gm__ uint32_t* errors) {
  cells[block_idx] = 1;
  ffts_cross_core_sync(PIPE_MTE3, 1 | 0 << 4 | 9 << 8);
  wait_flag_dev(9);
  for (uint32_t block = 0; block < block_num; ++block) {
    if (cells[block] != 1) ++*errors;
  }
}

extern "C" __global__ AICORE void block_leaves() {
  if (block_idx != 2) pto::SYNCALL();
}

extern "C" __global__ AICORE void cube_flag_without_cube() {
  ffts_cross_core_sync(PIPE_MTE3, 1 | 2 << 4);
}

extern "C" __global__ AICORE void sync_mix_without_cube() {
  pto::SYNCALL<pto::SyncCoreType::Mix>();
}

// Block 0 polls what the last block writes.
extern "C" __global__ AICORE void poll(__gm__ volatile uint32_t* flag, uint32_t set_by_last) {
  if (block_idx + 1 == block_num) {
    if (set_by_last != 0) *flag = 1;
    return;
  }
  while (*flag == 0) dcci(flag, 0);
}

extern "C" __global__ AICORE void fault_in_block(uint32_t block) {
  if (block_idx == block) npu::RaiseFault("TEST", "another block", std::to_string(block));
}

extern "C" __global__ AICORE void throw_runtime_error() {
  throw std::runtime_error("thrown by the kernel");
}

extern "C" __global__ AICORE void throw_int() { throw 7; }

[[gnu::noinline]] AICORE void Complain() { throw npu::Fault("a destructor that is not quiet"); }

// A destructor is noexcept: what it throws meets std::terminate.
extern "C" __global__ AICORE void fault_in_destructor() {
  struct Faulty {
    ~Faulty() { Complain(); }
  };
  const Faulty faulty;
}

// Swallows everything, for ever.
extern "C" __global__ AICORE void swallow() {
  if (block_idx == 1) npu::RaiseFault("TEST", "block 0 to swallow", "block 1");
  for (;;) {
    try {
      wait_flag_dev(1);
    } catch (...) {
    }
  }
}

// Swallows once and goes on to its end.
extern "C" __global__ AICORE void swallow_once(__gm__ uint32_t* swallowed) {
  if (block_idx == 1) npu::RaiseFault("TEST", "block 0 to swallow", "block 1");
  try {
    wait_flag_dev(1);
  } catch (...) {
    ++*swallowed;
  }
}

// Each block throws its index, waits in the handler for all others, and must find its own exception
// again.
extern "C" __global__ AICORE void exceptions(__gm__ uint32_t* errors, uint32_t rounds) {
  for (uint32_t round = 0; round < rounds; ++round) {
    const uint32_t value = round * 1000 + block_idx;
    try {
      throw value;
    } catch (uint32_t caught) {
      pto::SYNCALL();
      if (caught != value) ++*errors;
      try {
        pto::SYNCALL();
        throw;
      } catch (uint32_t again) {
        pto::SYNCALL();
        if (again != value) ++*errors;
      }
    }
    if (std::uncaught_exceptions() != 0) ++*errors;
  }
}

extern "C" __global__ AICORE void work(uint32_t instructions, uint32_t microseconds) {
  for (uint32_t i = 0; i < instructions; ++i) Work(microseconds);
}

extern "C" __global__ AICORE void leave_flag_set(__gm__ uint32_t* seen) {
  seen[block_idx] = npu::current_core->flags[PIPE_MTE2][PIPE_V][0];
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
}

// The id that the first event between two pipes takes, in each block.
extern "C" __global__ AICORE void first_event_id(__gm__ uint32_t* ids) {
  pto::Event<pto::Op::TLOAD, pto::Op::TADD> event;
  event.Record();
  for (uint32_t id = 0; id < npu::kEventIds; ++id) {
    if (npu::current_core->flags[PIPE_MTE2][PIPE_V][id] != 0) ids[block_idx] = id;
  }
  event.Wait();
}

// Sets the TF32 mode; no instruction runs.
extern "C" __global__ AICORE void leave_tf32(__gm__ uint32_t* seen) {
  seen[block_idx] = static_cast<uint32_t>(npu::current_core->tf32);
  pto::TileAcc<float, 16, 16> tile;
  tile.SetMadTF32Mode(pto::RoundMode::CAST_RINT);
}

// Breaks a limit of the chip and does nothing else.
extern "C" __global__ AICORE void misaligned_tile() {
  pto::Tile<pto::TileType::Vec, float, 8, 8> tile;
  pto::TASSIGN(tile, 4);
}

extern "C" __global__ AICORE void store_at(uint64_t address) {
  *reinterpret_cast<volatile uint32_t*>(address) = 1;
}

extern "C" __global__ AICORE void divide(__gm__ int32_t* quotient, int32_t dividend,
                                         int32_t divisor) {
  *quotient = dividend / divisor;
}

extern "C" __global__ AICORE void builtin_trap() { __builtin_trap(); }

[[gnu::noinline]] AICORE uint32_t Deeper(volatile uint32_t* below) {
  volatile uint32_t here[64] = {};
  here[0] = *below + 1;
  return here[0] == 0 ? 0 : Deeper(here) + here[1];
}

extern "C" __global__ AICORE void recurse_for_ever(__gm__ uint32_t* depth) {
  volatile uint32_t start = 0;
  *depth = Deeper(&start);
}
