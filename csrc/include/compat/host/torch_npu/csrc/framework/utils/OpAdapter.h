// SPDX-License-Identifier: Apache-2.0
// A path that host code includes.
#pragma once

#include "torch_npu/csrc/framework/OpCommand.h"
#include "torch_npu/csrc/framework/utils/OpPreparation.h"
