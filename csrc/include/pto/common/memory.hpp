// SPDX-License-Identifier: Apache-2.0
// A path that kernels include.
#pragma once

#include "pto/pto-inst.hpp"
