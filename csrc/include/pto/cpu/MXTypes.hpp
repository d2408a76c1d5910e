// SPDX-License-Identifier: Apache-2.0
// A path that programs for simulators include, and a name that they know without its namespace.
#pragma once

#include "pto/tile_facts.hpp"

using pto::IsTwinType;
