// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pto/comm/async_transfer.hpp"
#include "pto/comm/put_get.hpp"
#include "pto/comm/reduce.hpp"
#include "pto/comm/signal.hpp"
