// SPDX-License-Identifier: Apache-2.0
#include "access_audit.hpp"

#include <gtest/gtest.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "npu/core.hpp"
#include "npu/error.hpp"
#include "npu/observer.hpp"

namespace test::audit {

namespace {

constexpr uint8_t kRead = 1, kWritten = 2;
constexpr size_t kMostGlobal = size_t{1} << 22;  // bytes between the ends of an access

/// Memory that an instruction may touch, and what it says of each byte.
struct Area {
  npu::Space space;
  std::byte* data;
  std::vector<uint8_t> marks;
  std::vector<std::byte> before, after;  // the first execution

  size_t size() const { return marks.size(); }
  bool Holds(const void* place) const {
    const auto at = reinterpret_cast<uintptr_t>(place), from = reinterpret_cast<uintptr_t>(data);
    return at >= from && at < from + size();
  }
};

const char* EndOf(const npu::Access& access) {
  return static_cast<const char*>(access.begin) + (access.rows - 1) * access.pitch_bytes +
         access.row_bytes;
}

void Mark(Area& area, const npu::Access& access) {
  const size_t first = static_cast<const std::byte*>(access.begin) - area.data;
  for (size_t row = 0; row < access.rows; ++row) {
    for (size_t at = 0; at < access.row_bytes; ++at) {
      const size_t byte = first + row * access.pitch_bytes + at;
      if (byte >= area.size()) return;  // beyond its space: a fault follows
      area.marks[byte] |= access.is_write ? kWritten : kRead;
      if (access.is_atomic) area.marks[byte] |= kRead;
    }
  }
}

/// Bytes without meaning, the same in every run.
const std::vector<std::byte>& Noise() {
  static const std::vector<std::byte> noise = [] {
    std::vector<std::byte> bytes((size_t{1} << 20) + 4096);
    uint32_t state = 1;
    for (std::byte& byte : bytes) {
      state = state * 1664525u + 1013904223u;
      byte = static_cast<std::byte>(state >> 24);
    }
    return bytes;
  }();
  return noise;
}
std::byte NoiseAt(size_t at) { return Noise()[at % Noise().size()]; }

/// How often a byte that is said to be read was changed, and how often that mattered.
struct Samples {
  int taken = 0, mattered = 0;
};

std::mutex mutex;
std::map<std::string, Samples> samples;              // by instruction and operand
std::map<const void*, int> executions;               // by call site
std::set<std::pair<const void*, std::string>> told;  // once
uint64_t audits = 0;

bool IsReadable(std::byte* data, size_t bytes) {
  std::vector<std::byte> copy(bytes);
  const iovec to = {copy.data(), bytes}, from = {data, bytes};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == static_cast<ssize_t>(bytes);
}

class Audit {
 public:
  Audit(const npu::Instruction& instruction, Function execute)
      : core_(*npu::current_core), instruction_(instruction), execute_(execute) {}

  void Run() {
    FindAreas();
    const npu::Core before = core_;
    for (Area& area : areas_) area.before.assign(area.data, area.data + area.size());
    execute_();
    const npu::Core after = core_;
    for (Area& area : areas_) area.after.assign(area.data, area.data + area.size());
    ExpectOnlyWritten();
    ExpectAllGlobalBytes();
    core_ = before;
    ExpectTheSameAmongNoise();
    for (size_t i = 0; i < instruction_.access_count; ++i) {
      if (instruction_.accesses[i].is_write || instruction_.accesses[i].is_atomic) continue;
      core_ = before;
      SampleRead(i);
    }
    core_ = after;
    for (Area& area : areas_) std::copy(area.after.begin(), area.after.end(), area.data);
  }

