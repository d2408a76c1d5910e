// SPDX-License-Identifier: Apache-2.0
// The part of the vendor's runtime interface that programs with tile kernels use, over
// npu_runtime.h. Errors are the numbers of npuError_t, or ACL_ERROR_INVALID_PARAM;
// aclGetRecentErrMsg gives the sentence. A null stream is the default one of the current device.
#pragma once

#include "acl/acl_base.h"
#include "acl/acl_rt.h"

inline aclError aclInit(const char*) { return ACL_SUCCESS; }
inline aclError aclFinalize() { return ACL_SUCCESS; }
/// Sentence of the last failed call of this thread.
inline const char* aclGetRecentErrMsg() { return npuGetLastErrorMessage(); }
