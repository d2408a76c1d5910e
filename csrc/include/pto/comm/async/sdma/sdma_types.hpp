// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pto/comm/async_session.hpp"
