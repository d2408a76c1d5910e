// SPDX-License-Identifier: Apache-2.0
#include "ranks/rank_group.hpp"

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <new>
#include <thread>
#include <vector>

#include "group.hpp"

namespace npu::ranks {
namespace {

using test::Die;
using test::OnRanks;

TEST(RankGroup, MeetsAtBarriers) {
  const auto texts = InGroup(4, [](RankGroup& group) {
    auto& count = *reinterpret_cast<std::atomic<int>*>(group.Window(0, 0));
    for (int round = 1; round <= 2000; ++round) {
      ++count;
      if (std::string error = group.Barrier("Barrier"); !error.empty()) return error;
      if (count.load() != 4 * round) return "round " + std::to_string(round);
      if (std::string error = group.Barrier("Barrier"); !error.empty()) return error;
    }
    return std::string("good");
  });
  EXPECT_EQ(texts, std::vector<std::string>(4, "good"));
}

TEST(RankGroup, CopiesFromAnyRoot) {
  const auto texts = InGroup(3, [](RankGroup& group) {
    for (const size_t bytes : {size_t{0}, size_t{1}, kExchangeBytes, kExchangeBytes * 3 + 5}) {
      for (uint32_t root = 0; root < 3; ++root) {
        std::vector<char> data(bytes, static_cast<char>(group.rank() + 1));
        if (group.rank() == root) {
          for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>(i * 31 + root);
        }
        if (auto error = group.Broadcast("Copy", data.data(), bytes, root); !error.empty()) {
          return error;
        }
        for (size_t i = 0; i < bytes; ++i) {
          if (data[i] != static_cast<char>(i * 31 + root)) return "byte " + std::to_string(i);
        }
      }
    }
    return std::string("good");
  });
  EXPECT_EQ(texts, std::vector<std::string>(3, "good"));
}

TEST(RankGroup, SharesWindows) {
  const auto texts = InGroup(3, [](RankGroup& group) {
    for (uint32_t rank = 0; rank < 3; ++rank) {
      group.Window(rank, 0)[group.window_bytes() - 1 - group.rank()] =
          static_cast<std::byte>(10 * rank + group.rank());
    }
    std::string error = group.Barrier("Barrier");
    for (uint32_t rank = 0; rank < 3; ++rank) {
      error += std::to_string(std::to_integer<int>(
                   group.Window(group.rank(), 0)[group.window_bytes() - 1 - rank])) +
               " ";
    }
    return error;
  });
  EXPECT_EQ(texts, (std::vector<std::string>{"0 1 2 ", "10 11 12 ", "20 21 22 "}));
}

TEST(RankGroup, TellsThoseThatWaitForARankThatWasKilled) {
  const auto texts = InGroup(3, [](RankGroup& group) {
    if (group.rank() == 1) Die();
    const std::string first = group.Barrier("Barrier"), second = group.Barrier("Again");
    return first + "; " + second + "; " + group.Lost();
  });
  const std::string sentence = "expected rank 1 of 3 to come, got its end";
  const std::string told = "Barrier: " + sentence + "; Again: " + sentence +
                           "; expected rank 1 of 3 to live, got its end";
  EXPECT_EQ(texts, (std::vector<std::string>{told, "signal 9", told}));
}

TEST(RankGroup, TellsThoseThatWaitForARankThatHasLeft) {
  const auto texts = InGroup(2, [](RankGroup& group) {
    if (group.rank() == 1) return std::string();  // its end says so
    const std::string sentence = group.Barrier("Barrier");
    return sentence + "; " + group.Lost();
  });
  EXPECT_EQ(
      texts[0],
      "Barrier: expected rank 1 of 2 to come, got its departure; expected another rank of the "
      "2 to be there, got none");
}

TEST(RankGroup, TellsThoseThatWaitForARankThatRefusesItsCall) {
  const auto texts = InGroup(3, [](RankGroup& group) {
    int data = 0;
    const std::string first =
        group.rank() == 1 ? group.Broadcast("Copy", &data, sizeof(data), 7) : "";
    return first + "; " + group.Barrier("Barrier") + "; " + group.Lost();
  });
  const std::string refusal = "Copy: expected a root below 3, got 7";
  const std::string told =
      "; Barrier: expected rank 1 of 3 to come, got its refusal (" + refusal + "); ";
  EXPECT_EQ(texts[0].rfind(told, 0), 0u) << texts[0];
  EXPECT_EQ(texts[2].rfind(told, 0), 0u) << texts[2];
  EXPECT_EQ(texts[1].rfind(refusal +
                               "; Barrier: expected no call after one that this rank has refused, "
                               "got another one; " +
                               refusal + "; ",
                           0),
            0u)
      << texts[1];
}

TEST(RankGroup, DoesNotMissWhatARankDidBeforeItsEnd) {
  const auto texts = InGroup(2, [](RankGroup& group) {
    std::string error = group.Barrier("Barrier");
    if (group.rank() == 1) Die();
    return error.empty() ? std::string("good") : error;
  });
  EXPECT_EQ(texts[0], "good");
}

TEST(RankGroup, BarriersOfTwoThreadsTakeTurns) {
  constexpr int kRounds = 300;
  const auto texts = InGroup(2, [](RankGroup& group) {
    auto& come = *reinterpret_cast<std::atomic<int>*>(group.Window(0, 0));
    std::string errors[2];
    if (group.rank() == 1) {
      for (int round = 0; round < 2 * kRounds && errors[0].empty(); ++round) {
        ++come;
        errors[0] = group.Barrier("Barrier");
      }
      return errors[0] + "good";
    }
    std::atomic<int> passed = 0;
    const auto pass = [&](std::string& error) {
      for (int round = 0; round < kRounds && error.empty(); ++round) {
        error = group.Barrier("Barrier");
        if (++passed > come.load()) error += "early";
      }
    };
    std::thread other([&] { pass(errors[1]); });
    pass(errors[0]);
    other.join();
    return errors[0] + errors[1] + "good";
  });
  EXPECT_EQ(texts, std::vector<std::string>(2, "good"));
}

TEST(RankGroup, ARankMayEndInTheMidstOfItsLastCall) {
  const Memory memory;
  const auto texts = OnRanks(2, [&](uint32_t rank) {
    const Membership own = memory.Of(rank, 2);
    std::string error;
    const auto group = RankGroup::Join("Join", own, &error);
    if (group == nullptr) return error;
    error += group->Barrier("Barrier");
    if (rank == 1) {  // has come to the second call, but did not look for the others any more
      GroupState::Rank& state =
          GroupMemory::Open(own.address, 0, &error).release()->state().ranks[rank];
      state.calls[0] = state.calls[1];
      state.turn.store(2);
      Die();
    }
    error += group->Barrier("Barrier");
    return error + group->Barrier("Barrier");
  });
  EXPECT_EQ(texts[0], "Barrier: expected rank 1 of 2 to come, got its end");
}

TEST(RankGroup, NamesRanksThatComeToOtherCalls) {
  const auto texts = InGroup(2, [](RankGroup& group) {
    int data = 0;
    return group.rank() == 0 ? group.Barrier("Barrier")
                             : group.Broadcast("Copy", &data, sizeof(data), 1);
  });
  const std::string sentence =
      "expected all ranks to come to Barrier (as rank 0 does), got Copy of 4 bytes from 1 on rank "
      "1";
  EXPECT_EQ(texts, (std::vector<std::string>{"Barrier: " + sentence, "Copy: " + sentence}));
}

TEST(RankGroup, WaitsForRanksThatDoNotComeForAWhile) {
  const Memory memory;
  Membership alone = memory.Of(0, 2);
  alone.patience = std::chrono::seconds(1);
  const auto texts = OnRanks(1, [&](uint32_t) {
    std::string error;
    const auto group = RankGroup::Join("Join", alone, &error);
    return error + group->Barrier("Barrier");
  });
  EXPECT_EQ(texts[0], "Barrier: expected rank 1 of 2 to come, got none in 1 s");
}

TEST(RankGroup, TellsOneThatComesLateThatTheOthersGaveUp) {
  const Memory memory;
  void* shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& step = *new (shared) std::atomic<int>(0);
  const auto texts = OnRanks(2, [&](uint32_t rank) {
    Membership own = memory.Of(rank, 2);
    own.patience = std::chrono::seconds(1);
    while (step.load() != static_cast<int>(rank)) usleep(1000);
    std::string error;
    const auto group = RankGroup::Join("Join", own, &error);
    error += group->Barrier("First");
    if (rank == 1) error += group->Barrier("Second");
    ++step;
    while (step.load() != 2) usleep(1000);  // rank 0 lives, and has its group
    return error;
  });
  munmap(shared, 4096);
  EXPECT_EQ(texts,
            (std::vector<std::string>{"First: expected rank 1 of 2 to come, got none in 1 s",
                                      "Second: expected rank 0 of 2 to come, got its departure"}));
}

TEST(RankGroup, NoticesTheEndOfItsLauncher) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  test::Process launcher([&] {
    const Memory memory;
    Membership membership = memory.Of(0, 2);
    std::string error;
    auto locked = GroupMemory::Open(membership.address, 0, &error);
    membership.has_launcher = locked->Lock(kLauncherByte);
    if (write(ends[1], &membership.address, sizeof(membership.address)) < 0) return error;
    usleep(300000);
    Die();
  });
  Membership membership;
  ASSERT_EQ(read(ends[0], &membership.address, sizeof(membership.address)),
            static_cast<ssize_t>(sizeof(membership.address)));
  membership.size = 2;
  membership.has_launcher = true;
  const auto texts = OnRanks(1, [&](uint32_t) {
    std::string error;
    const auto group = RankGroup::Join("Join", membership, &error);
    return group == nullptr ? error : group->Barrier("Barrier");
  });
  EXPECT_EQ(texts[0], "Barrier: expected the launcher to live, got its end");
}

std::string JoinAgain(const Membership& first, const Membership& second) {
  return OnRanks(1, [&](uint32_t) {
    std::string error;
    const auto group = RankGroup::Join("Join", first, &error);
    if (group == nullptr) return error;
    const auto other = OnRanks(1, [&](uint32_t) {
      const auto again = RankGroup::Join("Join", second, &error);
      return again == nullptr ? error : std::string("joined");
    });
    return other[0];
  })[0];
}

TEST(RankGroup, NamesWhatItRefuses) {
  const Memory memory;
  const Membership first = memory.Of(0, 2);
  EXPECT_EQ(JoinAgain(memory.Of(2, 2), first), "Join: expected a rank below 2, got 2");
  EXPECT_EQ(JoinAgain(memory.Of(0, 65), first), "Join: expected 1 to 64 ranks, got 65");
  EXPECT_EQ(JoinAgain(memory.Of(0, 0), first), "Join: expected 1 to 64 ranks, got 0");
  Membership gone = first;
  gone.address.inode += 1;
  EXPECT_NE(JoinAgain(gone, first).find("got another file"), std::string::npos);
  gone.address.process = 0x7ffffff;
  EXPECT_NE(JoinAgain(gone, first).find("got No such file or directory"), std::string::npos);
  // A child of the rank has the group, but is another process.
  EXPECT_EQ(JoinAgain(first, memory.Of(1, 2)),
            "Join: expected one rank of a group in a process, got another one");
}

TEST(RankGroup, NamesRanksThatDoNotAgree) {
  const Memory memory;
  const auto join = [&](uint32_t rank, uint32_t size) {
    return OnRanks(1, [&](uint32_t) {
      std::string error;
      const auto group = RankGroup::Join("Join", memory.Of(rank, size), &error);
      return group == nullptr ? error : std::string("joined");
    })[0];
  };
  EXPECT_EQ(join(0, 3), "joined");
  EXPECT_EQ(join(1, 4), "Join: expected a group of 3 ranks (as the first rank says), got 4");
  EXPECT_EQ(join(0, 3), "Join: expected rank 0 of 3 to join once, got it again");
}

TEST(RankGroup, AChildOfARankIsNone) {
  const auto texts = InGroup(1, [](RankGroup& group) {
    return OnRanks(1, [&](uint32_t) { return group.Barrier("Barrier"); })[0] + ", " +
           group.Barrier("Barrier") + "good";
  });
  EXPECT_EQ(texts[0], "Barrier: expected the process that joined, got one forked from it, good");
}

/// Processes that have the memory open or mapped.
size_t Holders(uint64_t inode) {
  size_t holders = 0;
  const std::string number = std::to_string(inode);
  std::error_code ignored;  // processes end meanwhile, or are those of others
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    if (std::isdigit(static_cast<unsigned char>(process.path().filename().native()[0])) == 0)
      continue;
    bool holds = false;
    struct stat status = {};
    for (const auto& entry : std::filesystem::directory_iterator(process.path() / "fd", ignored)) {
      holds |=
          stat(entry.path().c_str(), &status) == 0 && status.st_ino == inode &&
          std::filesystem::read_symlink(entry, ignored).string().rfind("/memfd:npu_ranks", 0) == 0;
    }
    std::ifstream maps(process.path() / "maps");
    for (std::string line; !holds && std::getline(maps, line);) {
      holds = line.find(number) != std::string::npos &&
              line.find("/memfd:npu_ranks") != std::string::npos;
    }
    holders += holds;
  }
  return holders;
}

TEST(RankGroup, LeavesNoMemoryBehind) {
  uint64_t inode = 0;
  {
    const Memory memory;
    inode = memory.Of(0, 2).address.inode;
    const auto texts = OnRanks(2, [&](uint32_t rank) -> std::string {
      std::string error;
      const auto group = RankGroup::Join("Join", memory.Of(rank, 2), &error);
      group->Window(rank, 0)[0] = std::byte{1};
      if (group->Barrier("Barrier").empty() && Holders(inode) >= 2) Die();
      return "not seen";
    });
    EXPECT_EQ(texts, std::vector<std::string>(2, "signal 9"));
    EXPECT_EQ(Holders(inode), 1u);
  }
  EXPECT_EQ(Holders(inode), 0u);
}

}  // namespace
}  // namespace npu::ranks
