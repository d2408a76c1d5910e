// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pto/comm/pto_comm_inst.hpp"
