// SPDX-License-Identifier: Apache-2.0
#include <pto/pto-inst.hpp>

static_assert(sizeof(half) == 2 && sizeof(bfloat16_t) == 2,
              "16-bit floats take two bytes in global memory");
