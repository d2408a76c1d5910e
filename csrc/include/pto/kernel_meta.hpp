// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the chip's linker is told of a kernel's cores. Here the launch tells.
#define PTO_SYNCALL_AIV_KERNEL_META(kernel) static_assert(true, #kernel)
#define PTO_SYNCALL_AIC_KERNEL_META(kernel) static_assert(true, #kernel)
#define PTO_SYNCALL_MIX_AIC_KERNEL_META(kernel, cube, vector) static_assert(true, #kernel)
