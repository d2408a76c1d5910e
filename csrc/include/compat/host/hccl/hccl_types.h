/* SPDX-License-Identifier: Apache-2.0 */
/* Types of the vendor's communication library. */
#ifndef HCCL_HCCL_TYPES_H_
#define HCCL_HCCL_TYPES_H_

#include <stdint.h>

#define HCCL_ROOT_INFO_BYTES 4108
#define HCCL_COMM_NAME_MAX_LEN 128

typedef enum {
  HCCL_SUCCESS = 0,
  HCCL_E_PARA = 1,
  HCCL_E_PTR = 2,
  HCCL_E_MEMORY = 3,
  HCCL_E_INTERNAL = 4,
  HCCL_E_NOT_SUPPORT = 5,
  HCCL_E_NOT_FOUND = 6,
  HCCL_E_UNAVAIL = 7,
  HCCL_E_SYSCALL = 8,
  HCCL_E_TIMEOUT = 9
} HcclResult;

typedef void* HcclComm;

/* How ranks find each other: the root makes it, and sends it to the others. */
typedef struct {
  char internal[HCCL_ROOT_INFO_BYTES];
} HcclRootInfo;

#endif /* HCCL_HCCL_TYPES_H_ */
