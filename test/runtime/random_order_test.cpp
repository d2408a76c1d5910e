// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime_test.hpp"

extern "C" {
extern const npuKernel npu_kernel_ordered_add;
extern const npuKernel npu_kernel_ping_pong_add;
extern const npuKernel npu_kernel_steered_copy;
extern const npuKernel npu_kernel_barrier_add;
extern const npuKernel npu_kernel_hand_on;
extern const npuKernel npu_kernel_fault_in_pipe;
extern const npuKernel npu_kernel_swallow_in_pipe;
extern const npuKernel npu_kernel_send_products;
extern const npuKernel npu_kernel_tell_products;
extern const npuKernel npu_kernel_store_products;
extern const npuKernel npu_kernel_cross_wait_in_order;
}

namespace npu_test {
namespace {

constexpr int kTile = 64;
constexpr int kSide = 16, kElements = kSide * kSide;
constexpr uint64_t kSeeds = 20;

using Floats = std::vector<float>;

Floats Counting(int count, float first) {
  Floats numbers(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) numbers[static_cast<size_t>(i)] = first + static_cast<float>(i);
  return numbers;
}

bool SameBits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class RandomOrder : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_OK(npuRandomOrderStop()); }

  /// The order of seed from now on.
  static npuError_t Start(uint64_t seed) {
    EXPECT_OK(npuRandomOrderStop());
    return npuRandomOrderStart(seed);
  }

  /// What kernel makes of params behind a result of size elements, under seed.
  template <class... Params>
  Floats Run(uint64_t seed, const npuKernel& kernel, uint32_t blocks, size_t size,
             Params... params) {
    Floats z(size, -1.0f);
    EXPECT_OK(npuRandomOrderStart(seed));
    EXPECT_OK(Launch(stream_, kernel, blocks, z.data(), params...));
    EXPECT_OK(npuStreamSynchronize(stream_));
    EXPECT_OK(npuRandomOrderStop());
    return z;
  }

  /// For how many seeds the result is not the one expected.
  template <class... Params>
  uint64_t Wrong(const Floats& expected, const npuKernel& kernel, uint32_t blocks,
                 Params... params) {
    uint64_t wrong = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      wrong += !SameBits(Run(seed, kernel, blocks, expected.size(), params...), expected);
    }
    return wrong;
  }

  OwnStream stream_;
};

class OrderedAdd : public RandomOrder {
 protected:
  uint64_t WrongAdds(int loaded, int added) {
    constexpr int kBlocks = 3;
    Floats x = Counting(kBlocks * kTile, 1), y = Counting(kBlocks * kTile, 1000), sum = x;
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += y[i];
    return Wrong(sum, npu_kernel_ordered_add, kBlocks, x.data(), y.data(), loaded, added);
  }
};

TEST_F(OrderedAdd, IsRightWithBothFlags) { EXPECT_EQ(WrongAdds(1, 1), 0u); }
TEST_F(OrderedAdd, IsWrongWithoutTheFlagFromLoads) { EXPECT_GT(WrongAdds(0, 1), 0u); }
TEST_F(OrderedAdd, IsWrongWithoutTheFlagToStores) { EXPECT_GT(WrongAdds(1, 0), 0u); }
TEST_F(OrderedAdd, IsRightWithFlagsInALoopOfTwo) { EXPECT_EQ(WrongAdds(2, 1), 0u); }

TEST_F(RandomOrder, BuffersThatAreHeldKeepTheirNumbers) {
  constexpr int kTiles = 16;
  Floats x = Counting(kTiles * kTile, 0), expected = Counting(kTiles * kTile, 1);
  EXPECT_EQ(Wrong(expected, npu_kernel_ping_pong_add, 1, x.data(), kTiles, 1), 0u);
  EXPECT_GT(Wrong(expected, npu_kernel_ping_pong_add, 1, x.data(), kTiles, 0), 0u);
}

TEST_F(RandomOrder, ScalarReadsSteerLoopsOnceTheirFlagIsMet) {
  constexpr int kTiles = 9;
  Floats x = Counting(kTiles * kTile, 0), expected(x.size(), -1.0f);
  const std::pair<size_t, float> kSteps[] = {{0, 1}, {1, 2}, {3, 3}, {6, 0}};
  for (const auto& [tile, step] : kSteps) x[tile * kTile] = step;
  for (size_t i = 0;; i += static_cast<size_t>(x[i * kTile])) {
    std::copy_n(x.begin() + static_cast<ptrdiff_t>(i * kTile), kTile,
                expected.begin() + static_cast<ptrdiff_t>(i * kTile));
    expected[(i + 1) * kTile - 1] = x[i * kTile];
    if (x[i * kTile] == 0) break;
  }
  EXPECT_EQ(Wrong(expected, npu_kernel_steered_copy, 1, x.data(), kTiles, 1), 0u);
  EXPECT_GT(Wrong(expected, npu_kernel_steered_copy, 1, x.data(), kTiles, 0), 0u);
}