 private:
  /// All of the core's memory, that of other cores of the block where it is touched, and global
  /// memory from end to end of each access.
  void FindAreas() {
    for (int i = 0; i < npu::kOnChipSpaces; ++i) {
      AddArea(static_cast<npu::Space>(i), core_.scratchpad[i], core_.arch->capacity[i]);
    }
    for (size_t i = 0; i < instruction_.access_count; ++i) {
      const npu::Access& access = instruction_.accesses[i];
      if (access.space == npu::Space::kGm) AddGlobal(access);
      if (access.space == npu::Space::kUb && core_.type == npu::CoreType::kCube) {
        for (uint32_t j = 0; j < 2; ++j) AddOther(access, core_.scheduler->VectorBuffer(core_, j));
      }
      if (access.space == npu::Space::kL1 && core_.type == npu::CoreType::kVector) {
        AddOther(access, core_.scheduler->CubeBuffer(core_));
      }
    }
    for (size_t i = 0; i < instruction_.access_count; ++i) {
      for (Area& area : areas_) {
        if (area.Holds(instruction_.accesses[i].begin)) Mark(area, instruction_.accesses[i]);
      }
    }
  }
  void AddArea(npu::Space space, std::byte* data, size_t size) {
    if (data == nullptr || size == 0) return;
    areas_.push_back({space, data, std::vector<uint8_t>(size), {}, {}});
  }
  void AddOther(const npu::Access& access, std::byte* buffer) {
    for (const Area& area : areas_) {
      if (area.data == buffer) return;
    }
    AddArea(access.space, buffer, core_.arch->capacity[static_cast<int>(access.space)]);
  }
  void AddGlobal(const npu::Access& access) {
    auto* begin = const_cast<std::byte*>(static_cast<const std::byte*>(access.begin));
    auto* end = reinterpret_cast<std::byte*>(const_cast<char*>(EndOf(access)));
    if (begin == nullptr || end < begin || end > begin + kMostGlobal) return;
    if (!IsReadable(begin, static_cast<size_t>(end - begin))) return;  // a fault follows
    for (Area& area : areas_) {                                        // one area for what overlaps
      if (area.space != npu::Space::kGm || end <= area.data || begin >= area.data + area.size())
        continue;
      begin = std::min(begin, area.data);
      end = std::max(end, area.data + area.size());
      area.marks.clear();
    }
    areas_.erase(std::remove_if(areas_.begin(), areas_.end(),
                                [](const Area& area) { return area.size() == 0; }),
                 areas_.end());
    AddArea(npu::Space::kGm, begin, static_cast<size_t>(end - begin));
  }

  void ExpectOnlyWritten() {
    for (const Area& area : areas_) {
      if (std::memcmp(area.before.data(), area.after.data(), area.size()) == 0) continue;
      for (size_t i = 0; i < area.size(); ++i) {
        if (area.before[i] != area.after[i] && (area.marks[i] & kWritten) == 0)
          return Tell(area, i, "writes, and does not say so,");
      }
    }
  }

  /// A transfer to or from global memory says as many bytes as it moves.
  void ExpectAllGlobalBytes() {
    const std::string_view name = instruction_.name;
    const bool moves = name.substr(0, 5) == "TLOAD" || name.substr(0, 6) == "TSTORE" ||
                       name.substr(0, 5) == "copy_";
    uint64_t bytes = 0;
    for (size_t i = 0; i < instruction_.access_count; ++i) {
      const npu::Access& access = instruction_.accesses[i];
      if (access.space == npu::Space::kGm) bytes += access.rows * access.row_bytes;
    }
    if (!moves || bytes == instruction_.work.bytes || bytes == 0) return;
    TellOnce("says " + std::to_string(bytes) + " bytes of global memory, moves " +
             std::to_string(instruction_.work.bytes));
  }

  /// Among other bytes than those it reads, the instruction writes the same.
  void ExpectTheSameAmongNoise() {
    for (Area& area : areas_) {
      for (size_t i = 0; i < area.size(); ++i) {
        area.data[i] = MayChange(area, i) ? NoiseAt(i) : area.before[i];
      }
    }
    if (!ExecuteAgain("reads what it does not say: ")) return;
    for (const Area& area : areas_) {
      for (size_t i = 0; i < area.size(); ++i) {
        const std::byte now = area.data[i];
        if ((area.marks[i] & kWritten) != 0) {
          if (now == area.after[i]) continue;
          const bool stayed = area.before[i] == area.after[i] && now == NoiseAt(i);
          return Tell(area, i,
                      stayed ? "says that it writes, and does not,"
                             : "reads more than it says, which changes");
        }
        if (now != (MayChange(area, i) ? NoiseAt(i) : area.before[i]))
          return Tell(area, i, "writes, and does not say so, of other bytes,");
      }
    }
  }
  /// Global memory that is only read may be constant.
  static bool MayChange(const Area& area, size_t i) {
    if ((area.marks[i] & kRead) != 0) return false;
    return area.space != npu::Space::kGm || (area.marks[i] & kWritten) != 0;
  }

