// SPDX-License-Identifier: Apache-2.0
// A path that kernels include.
#pragma once

#include "pto/constants.hpp"
#include "pto/pad.hpp"
#include "pto/types.hpp"