TEST_F(RandomOrder, ABarrierOfAllPipesOrdersThem) {
  constexpr int kBlocks = 5;
  Floats x = Counting(kBlocks * kTile, 0), expected = Counting(kBlocks * kTile, 2);
  EXPECT_EQ(Wrong(expected, npu_kernel_barrier_add, kBlocks, x.data(), 1), 0u);
  EXPECT_GT(Wrong(expected, npu_kernel_barrier_add, kBlocks, x.data(), 0), 0u);
}

TEST_F(RandomOrder, BlocksThatMeetSeeWhatOthersStored) {
  for (const uint32_t blocks : {2u, 48u}) {
    Floats x = Counting(static_cast<int>(blocks) * kTile, 0), buffer(x.size(), -2.0f), expected = x;
    std::rotate(expected.begin(), expected.begin() + kTile, expected.end());
    EXPECT_EQ(Wrong(expected, npu_kernel_hand_on, blocks, x.data(), buffer.data(), 1), 0u);
    uint64_t wrong = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      std::fill(buffer.begin(), buffer.end(), -2.0f);
      wrong += !SameBits(
          expected, Run(seed, npu_kernel_hand_on, blocks, x.size(), x.data(), buffer.data(), 0));
    }
    EXPECT_GT(wrong, 0u) << blocks;
  }
}

class Products : public RandomOrder {
 protected:
  static constexpr int kCount = 3;
  static constexpr uint32_t kBlocks = 2;
  static constexpr size_t kAll = kBlocks * kCount * kElements;

  Products() : a_(kAll), b_(kAll), slots_(kBlocks * 2 * kElements), expected_(kAll) {
    for (size_t i = 0; i < kAll; ++i) {
      a_[i] = static_cast<float>(i % 13) - 6;  // sums stay whole numbers: exact
      b_[i] = static_cast<float>(i % 7) - 3;
    }
    for (size_t i = 0; i < kAll; ++i) {
      const size_t matrix = i / kElements * kElements, row = i % kElements / kSide, col = i % kSide;
      expected_[i] = static_cast<float>(i / kElements % kCount);
      for (size_t k = 0; k < kSide; ++k) {
        expected_[i] += a_[matrix + row * kSide + k] * b_[matrix + k * kSide + col];
      }
    }
  }

  Floats a_, b_, slots_, expected_;
};

TEST_F(Products, ArriveThroughPipes) {
  EXPECT_EQ(Wrong(expected_, npu_kernel_send_products, kBlocks, a_.data(), b_.data(), slots_.data(),
                  kCount),
            0u);
}

TEST_F(Products, ArriveByCrossCoreFlagsAndNotWithout) {
  const auto wrong = [&](int tells) {
    return Wrong(expected_, npu_kernel_tell_products, kBlocks, a_.data(), b_.data(), slots_.data(),
                 kCount, tells);
  };
  EXPECT_EQ(wrong(1), 0u);
  EXPECT_GT(wrong(0), 0u);
}

TEST_F(Products, AreStoredByTheUnitFlagAndNotWithout) {
  Floats products = expected_;
  for (size_t i = 0; i < kAll; ++i) products[i] -= static_cast<float>(i / kElements % kCount);
  const auto wrong = [&](int waits) {
    return Wrong(products, npu_kernel_store_products, kBlocks, a_.data(), b_.data(), kCount, waits);
  };
  EXPECT_EQ(wrong(1), 0u);
  EXPECT_GT(wrong(0), 0u);
}

TEST_F(RandomOrder, KernelsOfManyCoresKeepInStep) {
  std::vector<uint32_t> cells(1024);
  uint32_t errors = 0;
  for (uint64_t seed = 0; seed < 3; ++seed) {
    ASSERT_OK(Start(seed));
    ASSERT_OK(Launch(stream_, npu_kernel_ping_pong, 30, cells.data(), &errors, 10u));
    ASSERT_OK(Launch(stream_, npu_kernel_vector_pair, 4, cells.data(), &errors, 10u));
    ASSERT_OK(Launch(stream_, npu_kernel_sync_mix, 24, cells.data(), &errors, 3u));
    ASSERT_OK(Launch(stream_, npu_kernel_meet_at_flag, 40, cells.data(), &errors));
    ASSERT_OK(npuStreamSynchronize(stream_));
  }
  EXPECT_EQ(errors, 0u);
}

TEST_F(RandomOrder, OneSeedIsOneOrder) {
  Floats x = Counting(kTile, 1), y = Counting(kTile, 1000);
  bool differs = false;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto run = [&](uint64_t of) {
      return Run(of, npu_kernel_ordered_add, 1, x.size(), x.data(), y.data(), 0, 0);
    };
    EXPECT_TRUE(SameBits(run(seed), run(seed))) << seed;
    differs = differs || !SameBits(run(seed), run(seed + 1));
  }
  EXPECT_TRUE(differs);
}

