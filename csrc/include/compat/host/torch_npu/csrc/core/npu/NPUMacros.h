// SPDX-License-Identifier: Apache-2.0
#pragma once

#define C10_NPU_EXPORT __attribute__((__visibility__("default")))
#define C10_NPU_IMPORT C10_NPU_EXPORT
#define C10_NPU_API C10_NPU_IMPORT
#define TORCH_NPU_API C10_NPU_API
