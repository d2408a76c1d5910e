// SPDX-License-Identifier: Apache-2.0
// A path that kernels written with the vendor's toolkit include. AscendC's class Matmul is not
// there; kernels that include it for what it brings along find that here.
#pragma once

#include "kernel_operator.h"
