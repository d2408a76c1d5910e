// SPDX-License-Identifier: Apache-2.0
#include "runtime/fiber.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/fiber_image.hpp"

namespace npu::runtime {
namespace {

/// A fiber that runs body again and again; Resume runs it until its next Pause.
class Runner {
 public:
  explicit Runner(void (*body)(Runner&)) : body_(body), fiber_(&Runner::Start, this) {}
  void Resume() { Fiber::Switch(main_, fiber_); }
  void Pause() { Fiber::Switch(fiber_, main_); }
  Fiber& fiber() { return fiber_; }
  std::vector<std::string> log;
  uintptr_t seen = 0;

 private:
  static void Start(void* self) {
    auto* runner = static_cast<Runner*>(self);
    for (;;) {
      runner->body_(*runner);
      runner->Pause();
    }
  }
  void (*body_)(Runner&);
  Fiber main_;
  Fiber fiber_;
};

TEST(Fiber, KeepsItsLocalsAcrossSwitches) {
  Runner runner([](Runner& self) {
    for (int i = 0; i < 3; ++i) {
      self.log.push_back("fiber " + std::to_string(i));
      self.Pause();
    }
  });
  for (int i = 0; i < 3; ++i) {
    runner.Resume();
    runner.log.push_back("main " + std::to_string(i));
  }
  EXPECT_EQ(runner.log, (std::vector<std::string>{"fiber 0", "main 0", "fiber 1", "main 1",
                                                  "fiber 2", "main 2"}));
}

TEST(FiberImage, GoesOnFromWhereItWasTakenAsOftenAsItIsPutBack) {
  Runner runner([](Runner& self) {
    for (volatile uintptr_t local = 1;; local = local + 1) {
      self.seen = local;
      self.Pause();
    }
  });
  const auto next = [&] {
    runner.Resume();
    return runner.seen;
  };
  next();
  FiberImage second, fourth;
  EXPECT_EQ(next(), 2u);
  second.Take(runner.fiber());
  next();
  next();
  fourth.Take(runner.fiber());
  for (int i = 0; i < 3; ++i) {
    second.PutBack(runner.fiber());
    EXPECT_EQ(next(), 3u);
    fourth.PutBack(runner.fiber());
    EXPECT_EQ(next(), 5u);
  }
}

TEST(Fiber, StartsWithAnAlignedStack) {
  Runner runner([](Runner& self) {
    alignas(16) volatile char local[16] = {};
    self.seen = reinterpret_cast<uintptr_t>(&local[0]);
  });
  runner.Resume();
  EXPECT_EQ(runner.seen % 16, 0u);
}

TEST(Fiber, KeepsExceptionsOfTwoFibersApart) {
  const auto body = [](Runner& self) {
    try {
      throw std::runtime_error(self.log.front());
    } catch (const std::exception& outer) {
      self.Pause();  // the other fiber is in its handler now
      try {
        throw;
      } catch (const std::exception& again) {
        self.log.push_back(std::string(outer.what()) + again.what());
      }
    }
  };
  Runner a(body);
  Runner b(body);
  for (int round = 0; round < 1000; ++round) {
    a.log = {"a"};
    b.log = {"b"};
    a.Resume();
    b.Resume();
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    EXPECT_EQ(std::current_exception(), nullptr);
    a.Resume();
    b.Resume();
    EXPECT_EQ(a.log.back(), "aa");
    EXPECT_EQ(b.log.back(), "bb");
    a.Resume();
    b.Resume();
  }
}

TEST(Fiber, KeepsTheRoundingModeOfEachSide) {
  Runner runner([](Runner& self) {
    std::fesetround(FE_UPWARD);
    self.Pause();
    self.seen = static_cast<uintptr_t>(std::fegetround());
    std::fesetround(FE_TONEAREST);
  });
  runner.Resume();
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  std::fesetround(FE_DOWNWARD);
  runner.Resume();
  EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
  EXPECT_EQ(runner.seen, static_cast<uintptr_t>(FE_UPWARD));
  std::fesetround(FE_TONEAREST);
}

TEST(Fiber, IsReusedWithoutEnd) {
  Runner runner([](Runner& self) { ++self.seen; });
  for (int i = 0; i < 20000; ++i) runner.Resume();
  EXPECT_EQ(runner.seen, 20000u);
}

TEST(Fiber, HasAStackOf200KiB) {
  Runner runner([](Runner& self) {
    volatile char large[200 * 1024];
    for (size_t i = 0; i < sizeof(large); i += 1024) large[i] = 1;
    self.seen = static_cast<uintptr_t>(large[1024]);
  });
  runner.Resume();
  EXPECT_EQ(runner.seen, 1u);
}

}  // namespace
}  // namespace npu::runtime