  /// Changes a byte that access is said to read and looks whether that matters.
  void SampleRead(size_t index) {
    const npu::Access& access = instruction_.accesses[index];
    // Another index may lead to where no memory is.
    static const std::set<std::string_view> kFollows = {"MGATHER", "MSCATTER"};
    if (access.space == npu::Space::kGm || kFollows.count(instruction_.name) != 0) return;
    const std::string name = std::string(instruction_.name) + " " + npu::SpaceName(access.space) +
                             ", access " + std::to_string(index);
    constexpr int kMost = 300;
    for (int i = 0; i < 2; ++i) {
      size_t pick = 0;
      {
        const std::lock_guard<std::mutex> lock(mutex);
        if (samples[name].taken++ >= kMost) return;
        pick = static_cast<size_t>(NoiseAt(audits * 7 + 3)) * 256 +
               static_cast<size_t>(NoiseAt(audits * 13 + 1));
        ++audits;
      }
      const size_t row = pick % access.rows, at = pick / 3 % access.row_bytes;
      const bool mattered =
          Matters(static_cast<const std::byte*>(access.begin) + row * access.pitch_bytes + at);
      const std::lock_guard<std::mutex> lock(mutex);
      samples[name].mattered += mattered;
    }
  }
  bool Matters(const std::byte* byte) {
    for (Area& area : areas_) std::copy(area.before.begin(), area.before.end(), area.data);
    for (Area& area : areas_) {
      if (area.Holds(byte)) area.data[byte - area.data] ^= std::byte{0xff};
    }
    try {
      execute_();
    } catch (const npu::Fault&) {
      return true;
    }
    for (const Area& area : areas_) {
      for (size_t i = 0; i < area.size(); ++i) {
        if ((area.marks[i] & kWritten) != 0 && area.data[i] != area.after[i]) return true;
      }
    }
    return false;
  }

  bool ExecuteAgain(const char* what) {
    try {
      execute_();
    } catch (const npu::Fault& fault) {
      TellOnce(what + std::string(fault.what()));
      return false;
    }
    return true;
  }

  void Tell(const Area& area, size_t at, const char* what) {
    size_t end = at;
    while (end < area.size() && area.marks[end] == area.marks[at]) ++end;
    TellOnce(std::string(what) + " bytes from " + std::to_string(at) + " on of " +
             npu::SpaceName(area.space) + ", marked alike up to " + std::to_string(end));
  }
  void TellOnce(const std::string& what) {
    const std::lock_guard<std::mutex> lock(mutex);
    const std::string kind = what.substr(0, what.find(','));
    if (!told.emplace(instruction_.call_site, instruction_.name + kind).second) return;
    ADD_FAILURE() << instruction_.name << " " << what;
  }

  npu::Core& core_;
  const npu::Instruction& instruction_;
  Function execute_;
  std::vector<Area> areas_;
};

class Listener final : public npu::InstructionObserver {
  void OnInstruction(const npu::Core&, const npu::Instruction&) override {}
};

[[maybe_unused]] const bool makes_listen = [] {
  if (!IsOn()) return false;
  make_listen = [] {
    static Listener listener;
    if (npu::current_core->observer == nullptr) npu::current_core->observer = &listener;
  };
  return true;
}();

/// Whether instruction may be executed more than once: it waits for nobody and prints nothing.
bool IsRepeatable(const npu::Instruction& instruction) {
  static const std::set<std::string_view> kOnce = {"TNOTIFY", "TTEST", "TWAIT", "TPRINT"};
  return kOnce.count(instruction.name) == 0;
}

}  // namespace

bool IsOn() {
  static const bool is_on = std::getenv("NPU_TEST_AUDIT") != nullptr;
  return is_on;
}

void Execute(const npu::Instruction& instruction, Function execute) {
  constexpr int kMost = 6;  // at a call site, and then one in so many
  int number = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    number = executions[instruction.call_site]++;
  }
  EXPECT_TRUE(IsPipeOf(instruction.name, instruction.pipe))
      << instruction.name << " in " << npu::PipeName(instruction.pipe);
  if (!IsRepeatable(instruction) || (number >= kMost && number % 16 != 0)) return execute();
  Audit(instruction, execute).Run();
}

namespace {

/// Told at the end of all tests: operands whose bytes never mattered.
class Summary final : public testing::Environment {
 public:
  void TearDown() override {
    for (const auto& [name, found] : samples) {
      if (std::getenv("NPU_TEST_AUDIT_SAMPLES") != nullptr)
        std::printf("audit: %s: %d of %d mattered\n", name.c_str(), found.mattered, found.taken);
      // Against another scalar the tests' elements compare as before.
      if (name == "TCMPS UB, access 2") continue;
      EXPECT_TRUE(found.taken < 20 || found.mattered != 0) << name << " says that it reads";
    }
  }
};
[[maybe_unused]] const testing::Environment* const summary =
    testing::AddGlobalTestEnvironment(new Summary);

}  // namespace

}  // namespace test::audit
