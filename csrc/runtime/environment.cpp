// SPDX-License-Identifier: Apache-2.0
#include "runtime/environment.hpp"

#include <strings.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace npu::runtime {
namespace {

constexpr int kMaxDevices = 64;
constexpr int kMaxSpinTimeoutMs = 24 * 60 * 60 * 1000;

/// Value of variable name; null when unset or empty.
const char* Get(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

void Refuse(Environment& environment, const char* name, const std::string& expected,
            const char* got) {
  if (!environment.error.empty()) return;
  environment.error = std::string(name) + ": expected " + expected + ", got " + got;
}

void ReadInt(Environment& environment, const char* name, int low, int high, int& result) {
  const char* value = Get(name);
  if (value == nullptr) return;
  int number = 0;
  const char* end = value + std::strlen(value);
  const auto [rest, error] = std::from_chars(value, end, number);
  if (error != std::errc() || rest != end || number < low || number > high) {
    Refuse(environment, name, "an integer " + std::to_string(low) + " to " + std::to_string(high),
           value);
    return;
  }
  result = number;
}

/// Whether value is how soc begins, or soc with the number of a model: "Ascend950PR_9599".
bool Names(const char* value, const char* soc) {
  const size_t length = std::strlen(soc);
  const bool is_model = std::strlen(value) > length + 1 && value[length] == '_';
  return strncasecmp(soc, value, is_model ? length : std::strlen(value)) == 0;
}

void ReadSoc(Environment& environment) {
  const char* value = Get("NPU_SOC");
  environment.arch = &kArchTable[0];
  if (value == nullptr) return;
  std::string names;
  for (const Arch& arch : kArchTable) {
    if (Names(value, arch.soc)) {
      environment.arch = &arch;
      return;
    }
    names += (names.empty() ? "" : ", ") + std::string(arch.soc);
  }
  Refuse(environment, "NPU_SOC", "one of " + names, value);
}

void ReadCheck(Environment& environment) {
  const char* value = Get("NPU_CHECK");
  if (value == nullptr) return;
  if (strcasecmp(value, "off") == 0) {
    environment.check_limits = false;
  } else if (strcasecmp(value, "hazards") == 0) {
    environment.check_hazards = true;
  } else if (strcasecmp(value, "limits") != 0) {
    Refuse(environment, "NPU_CHECK", "one of off, limits, hazards", value);
  }
}

/// The bit of a kind; 0 when there is none of that name.
uint32_t HazardBit(std::string_view name) {
  constexpr std::pair<std::string_view, uint32_t> kNames[] = {
      {"order", NPU_HAZARD_ORDER},     {"unwritten", NPU_HAZARD_UNWRITTEN},
      {"overlap", NPU_HAZARD_OVERLAP}, {"flag", NPU_HAZARD_FLAG},
      {"range", NPU_HAZARD_RANGE},     {"vector_order", NPU_HAZARD_VECTOR_ORDER}};
  for (const auto& [known, bit] : kNames) {
    if (known == name) return bit;
  }
  return 0;
}

void ReadHazards(Environment& environment) {
  if (const char* folder = Get("NPU_HAZARD_REPORT")) environment.hazard_report = folder;
  const char* value = Get("NPU_HAZARD_KINDS");
  if (value == nullptr) return;
  environment.hazard_kinds = 0;
  std::string_view rest = value;
  for (bool more = true; more;) {
    const size_t comma = rest.find(',');
    const uint32_t bit = HazardBit(rest.substr(0, comma));
    if (bit == 0) {
      Refuse(environment, "NPU_HAZARD_KINDS",
             "some of order, unwritten, overlap, flag, range, vector_order, parted by commas",
             value);
    }
    environment.hazard_kinds |= bit;
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
  }
}

Environment Read() {
  Environment environment;
  ReadInt(environment, "NPU_DEVICE_COUNT", 1, kMaxDevices, environment.device_count);
  ReadSoc(environment);
  ReadCheck(environment);
  ReadHazards(environment);
  ReadInt(environment, "NPU_SPIN_TIMEOUT_MS", 1, kMaxSpinTimeoutMs, environment.spin_timeout_ms);
  ReadInt(environment, "NPU_PEER_TIMEOUT_MS", 1, kMaxSpinTimeoutMs, environment.peer_timeout_ms);
  int blocking = 0;
  ReadInt(environment, "ASCEND_LAUNCH_BLOCKING", 0, 1, blocking);
  environment.launch_blocking = blocking != 0;
  return environment;
}

}  // namespace

const Environment& GetEnvironment() {
  static const auto* const environment = new Environment(Read());  // outlives static destructors
  return *environment;
}

}  // namespace npu::runtime
