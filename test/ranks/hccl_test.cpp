// SPDX-License-Identifier: Apache-2.0
// Kernels of several processes that reach each other's windows.
#include "hccl/hccl.h"

#include <gtest/gtest.h>

#include "connected.hpp"

extern "C" HcclResult HcomGetCommHandleByGroup(const char*, HcclComm*);
extern "C" HcclResult HcomGetL0TopoTypeEx(const char*, uint32_t*, uint32_t);
extern "C" int32_t rtSetDevice(int32_t);
extern "C" int32_t rtStreamCreate(void**, int32_t);
extern "C" int32_t rtStreamDestroy(void*);

namespace {

using namespace pto;
using test::Connected;
using test::Error;
using test::Line;
using test::LineTile;
using test::Rank;

/// Passes numbers around a ring: each rank waits for those of the one before, adds 1 and puts them
/// into the window of the next.
void PassOn(const Rank& own, int round) {
  const uint32_t ranks = own.context->ranks, next = (own.rank + 1) % ranks;
  LineTile tile;
  TASSIGN(tile, 0);
  Line mine(own.In(own.rank) + 256), theirs(own.In(next) + 256);
  comm::Signal arrived(own.In(own.rank)), sent(own.In(next));
  if (own.rank != 0 || round != 0) {
    comm::TWAIT(arrived, round + (own.rank != 0), comm::WaitCmp::GE);
    TLOAD(tile, mine);
    PtoSetWaitFlag<PIPE_MTE2, PIPE_V>();
    TADDS(tile, tile, 1);
    PtoSetWaitFlag<PIPE_V, PIPE_MTE3>();
    TSTORE(mine, tile);
    PtoSetWaitFlag<PIPE_MTE3, PIPE_MTE2>();
  }
  comm::TPUT(theirs, mine, tile);
  comm::TNOTIFY(sent, 1, comm::NotifyOp::AtomicAdd);
}

TEST(Hccl, KernelsReachWindowsOfOtherRanks) {
  constexpr int kRounds = 30;
  const auto texts = Connected(3, [](Rank& own) {
    std::string error = Error(test::Run([&] {
      for (int round = 0; round < kRounds; ++round) PassOn(own, round);
      comm::Signal last(own.In(own.rank));
      comm::TWAIT(last, kRounds, comm::WaitCmp::EQ);
    }));
    const std::string first = std::to_string(own.In(own.rank)[256]);
    if (HcclCommDestroy(own.comm) != HCCL_SUCCESS) error += "destroy";
    return error + first;
  });
  // Rank 1 gets what rank 0 has; each of the three adds 1 in a round, but rank 0 in the first.
  EXPECT_EQ(texts, (std::vector<std::string>{std::to_string(3 * kRounds - 1),
                                             std::to_string(3 * kRounds - 2),
                                             std::to_string(3 * kRounds - 1)}));
}

TEST(Hccl, ABarrierIsWorkOfAStream) {
  const auto texts = Connected(4, [](Rank& own) {
    void* stream = nullptr;
    if (rtSetDevice(0) != 0 || rtStreamCreate(&stream, 0) != 0) return std::string("stream");
    std::string error;
    for (int round = 1; round <= 50; ++round) {
      __atomic_fetch_add(own.In(0), 1, __ATOMIC_SEQ_CST);
      if (HcclBarrier(own.comm, stream) != HCCL_SUCCESS) error += "barrier";
      error += Error(npuStreamSynchronize(static_cast<npuStream_t>(stream)));
      if (__atomic_load_n(own.In(0), __ATOMIC_SEQ_CST) < 4 * round) error += "early ";
      if (HcclBarrier(own.comm, nullptr) != HCCL_SUCCESS) error += "barrier";
      error += Error(npuDeviceSynchronize());
    }
    if (rtStreamDestroy(stream) != 0) error += "destroy";
    return error + "good";
  });
  EXPECT_EQ(texts, std::vector<std::string>(4, "good"));
}

TEST(Hccl, ACommunicatorEndsAfterTheWorkOfAllDevices) {
  const auto texts = Connected(1, [](Rank& own) {
    npuStream_t stream = nullptr;
    std::string error = Error(npuStreamCreate(&stream));
    npuLaunchHostFunction(stream, [](void*) { usleep(100000); }, nullptr);
    if (HcclBarrier(own.comm, stream) != HCCL_SUCCESS) error += "barrier";
    if (rtSetDevice(1) != 0) error += "device";
    if (HcclCommDestroy(own.comm) != HCCL_SUCCESS) error += "destroy";
    error += Error(npuStreamQuery(stream));
    error += Error(npuStreamSynchronize(stream));
    int device = 0;
    npuGetDevice(&device);
    return error + std::to_string(device);
  });
  EXPECT_EQ(texts[0], "1");
}

TEST(Hccl, ACommunicatorThatIsInUseIsKept) {
  const auto texts = Connected(1, [](Rank& own) {
    npuStream_t stream = nullptr;
    std::string error = Error(npuStreamCreate(&stream));
    struct Attempt {
      HcclComm comm;
      HcclResult code;
    } attempt = {own.comm, HCCL_SUCCESS};
    npuLaunchHostFunction(
        stream,
        [](void* argument) {
          auto& in_task = *static_cast<Attempt*>(argument);
          if (HcclBarrier(in_task.comm, nullptr) != HCCL_SUCCESS) return;
          in_task.code = HcclCommDestroy(in_task.comm);
        },
        &attempt);
    error += Error(npuStreamSynchronize(stream));
    error += std::to_string(attempt.code);
    if (HcclBarrier(own.comm, stream) != HCCL_SUCCESS) error += "barrier";
    error += Error(npuStreamSynchronize(stream));
    return error + std::to_string(HcclCommDestroy(own.comm));
  });
  EXPECT_EQ(texts[0], "40");
}

TEST(Hccl, NobodyWaitsForARankThatWasKilled) {
  const auto texts = Connected(3, [](Rank& own) {
    if (own.rank == 1) test::Die();
    std::string text;
    if (own.rank == 0) {
      text = Error(test::Run([&] {
        comm::Signal signal(own.In(0));
        comm::TWAIT(signal, 1, comm::WaitCmp::EQ);
      }));
    } else {
      HcclBarrier(own.comm, nullptr);
      text = Error(npuDeviceSynchronize());
    }
    return text;
  });
  EXPECT_EQ(texts[0],
            "kernel_under_test, block 0, instruction 1: TWAIT for a signal == 1 (0 at first): "
            "expected rank 1 of 3 to live, got its end");
  EXPECT_EQ(texts[2],
            "host function: expected no exception, got HcclBarrier: expected rank 1 of 3 to come, "
            "got its end");
}

TEST(Hccl, AKernelMayWaitForAnotherProcessThatIsSlow) {
  setenv("NPU_SPIN_TIMEOUT_MS", "100", 1);
  const auto texts = Connected(2, [](Rank& own) {
    if (own.rank == 1) usleep(700000);
    return Error(test::Run([&] {
      comm::Signal mine(own.In(own.rank)), other(own.In(1 - own.rank));
      comm::TNOTIFY(other, 5, comm::NotifyOp::Set);
      comm::TWAIT(mine, 5, comm::WaitCmp::EQ);
    }));
  });
  EXPECT_EQ(texts, std::vector<std::string>(2, ""));
  unsetenv("NPU_SPIN_TIMEOUT_MS");
}

TEST(Hccl, WindowsHaveEnds) {
  const auto texts = Connected(2, [](Rank& own) {
    std::string text = Error(test::Run([&] {
      LineTile tile;
      TASSIGN(tile, 0);
      Line beyond(own.In(1) + (own.context->window_bytes / 4 - 255));
      TLOAD(tile, beyond);
    }));
    HcclBarrier(own.comm, nullptr);
    return text + Error(npuDeviceSynchronize());
  });
  for (const std::string& text : texts) {
    test::ExpectContains(
        text, "TLOAD: expected global memory within the 2097152 bytes of its allocation");
  }
}

TEST(Hccl, TellsOfItsGroup) {
  const auto texts = Connected(2, [](Rank& own) {
    uint32_t rank = 9, ranks = 9, topology = 0;
    char name[128] = {};
    HcclComm same = nullptr;
    HcclGetRankId(own.comm, &rank);
    HcclGetRankSize(own.comm, &ranks);
    HcclGetCommName(own.comm, name);
    HcomGetCommHandleByGroup(name, &same);
    HcomGetL0TopoTypeEx(name, &topology, 0);
    const bool good = rank == own.rank && own.context->rank == rank && ranks == 2 &&
                      own.context->ranks == 2 && same == own.comm && topology == 1 &&
                      own.context->window_bytes == size_t{2} << 20;
    return std::string(good ? "good" : "bad");
  });
  EXPECT_EQ(texts, std::vector<std::string>(2, "good"));
}

TEST(Hccl, NamesWhatItRefuses) {
  const auto texts = test::OnRanks(1, [](uint32_t) {
    const auto got = [](HcclResult code) {
      return std::to_string(code) + " " + npuGetLastErrorMessage() + "\n";
    };
    HcclRootInfo info = {};
    HcclComm comm = nullptr;
    std::string text = got(HcclCommInitRootInfo(1, &info, 0, &comm));
    text += got(HcclGetRootInfo(nullptr));
    text += got(HcclBarrier(reinterpret_cast<HcclComm>(0x1234), nullptr));
    text += got(HcomGetCommHandleByGroup("none", &comm));
    setenv("HCCL_BUFFSIZE", "0", 1);
    text += got(HcclGetRootInfo(&info));
    setenv("HCCL_BUFFSIZE", "2", 1);
    HcclGetRootInfo(&info);
    text += got(HcclCommInitRootInfo(2, &info, 2, &comm));
    setenv("HCCL_CONNECT_TIMEOUT", "1", 1);
    text += got(HcclCommInitRootInfo(2, &info, 0, &comm));
    return text;
  });
  EXPECT_EQ(texts[0],
            "1 HcclCommInitRootInfo: expected what HcclGetRootInfo has made, got ''\n"
            "2 HcclGetRootInfo: expected pointers for what it gives, got NULL\n"
            "1 HcclBarrier: expected a communicator from HcclCommInitRootInfo, got 0x1234\n"
            "6 HcomGetCommHandleByGroup: expected the name of a communicator, got none\n"
            "1 HcclGetRootInfo: expected HCCL_BUFFSIZE from 1 to 1048576, got 0\n"
            "4 HcclCommInitRootInfo: expected a rank below 2, got 2\n"
            "4 HcclCommInitRootInfo: expected rank 1 of 2 to come, got none in 1 s\n");
}

}  // namespace
