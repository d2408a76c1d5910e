// SPDX-License-Identifier: Apache-2.0
// Conversions between element types. The mode of a step is a RoundMode, and behind it, in bit 3,
// whether what is beyond the range is saturated.
#include "table.hpp"

namespace fuzz {
namespace {

using namespace pto;

template <class From, class... To>
void AddFrom(Rows& rows) {
  const auto add = [&]<class T>() {
    Add<Nd<T, 4, 96>, Nd<From, 4, 96>>(
        rows, {Form::kConvert, Fn::kNone, "TCVT"}, [](const Operands& operands, auto& c, auto& a) {
          TCVT(c, a, static_cast<RoundMode>(operands.mode & 7),
               (operands.mode & 8) != 0 ? SaturationMode::ON : SaturationMode::OFF);
        });
  };
  ForTypes<To...>(add);
}

}  // namespace

void AddConvert(Rows& rows) {
  AddFrom<float, float, half, bfloat16_t, int16_t, int32_t>(rows);
  AddFrom<half, float, int32_t, int16_t, int8_t, uint8_t>(rows);
  AddFrom<bfloat16_t, float, int32_t>(rows);
  AddFrom<int32_t, float, int16_t>(rows);
  AddFrom<int16_t, half, float>(rows);
  AddFrom<int8_t, half>(rows);
  AddFrom<uint8_t, half>(rows);
}

}  // namespace fuzz
