// SPDX-License-Identifier: Apache-2.0
// That the audit of accesses finds what it looks for.
#include <gtest/gtest-spi.h>

#include <cstring>
#include <functional>

#include "access_audit.hpp"
#include "on_core.hpp"

namespace {

/// An instruction on 32 bytes of UB each: dst = execute(src), which says that it touches list.
void Audited(const npu::AccessList& list, const std::function<void(char*, char*)>& execute) {
  auto* const ub =
      reinterpret_cast<char*>(npu::current_core->scratchpad[static_cast<int>(npu::Space::kUb)]);
  const auto run = [&] { execute(ub, ub + 32); };
  // Each call is a call site of its own.
  static char call_sites[16];
  static int next = 0;
  test::audit::Execute(
      {"TTESTED", npu::Pipe::kV, &call_sites[next++], {}, list.begin(), list.size()},
      test::audit::Function(run));
}

npu::AccessList Bytes(size_t written, size_t read) {
  const std::byte* ub = npu::current_core->scratchpad[static_cast<int>(npu::Space::kUb)];
  npu::AccessList list;
  list.AddOperand(npu::Access{npu::Space::kUb, true, ub, 1, written, written});
  list.AddOperand(npu::Access{npu::Space::kUb, false, ub + 32, 1, read, read});
  return list;
}

void Copy(char* to, const char* from) { std::memcpy(to, from, 16); }

TEST(AccessAudit, AcceptsExactlyWhatIsTouched) {
  test::OnCore([] { Audited(Bytes(16, 16), Copy); });
}

TEST(AccessAudit, FindsAWriteThatIsNotSaid) {
  test::OnCore([] {
    EXPECT_NONFATAL_FAILURE(Audited(Bytes(15, 16), Copy), "writes, and does not say so,");
  });
}

TEST(AccessAudit, FindsAWriteThatIsSaidAndNotDone) {
  test::OnCore([] {
    EXPECT_NONFATAL_FAILURE(Audited(Bytes(17, 16), Copy), "says that it writes, and does not,");
  });
}

TEST(AccessAudit, FindsAReadThatIsNotSaid) {
  test::OnCore(
      [] { EXPECT_NONFATAL_FAILURE(Audited(Bytes(16, 15), Copy), "reads more than it says"); });
}

TEST(AccessAudit, LeavesMemoryAsOneExecutionDoes) {
  test::OnCore([] {
    auto* const ub = npu::current_core->scratchpad[static_cast<int>(npu::Space::kUb)];
    std::memset(ub, 7, 64);
    int executions = 0;
    Audited(Bytes(1, 32), [&](char* to, const char* from) {
      *to = static_cast<char>(*from + 1);
      ++executions;
    });
    EXPECT_GT(executions, 1);
    EXPECT_EQ(ub[0], std::byte{8});
    for (int i = 1; i < 64; ++i) EXPECT_EQ(ub[i], std::byte{7});
  });
}

TEST(AccessAudit, KnowsThePipesOfEvents) {
  EXPECT_TRUE(test::audit::IsPipeOf("TADD", npu::Pipe::kV));
  EXPECT_FALSE(test::audit::IsPipeOf("TADD", npu::Pipe::kMte2));
  EXPECT_FALSE(test::audit::IsPipeOf("TSTORE", npu::Pipe::kMte2));
}

}  // namespace
