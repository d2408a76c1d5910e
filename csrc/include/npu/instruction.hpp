// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "npu/arch.hpp"

namespace npu {

/// Execution queues of a core. The values are those of the PIPE_ constants that kernels pass.
enum class Pipe : uint8_t { kS, kV, kM, kMte1, kMte2, kMte3, kFix, kAll };
inline constexpr int kPipes = 7;  // kAll is a wildcard, not a queue

inline const char* PipeName(Pipe pipe) {
  constexpr const char* kNames[] = {"PIPE_S",    "PIPE_V",    "PIPE_M",   "PIPE_MTE1",
                                    "PIPE_MTE2", "PIPE_MTE3", "PIPE_FIX", "PIPE_ALL"};
  return kNames[static_cast<int>(pipe)];
}

/// Who takes part in a SYNCALL.
enum class SyncGroup : uint8_t { kVectorCores, kCubeCores, kAllCores };

/// A place where cores meet: a SYNCALL of group, or, with a counter, of as many cores as it counts.
struct SyncPoint {
  SyncGroup group;
  const void* counter;  // in global memory, or nullptr
  uint32_t cores;
};

/// Set of cores that a cross-core flag reaches; the first three are the mode field of
/// ffts_cross_core_sync. kIntraBlock: from the cube core to one vector core of the block or back.
enum class FlagScope : uint8_t { kAllBlocks, kVectorSubBlocks, kBlockGroup, kIntraBlock };

/// The call that sets a flag of scope.
inline const char* NameOfSet(FlagScope scope) {
  return scope == FlagScope::kIntraBlock ? "set_intra_block" : "ffts_cross_core_sync";
}

/// Bytes that an instruction reads, or may write: rows of row_bytes, the first at begin (its
/// lowest), pitch_bytes apart. An operand whose bytes do not lie so has several. Those of gathers
/// and scatters are the places that their indexes lead to; TIMG2COL names all of its image, and a
/// merge that stops early all of its lists. What kernels touch through plain pointers, and scratch
/// tiles that only the chip needs, are in none.
struct Access {
  Space space = Space::kUb;
  bool is_write = false;
  const void* begin = nullptr;  // also in the memory of another core of the block
  size_t rows = 0;
  size_t row_bytes = 0;
  size_t pitch_bytes = 0;
  bool is_atomic = false;  // others that are so may touch the same bytes at any time
  bool goes_on = false;    // more of the operand of the access before it
  // Of a compact tile: the extent in which its elements lie, its valid region up to whole boxes. Of
  // others 0.
  uint32_t compact_rows = 0;
  uint32_t compact_cols = 0;
};

/// What an instruction does in all: elements it computes or moves, bytes it moves to or from GM,
/// multiply-adds.
struct Work {
  uint64_t elements = 0;
  uint64_t bytes = 0;
  uint64_t macs = 0;
};

/// One executed instruction, as an observer sees it. Valid during the call only.
struct Instruction {
  const char* name;
  Pipe pipe;
  const void* call_site;  // return address in the kernel
  Work work = {};
  const Access* accesses = nullptr;
  size_t access_count = 0;
};

}  // namespace npu
