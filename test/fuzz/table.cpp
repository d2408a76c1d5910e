// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"

namespace fuzz {

const std::vector<Instantiation>& Table() {
  static const Rows rows = [] {
    Rows all;
    for (const auto add : {AddTiles, AddIntegers, AddBits, AddScalars, AddScalarBits, AddUnary,
                           AddCompare, AddReduce, AddExpand, AddExpandWith, AddConvert,
                           AddRearrange, AddParts, AddMemory, AddOperands, AddProducts}) {
      add(all);
    }
    return all;
  }();
  return rows;
}

}  // namespace fuzz
