// SPDX-License-Identifier: Apache-2.0
// The instruction layer: everything that a tile kernel includes.
#pragma once

#include "pto/constants.hpp"
#include "pto/event.hpp"
#include "pto/global_tensor.hpp"
#include "pto/instr/assign.hpp"
#include "pto/instr/convert.hpp"
#include "pto/instr/elementwise.hpp"
#include "pto/instr/extract.hpp"
#include "pto/instr/load.hpp"
#include "pto/instr/matmul.hpp"
#include "pto/instr/move.hpp"
#include "pto/instr/reduce.hpp"
#include "pto/instr/scalar.hpp"
#include "pto/instr/store.hpp"
#include "pto/instr/unary.hpp"
#include "pto/pad.hpp"
#include "pto/sync.hpp"
#include "pto/tile.hpp"
#include "pto/traits.hpp"
#include "pto/types.hpp"