TEST_F(RandomOrder, NamesTheInstructionOfAFault) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Floats x = Counting(6 * kTile, 1), z = x;
    x[4 * kTile] = -1;
    ASSERT_OK(Start(seed));
    ASSERT_OK(Launch(stream_, npu_kernel_fault_in_pipe, 6, z.data(), x.data()));
    EXPECT_ERROR(npuStreamSynchronize(stream_), NPU_ERROR_KERNEL_FAULT,
                 "fault_in_pipe, block 4, instruction 4: TADDS: expected");
    ExpectGoodLaunch(stream_);
  }
}

TEST_F(RandomOrder, RefusesKernelsThatSwallowFaultsOfQueuedInstructions) {
  Floats x = Counting(kTile, 1);
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    ASSERT_OK(Start(seed));
    ASSERT_OK(Launch(stream_, npu_kernel_swallow_in_pipe, 1, x.data()));
    const npuError_t error = npuStreamSynchronize(stream_);
    if (error == NPU_SUCCESS) continue;  // the queue was empty: it ran in its place
    EXPECT_EQ(error, NPU_ERROR_KERNEL_FAULT);
    EXPECT_NE(std::string(npuGetLastErrorMessage()).find("catch no fault of an instruction"),
              std::string::npos)
        << npuGetLastErrorMessage();
  }
  ExpectGoodLaunch(stream_);
}

TEST_F(RandomOrder, EndsKernelsThatThrow) {
  const struct {
    const npuKernel& kernel;
    const char* sentence;
  } kFaults[] = {
      {npu_kernel_throw_int, "expected no exception out of the kernel, got one of unknown type"},
      {npu_kernel_throw_runtime_error, "expected no exception out of the kernel, got "},
      {npu_kernel_fault_in_destructor, "expected no exception out of a noexcept function, got "},
      {npu_kernel_swallow, "block 1, instruction 0: TEST: expected block 0 to swallow"},
  };
  for (const auto& fault : kFaults) {
    ASSERT_OK(Start(7));
    ASSERT_OK(Launch(stream_, fault.kernel, 2));
    EXPECT_ERROR(npuStreamSynchronize(stream_), NPU_ERROR_KERNEL_FAULT, fault.sentence);
    ExpectGoodLaunch(stream_);
  }
}

TEST_F(RandomOrder, KeepsExceptionsOfCoresApart) {
  uint32_t errors = 0;
  ASSERT_OK(Start(7));
  ASSERT_OK(Launch(stream_, npu_kernel_exceptions, 8, &errors, 20u));
  ASSERT_OK(npuStreamSynchronize(stream_));
  EXPECT_EQ(errors, 0u);
}

TEST_F(RandomOrder, ReportsCoresThatWaitForEachOther) {
  float x = 0;
  ASSERT_OK(Start(1));
  ASSERT_OK(Launch(stream_, npu_kernel_cross_wait_in_order, 2, &x));
  EXPECT_ERROR(npuStreamSynchronize(stream_), NPU_ERROR_DEADLOCK,
               "block 0, cube core waits for cross-core flag 5 at instruction 3");
  ExpectGoodLaunch(stream_);
}

TEST_F(RandomOrder, StreamsOfSeveralThreadsHaveOrdersOfTheirOwn) {
  constexpr int kBlocks = 4, kThreads = 3;
  Floats x = Counting(kBlocks * kTile, 1), y = Counting(kBlocks * kTile, 1000), sum = x;
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += y[i];
  ASSERT_OK(Start(3));
  std::vector<std::thread> threads;
  std::vector<int> wrong(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      const OwnStream stream;
      for (int launch = 0; launch < 20; ++launch) {
        Floats z(x.size());
        EXPECT_OK(
            Launch(stream, npu_kernel_ordered_add, kBlocks, z.data(), x.data(), y.data(), 1, 1));
        EXPECT_OK(npuStreamSynchronize(stream));
        wrong[static_cast<size_t>(thread)] += !SameBits(z, sum);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : wrong) EXPECT_EQ(count, 0);
}

TEST_F(RandomOrder, IsOneAtATime) {
  ASSERT_OK(npuRandomOrderStart(1));
  EXPECT_ERROR(npuRandomOrderStart(2), NPU_ERROR_INVALID_VALUE,
               "npuRandomOrderStart: expected no random order that is on already, got one");
}

TEST_F(RandomOrder, CountsInstructionsAsUsual) {
  Floats x = Counting(kTile, 1), y = x;
  uint64_t executions = 0, elements = 0;
  ASSERT_OK(npuInstructionCountStart());
  Run(5, npu_kernel_ordered_add, 1, x.size(), x.data(), y.data(), 1, 1);
  ASSERT_OK(npuInstructionCountStop());
  ASSERT_OK(npuInstructionCountGet("TLOAD", &executions, &elements));
  EXPECT_EQ(executions, 2u);
}

}  // namespace
}  // namespace npu_test
