// SPDX-License-Identifier: Apache-2.0
// Random tile programs, on the device and on a model of it.
//   fuzz [--programs N] [--first SEED]   runs N programs, from SEED on
//   fuzz --seed SEED                     runs one, and prints its steps
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>

#include "draw.hpp"
#include "launch.hpp"

namespace fuzz {
namespace {

constexpr int kMostProblems = 5;
constexpr uint64_t kProgramsForAll = 200;  // among which are some of each sort

struct Counts {
  uint64_t programs = 0, steps = 0, faults = 0, checked = 0, racy = 0, in_random_order = 0;
};

class Fuzzer {
 public:
  explicit Fuzzer(bool is_a5) : is_a5_(is_a5) {}

  /// True if the program of seed does what the model says.
  bool Try(uint64_t seed, bool prints) {
    Program program = Draw(seed, is_a5_, machine_);
    if (prints) std::printf("%s", Describe(program).c_str());
    const std::string problem = ProblemOf(program, &counts_);
    if (problem.empty()) return true;
    Shrink(program);
    std::printf("fuzz: seed %llu: %s\n  without the steps that do not matter: %s\n%s\n",
                static_cast<unsigned long long>(seed), problem.c_str(),
                ProblemOf(program, nullptr).c_str(), Describe(program).c_str());
    std::fflush(stdout);
    return false;
  }

  const Counts& counts() const { return counts_; }

 private:
  std::string ProblemOf(const Program& program, Counts* counts) {
    machine_ = StartOf(program.is_cube, program.is_a5);
    const Outcome outcome = Execute(program, machine_);
    std::string problem = Compare(program, outcome, machine_, launcher_.Run(program), true);
    Expected expected;
    if (!outcome.fault) expected = ExpectedFindings(program, outcome.touched);
    Random random(program.seed ^ 0x5bd1e995);
    const bool checks = random.Chance(30);
    const bool reorders = expected.may.empty() && !expected.sets_again && random.Chance(15);
    if (counts != nullptr) {
      ++counts->programs;
      counts->steps += program.steps.size();
      counts->faults += outcome.fault.has_value();
      counts->checked += checks;
      counts->racy += checks && !expected.may.empty();
      counts->in_random_order += reorders;
    }
    if (problem.empty() && checks) problem = CheckedProblemOf(program, outcome, expected);
    if (problem.empty() && reorders) {
      Require(npuRandomOrderStart(program.seed), "npuRandomOrderStart");
      problem = Compare(program, outcome, machine_, launcher_.Run(program), false);
      Require(npuRandomOrderStop(), "npuRandomOrderStop");
      if (!problem.empty()) problem = "in random order: " + problem;
    }
    return problem;
  }

  std::string CheckedProblemOf(const Program& program, const Outcome& outcome,
                               const Expected& expected) {
    // Quiet: to name the lines of a finding in a sentence takes longer than all the rest.
    Require(npuHazardsStart(NPU_HAZARD_ORDER | NPU_HAZARD_UNWRITTEN | NPU_HAZARD_FLAG |
                            NPU_HAZARD_RANGE | NPU_HAZARD_QUIET),
            "npuHazardsStart");
    const Launched& launched = launcher_.Run(program);
    std::string problem = Compare(program, outcome, machine_, launched, true);
    if (problem.empty() && !outcome.fault) problem = CompareFindings(expected);
    npuHazardsStop();
    return problem.empty() ? "" : "under the checker: " + problem;
  }

  /// Drops steps for as long as a problem stays.
  void Shrink(Program& program) {
    for (bool shrinks = true; shrinks;) {
      shrinks = false;
      for (size_t i = program.steps.size(); i-- > 0;) {
        Program shorter = program;
        shorter.steps.erase(shorter.steps.begin() + static_cast<ptrdiff_t>(i));
        if (ProblemOf(shorter, nullptr).empty()) continue;
        program = shorter;
        shrinks = true;
      }
    }
  }

  bool is_a5_;
  Launcher launcher_;
  Machine machine_;  // of the model; here so that its memory is there already
  Counts counts_;
};

bool IsA5() {
  const char* soc = nullptr;
  return npuGetSocName(&soc) == NPU_SUCCESS && std::strcmp(soc, "Ascend950PR") == 0;
}

int Run(uint64_t first, uint64_t programs, bool prints) {
  Fuzzer fuzzer(IsA5());
  int problems = 0;
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t seed = first; seed < first + programs && problems < kMostProblems; ++seed)
    problems += fuzzer.Try(seed, prints) ? 0 : 1;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const Counts& counts = fuzzer.counts();
  std::printf(
      "%zu instantiations, %llu programs, %llu steps, %llu faults, %llu checked, of these %llu "
      "unordered, %llu in random order, %.1f s: %d problems\n",
      Table().size(), static_cast<unsigned long long>(counts.programs),
      static_cast<unsigned long long>(counts.steps), static_cast<unsigned long long>(counts.faults),
      static_cast<unsigned long long>(counts.checked), static_cast<unsigned long long>(counts.racy),
      static_cast<unsigned long long>(counts.in_random_order), seconds.count(), problems);
  if (problems > 0) return 1;
  const bool has_all = counts.faults > 0 && counts.checked > 0 && counts.racy > 0 &&
                       counts.racy < counts.checked && counts.in_random_order > 0;
  if (has_all || programs < kProgramsForAll) return 0;
  std::printf("fuzz: expected some programs of each sort, got none of one\n");
  return 1;
}

struct Request {
  uint64_t first = 0, programs = 1000;
  bool prints = false;
};

/// Nothing unless text is digits, and few enough.
std::optional<uint64_t> NumberOf(const char* text) {
  const char* end = text + std::strlen(text);
  uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text, end, number);
  if (stop != end || error != std::errc()) return std::nullopt;
  return number;
}

/// False if option takes no such number.
bool Take(Request& request, const std::string& option, uint64_t value) {
  if (option == "--programs") {
    request.programs = value;
    return value > 0;
  }
  if (option != "--first" && option != "--seed") return false;
  request.first = value;
  request.prints = option == "--seed";
  if (request.prints) request.programs = 1;
  return true;
}

}  // namespace
}  // namespace fuzz

int main(int argc, char** argv) {
  // Without addr2line faults name no lines: to find them takes longer than all the rest.
  setenv("PATH", "/", 1);
  fuzz::Request request;
  for (int i = 1; i < argc; i += 2) {
    const char* text = i + 1 < argc ? argv[i + 1] : "";
    const std::optional<uint64_t> value = fuzz::NumberOf(text);
    if (value && fuzz::Take(request, argv[i], *value)) continue;
    std::fprintf(
        stderr, "fuzz: expected --programs N (1 or more), --first SEED or --seed SEED, got %s %s\n",
        argv[i], text);
    return 2;
  }
  return fuzz::Run(request.first, request.programs, request.prints);
}
