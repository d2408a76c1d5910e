// SPDX-License-Identifier: Apache-2.0
// Memory that ranks lend each other, and calls that one rank refuses.
#include <gtest/gtest.h>

#include <stdexcept>

#include "connected.hpp"
#include "pto/comm/async/sdma/sdma_workspace_manager.hpp"
#include "pto/comm/async/urma/urma_workspace_manager.hpp"

namespace {

using namespace pto;
using test::Connected;
using test::Error;
using test::Line;
using test::LineTile;
using test::Rank;

TEST(Hccl, RanksLendMemoryOfTheirOwn) {
  const auto texts = Connected(3, [](Rank& own) {
    constexpr size_t kBytes = (size_t{2} << 20) + 1024;
    void* memory = nullptr;
    uint64_t of_ranks[3] = {};
    std::string error = Error(npuMalloc(&memory, kBytes));
    auto* const mine = static_cast<int32_t*>(memory);
    for (int i = 0; i < 256; ++i) mine[i] = static_cast<int32_t>(own.rank) * 1000 + i;
    if (npuHcclLendMemory(own.comm, memory, kBytes, of_ranks) != HCCL_SUCCESS)
      return error + "lend";
    if (of_ranks[own.rank] != reinterpret_cast<uintptr_t>(memory)) error += "moved ";
    const uint32_t next = (own.rank + 1) % 3;
    error += Error(test::Run([&] {
      LineTile tile;
      TASSIGN(tile, 0);
      Line from(mine), to(reinterpret_cast<int32_t*>(of_ranks[next]) + 256);
      comm::TPUT(to, from, tile);
    }));
    HcclBarrier(own.comm, nullptr);
    error += Error(npuDeviceSynchronize());
    for (int i = 0; i < 256; ++i) {
      const int32_t before = static_cast<int32_t>(own.rank + 2) % 3 * 1000 + i;
      if (mine[256 + i] != before) error += std::to_string(i) + " ";
    }
    error += Error(npuFree(memory));
    return error + (HcclCommDestroy(own.comm) == HCCL_SUCCESS ? "good" : "destroy");
  });
  EXPECT_EQ(texts, std::vector<std::string>(3, "good"));
}

TEST(Hccl, WorkspacesAreFreedByTheirFirstOwner) {
  const auto texts = Connected(2, [](Rank& own) {
    void* memory = nullptr;
    std::string error = Error(npuMalloc(&memory, size_t{2} << 20));
    comm::sdma::SdmaWorkspaceManager sdma;
    comm::urma::UrmaWorkspaceManager urma;
    if (!sdma.Init() || !urma.Init(own.comm, own.rank, 2, memory, 1024)) error += "init";
    void* const first = sdma.GetWorkspaceAddr();
    if (!sdma.Init() || sdma.GetWorkspaceAddr() != first) error += "again";
    {
      const comm::urma::UrmaWorkspaceManager copy(urma);
      if (copy.GetWorkspaceAddr() != urma.GetWorkspaceAddr()) error += "copy";
    }
    const auto* words = static_cast<const uint64_t*>(urma.GetWorkspaceAddr());
    if (words[0] != 2 || words[1 + own.rank] != reinterpret_cast<uintptr_t>(memory))
      error += "words";
    if (urma.PeerBaseAddr(0) != words[1] || urma.PeerBaseAddr(2) != 0) error += "peers";
    sdma.Finalize();
    if (sdma.GetWorkspaceAddr() != nullptr) error += "finalize";
    return error + "good";
  });
  EXPECT_EQ(texts, std::vector<std::string>(2, "good"));
}

TEST(Hccl, ARankThatHasNothingToLendIsNamed) {
  const auto texts = Connected(2, [](Rank& own) {
    void* memory = nullptr;
    uint64_t of_ranks[2] = {};
    std::string error = Error(npuMalloc(&memory, size_t{2} << 20));
    void* odd = static_cast<char*>(memory) + 64;
    npuHcclLendMemory(own.comm, own.rank == 0 ? memory : odd, 1024, of_ranks);
    const std::string sentence = npuGetLastErrorMessage();
    return error + sentence.substr(0, sentence.find(" 0x"));
  });
  EXPECT_EQ(texts, (std::vector<std::string>{
                       "npuHcclLendMemory: expected rank 1 to lend memory, got none",
                       "npuHcclLendMemory: expected memory of aclrtMalloc, got 1024 bytes at"}));
}

TEST(Hccl, NobodyWaitsForARankThatRefusesItsCall) {
  const auto texts = Connected(2, [](Rank& own) {
    npuStream_t stream = nullptr;
    std::string error = Error(npuStreamCreate(&stream));
    error += Error(npuStreamDestroy(stream));
    if (own.rank == 1 && HcclBarrier(own.comm, stream) != HCCL_E_PARA) error += "accepted";
    if (own.rank == 1) return error + npuGetLastErrorMessage();
    HcclBarrier(own.comm, nullptr);
    return error + Error(npuDeviceSynchronize());
  });
  EXPECT_EQ(texts[0],
            "host function: expected no exception, got HcclBarrier: expected rank 1 of 2 to come, "
            "got its refusal (" +
                texts[1] + ")");
  const auto lend = Connected(2, [](Rank& own) {
    void* memory = nullptr;
    uint64_t of_ranks[2] = {};
    std::string error = Error(npuMalloc(&memory, size_t{2} << 20));
    npuHcclLendMemory(own.comm, memory, 1024, own.rank == 0 ? of_ranks : nullptr);
    return error + npuGetLastErrorMessage();
  });
  const std::string refusal = "npuHcclLendMemory: expected room for addresses, got NULL";
  EXPECT_EQ(lend[0],
            "npuHcclLendMemory: expected rank 1 of 2 to come, got its refusal (" + refusal + ")");
  EXPECT_EQ(lend[1], refusal);
}

TEST(Hccl, ARankWhoseWorkHasFailedLendsNothing) {
  const auto texts = Connected(2, [](Rank& own) {
    void* memory = nullptr;
    npuStream_t stream = nullptr;
    uint64_t of_ranks[2] = {};
    std::string error = Error(npuMalloc(&memory, size_t{2} << 20));
    error += Error(npuStreamGetDefault(0, &stream));
    if (own.rank == 1) {
      npuLaunchHostFunction(stream, [](void*) { throw std::runtime_error("failure"); }, nullptr);
    }
    npuHcclLendMemory(own.comm, memory, 1024, of_ranks);
    return error + npuGetLastErrorMessage();
  });
  EXPECT_EQ(texts,
            (std::vector<std::string>{"npuHcclLendMemory: expected rank 1 to lend memory, got none",
                                      "host function: expected no exception, got failure"}));
}

}  // namespace
