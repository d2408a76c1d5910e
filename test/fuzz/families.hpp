// SPDX-License-Identifier: Apache-2.0
// One function a file of the table: it adds the instructions that the file compiles.
#pragma once

#include <vector>

#include "program.hpp"

namespace fuzz {

using Rows = std::vector<Instantiation>;

void AddTiles(Rows& rows);
void AddIntegers(Rows& rows);
void AddBits(Rows& rows);
void AddScalars(Rows& rows);
void AddScalarBits(Rows& rows);
void AddUnary(Rows& rows);
void AddCompare(Rows& rows);
void AddReduce(Rows& rows);
void AddExpand(Rows& rows);
void AddExpandWith(Rows& rows);
void AddConvert(Rows& rows);
void AddRearrange(Rows& rows);
void AddParts(Rows& rows);
void AddMemory(Rows& rows);
void AddOperands(Rows& rows);
void AddProducts(Rows& rows);

}  // namespace fuzz
