// SPDX-License-Identifier: Apache-2.0
// A path that programs for simulators include.
#pragma once

#include "pto/types.hpp"
