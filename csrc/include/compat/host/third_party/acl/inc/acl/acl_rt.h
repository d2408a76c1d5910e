// SPDX-License-Identifier: Apache-2.0
// A path that host code includes.
#pragma once

#include "acl/acl_rt.h"
