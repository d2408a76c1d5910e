// SPDX-License-Identifier: Apache-2.0
// A path that kernels include.
#pragma once

#include "pto/types.hpp"

#ifdef __CPU_SIM
#include "pto/cpu/cpu_sim.hpp"
#endif
