/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HCCL_HCCL_COMM_H_
#define HCCL_HCCL_COMM_H_

#include "hccl/hccl.h"

#endif /* HCCL_HCCL_COMM_H_ */
