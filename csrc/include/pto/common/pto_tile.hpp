// SPDX-License-Identifier: Apache-2.0
// A path that kernels include.
#pragma once

#include "pto/global_tensor.hpp"
#include "pto/tile.hpp"
#include "pto/traits.hpp"
