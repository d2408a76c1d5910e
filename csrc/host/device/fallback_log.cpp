// SPDX-License-Identifier: Apache-2.0
#include "device/fallback_log.h"

#include <torch/library.h>

#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "device/registration.h"

namespace npu_backend {

std::atomic<int> open_fallback_logs = 0;

namespace {

struct Counts {
  std::mutex mutex;
  std::map<std::string, int64_t> by_operator;
};

/// Since the library was loaded; a log subtracts what was counted when it was opened.
Counts& TheCounts() {
  static Counts& counts = *new Counts;
  return counts;
}

std::tuple<std::vector<std::string>, std::vector<int64_t>> FallbackCounts() {
  Counts& counts = TheCounts();
  const std::lock_guard lock(counts.mutex);
  std::tuple<std::vector<std::string>, std::vector<int64_t>> result;
  for (const auto& [name, count] : counts.by_operator) {
    std::get<0>(result).push_back(name);
    std::get<1>(result).push_back(count);
  }
  return result;
}

void Define() {
  torch::Library& own = Extend("npu_backend");
  own.def("fallback_log_open() -> ()", +[] { ++open_fallback_logs; });
  own.def("fallback_log_close() -> ()", +[] { --open_fallback_logs; });
  own.def("fallback_log_counts() -> (str[] operators, int[] calls)", &FallbackCounts);
}

const Registration registration NPU_REGISTRATION(kDeviceOwner, {}, &Define);

}  // namespace

void CountFallback(const c10::OperatorName& name) {
  const std::string key =
      name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
  Counts& counts = TheCounts();
  const std::lock_guard lock(counts.mutex);
  ++counts.by_operator[key];
}

}  // namespace npu_backend
