// SPDX-License-Identifier: Apache-2.0
// The instruction layer: everything that a tile kernel includes.
#pragma once

#include "pto/global_tensor.hpp"
#include "pto/instr/convert.hpp"
#include "pto/instr/elementwise.hpp"
#include "pto/instr/memory.hpp"
#include "pto/instr/reduce.hpp"
#include "pto/instr/scalar.hpp"
#include "pto/instr/unary.hpp"
#include "pto/sync.hpp"
#include "pto/tile.hpp"
#include "pto/types.hpp"
