// SPDX-License-Identifier: Apache-2.0
// libmpi.so as programs load it, without a launcher; with one: test/compat/test_mpirun.py.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "processes.hpp"

namespace {

constexpr int kWorld = 0x44000000, kChar = 0x4c000101, kDouble = 0x4c00080b;

template <class Function>
Function* Find(const char* name) {
  static void* const library = dlopen(NPU_TEST_MPI, RTLD_NOW);
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

TEST(Mpi, AloneIsOneRank) {
  const auto texts = test::OnRanks(1, [](uint32_t) -> std::string {
    unsetenv("NPU_RANKS");
    int rank = -1, size = -1, flag = -1;
    double data = 2.5;
    std::string codes;
    const auto note = [&](int code) { codes += std::to_string(code) + " "; };
    note(Find<int(int)>("MPI_Barrier")(kWorld));  // before MPI_Init
    note(Find<int(int*, char***)>("MPI_Init")(nullptr, nullptr));
    note(Find<int(int*, char***)>("MPI_Init")(nullptr, nullptr));  // twice
    note(Find<int(int, int*)>("MPI_Comm_rank")(kWorld, &rank));
    note(Find<int(int, int*)>("MPI_Comm_size")(kWorld, &size));
    note(Find<int(int, int*)>("MPI_Comm_size")(7, &size));
    note(Find<int(void*, int, int, int, int)>("MPI_Bcast")(&data, 1, kDouble, 0, kWorld));
    note(Find<int(void*, int, int, int, int)>("MPI_Bcast")(&data, -1, kChar, 0, kWorld));
    note(Find<int(void*, int, int, int, int)>("MPI_Bcast")(&data, 1, 3, 0, kWorld));
    note(Find<int(int)>("MPI_Barrier")(kWorld));
    note(Find<int()>("MPI_Finalize")());
    note(Find<int(int)>("MPI_Barrier")(kWorld));
    note(Find<int(int*)>("MPI_Finalized")(&flag));
    return codes + std::to_string(rank) + std::to_string(size) + std::to_string(flag);
  });
  EXPECT_EQ(texts[0], "15 0 15 0 0 5 0 15 15 0 0 15 0 011");
}

TEST(Mpi, RefusesNull) {
  const auto texts = test::OnRanks(1, [](uint32_t) {
    unsetenv("NPU_RANKS");
    testing::internal::CaptureStderr();
    std::string codes;
    const auto note = [&](int code) { codes += std::to_string(code) + " "; };
    note(Find<int(int*)>("MPI_Initialized")(nullptr));
    note(Find<int(int*, char***)>("MPI_Init")(nullptr, nullptr));
    note(Find<int(int, int*)>("MPI_Comm_rank")(kWorld, nullptr));
    note(Find<int(int, int*)>("MPI_Comm_size")(kWorld, nullptr));
    note(Find<int(int*)>("MPI_Finalized")(nullptr));
    return codes + testing::internal::GetCapturedStderr();
  });
  const std::string end = ": expected a pointer for the answer, got NULL\n";
  EXPECT_EQ(texts[0], "12 0 12 12 12 rank 0: MPI_Initialized" + end + "rank 0: MPI_Comm_rank" +
                          end + "rank 0: MPI_Comm_size" + end + "rank 0: MPI_Finalized" + end);
}

TEST(Mpi, AnAbortIsNoSuccess) {
  for (const auto& [code, status] : {std::pair{7, 7}, {0, 1}, {256, 1}, {-1, 255}, {515, 3}}) {
    const pid_t child = fork();
    if (child == 0) Find<int(int, int)>("MPI_Abort")(kWorld, code);
    int ended = 0;
    ASSERT_EQ(waitpid(child, &ended, 0), child);
    EXPECT_TRUE(WIFEXITED(ended));
    EXPECT_EQ(WEXITSTATUS(ended), status) << code;
  }
}

TEST(Mpi, NamesAnEnvironmentThatNoLauncherMakes) {
  const auto init = [](const char* ranks, const char* rank) {
    return test::OnRanks(1, [&](uint32_t) {
      setenv("NPU_RANKS", ranks, 1);
      setenv("NPU_RANK", rank, 1);
      testing::internal::CaptureStderr();
      const int code = Find<int(int*, char***)>("MPI_Init")(nullptr, nullptr);
      return std::to_string(code) + " " + testing::internal::GetCapturedStderr();
    })[0];
  };
  EXPECT_EQ(init("x", "0/2"),
            "15 rank 0: MPI_Init: expected NPU_RANKS and NPU_RANK as the launcher sets them, got x "
            "and 0/2\n");
  EXPECT_NE(init("1:2:3", "").find("got 1:2:3 and \n"), std::string::npos);
  EXPECT_NE(init("1:2:3", "0/2").find("MPI_Init: expected the memory of a group in process 1, got"),
            std::string::npos);
}

}  // namespace
