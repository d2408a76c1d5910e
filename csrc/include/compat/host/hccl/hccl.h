/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the vendor's communication library that programs with one process per rank use, in
 * libhcomm.so. Windows of all ranks are memory that these processes share: kernels reach them by
 * pto::comm. A call that fails prints a sentence, which aclGetRecentErrMsg gives, too. None waits
 * for a rank that has ended, or that has refused a call in which all take part: such a group meets
 * no more.
 */
#ifndef HCCL_HCCL_H_
#define HCCL_HCCL_H_

#include "hccl/hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Makes what ranks find each other by: called by one of them, which sends it to the others. */
HcclResult HcclGetRootInfo(HcclRootInfo* info);
/** Joins the group of info as rank of ranks. Returns when all have; gives up on one that does not
 * come after HCCL_CONNECT_TIMEOUT seconds (120). Windows have HCCL_BUFFSIZE MiB (200) each, as the
 * root's environment says. */
HcclResult HcclCommInitRootInfo(uint32_t ranks, const HcclRootInfo* info, uint32_t rank,
                                HcclComm* comm);
/** Leaves the group, after all work of the device has ended. */
HcclResult HcclCommDestroy(HcclComm comm);
HcclResult HcclGetRankSize(HcclComm comm, uint32_t* ranks);
HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank);
/** name: room for 128 bytes. */
HcclResult HcclGetCommName(HcclComm comm, char* name);
/** Work queued on stream after this call starts when all ranks have come this far. A rank that has
 * ended makes it fail: whoever waits for stream is told. */
HcclResult HcclBarrier(HcclComm comm, void* stream);
const char* HcclGetErrorString(HcclResult code);

#ifdef __cplusplus
}
#endif

#endif /* HCCL_HCCL_H_ */
