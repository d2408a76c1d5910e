// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace npu::runtime {

/// Who has switched the hazard checker on, and what a launch with findings does: the environment,
/// for the whole process, or a call, until its stop.
class HazardSession {
 public:
  static void Start(uint32_t kinds, bool quiet);
  /// Goes back to what the environment says.
  static void Stop();
  /// At the first use of the device.
  static void StartOfEnvironment();
  /// Whether launches with findings end well.
  static bool IsQuiet();
  /// After a launch with findings: writes the report that the environment asks for, so that it is
  /// there however the process ends.
  static void Write();
};

}  // namespace npu::runtime
