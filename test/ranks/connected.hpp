// SPDX-License-Identifier: Apache-2.0
// Ranks that have a communicator.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <new>

#include "hccl/hccl.h"
#include "npu_runtime.h"
#include "on_core.hpp"
#include "processes.hpp"

extern "C" HcclResult HcclAllocComResourceByTiling(HcclComm, void*, void*, void**);

namespace test {

/// As programs declare it.
struct Context {
  uint64_t workspace, workspace_bytes;
  uint32_t rank, ranks;
  uint64_t window_bytes;
  uint64_t in[64], out[64];
};

/// Memory by which the root's information comes to the other ranks.
struct Board {
  std::atomic<bool> is_written;
  HcclRootInfo info;
};

inline Board* NewBoard() {
  void* memory =
      mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return new (memory) Board{};
}

struct Rank {
  HcclComm comm;
  Context* context;
  uint32_t rank;

  int32_t* In(uint32_t of) const { return reinterpret_cast<int32_t*>(context->in[of]); }
};

inline std::string Connect(Board& board, uint32_t rank, uint32_t ranks, Rank* result) {
  if (rank == 0) {
    if (HcclGetRootInfo(&board.info) != HCCL_SUCCESS) return "root";
    board.is_written = true;
  }
  while (!board.is_written) usleep(1000);
  if (HcclCommInitRootInfo(ranks, &board.info, rank, &result->comm) != HCCL_SUCCESS) {
    return npuGetLastErrorMessage();
  }
  void* context = nullptr;
  if (HcclAllocComResourceByTiling(result->comm, nullptr, nullptr, &context) != HCCL_SUCCESS) {
    return "context";
  }
  result->context = static_cast<Context*>(context);
  result->rank = rank;
  return "";
}

/// What body(rank) returns in connected processes.
inline std::vector<std::string> Connected(uint32_t ranks,
                                          const std::function<std::string(Rank&)>& body) {
  setenv("HCCL_BUFFSIZE", "2", 1);
  setenv("NPU_PEER_TIMEOUT_MS", "20000", 1);
  Board* board = NewBoard();
  const auto texts = OnRanks(ranks, [&](uint32_t rank) {
    Rank own = {};
    std::string error = Connect(*board, rank, ranks, &own);
    return error.empty() ? body(own) : error;
  });
  munmap(board, sizeof(Board));
  return texts;
}

inline std::string Error(npuError_t code) {
  return code == NPU_SUCCESS ? "" : npuGetLastErrorMessage();
}

using Line =
    pto::GlobalTensor<int32_t, pto::Shape<1, 1, 1, 1, 256>, pto::Stride<256, 256, 256, 256, 1>>;
using LineTile = pto::Tile<pto::TileType::Vec, int32_t, 1, 256>;

}  // namespace test
