// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace npu {

/// A set of instructions of the host that kernels are compiled for, by the name that -march takes.
struct IsaLevel {
  const char* name;
  bool (*is_here)();
};

/// Those of this architecture, the best first.
inline constexpr IsaLevel kIsaLevels[] = {
#if defined(__x86_64__)
    {"x86-64-v4", [] { return __builtin_cpu_supports("x86-64-v4") != 0; }},
    {"x86-64-v3", [] { return __builtin_cpu_supports("x86-64-v3") != 0; }},
    {"x86-64-v2", [] { return __builtin_cpu_supports("x86-64-v2") != 0; }},
#else
    {"aarch64", [] { return true; }},
#endif
};

}  // namespace npu
