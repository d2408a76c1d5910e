// SPDX-License-Identifier: Apache-2.0
// libhcomm.so: hccl/hccl.h, and functions of the vendor's libraries that programs declare
// themselves.
#include "hccl/hccl.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "npu/stream.hpp"
#include "npu_runtime.h"
#include "ranks/communicator.hpp"
#include "runtime/rt.h"

namespace {

using npu::ranks::Communicator;
using npu::ranks::Communicators;
using npu::ranks::GroupAddress;
using npu::ranks::GroupMemory;
using npu::ranks::Membership;

constexpr char kInfoWord[] = "npu_ranks";
constexpr uint32_t kWindows = 2;                                  // of each rank: in and out
constexpr unsigned kDefaultMiB = 200, kMaxMiB = 1u << 20;         // HCCL_BUFFSIZE
constexpr unsigned kDefaultPatience = 120, kMaxPatience = 86400;  // seconds, HCCL_CONNECT_TIMEOUT

HcclResult Fail(HcclResult code, const std::string& sentence) {
  npuSetLastErrorMessage(sentence.c_str());
  std::fprintf(stderr, "%s\n", sentence.c_str());
  return code;
}

HcclResult Refuse(const char* function, const std::string& expected, const std::string& got,
                  HcclResult code = HCCL_E_PARA) {
  return Fail(code, std::string(function) + ": expected " + expected + ", got " + got);
}

/// text, the value of variable name, as a number from 1 to high; 0 and a sentence where it is
/// another one.
unsigned ReadNumber(const char* function, const char* name, const char* text, unsigned fallback,
                    unsigned high) {
  if (text == nullptr || *text == '\0') return fallback;
  char* end = nullptr;
  const unsigned long number = std::strtoul(text, &end, 10);
  if (*end == '\0' && number >= 1 && number <= high) return static_cast<unsigned>(number);
  Refuse(function, std::string(name) + " from 1 to " + std::to_string(high), text);
  return 0;
}

bool ParseInfo(const HcclRootInfo& info, Membership* membership) {
  char address[64] = {};
  unsigned mib = 0;
  const std::string text(info.internal, strnlen(info.internal, sizeof(info.internal)));
  const int found = std::sscanf(text.c_str(), "npu_ranks %63s %u", address, &mib);
  membership->window_bytes = size_t{mib} << 20;
  membership->windows = kWindows;
  return found == 2 && mib >= 1 && mib <= kMaxMiB &&
         GroupAddress::Parse(address, &membership->address);
}

/// The start of info, for a sentence.
std::string Quoted(const HcclRootInfo& info) {
  constexpr size_t kShown = 40;
  std::string text(info.internal, strnlen(info.internal, kShown));
  for (char& letter : text) {
    if (letter < ' ' || letter > '~') letter = '?';
  }
  return "'" + text + "'";
}

/// Waits for the work of all devices: barriers and kernels there use communicators, too. False
/// where that cannot be; error: of that, or of work that has failed.
bool AwaitAllDevices(npuError_t* error) {
  int own = 0, count = 0;
  *error = npuGetDevice(&own);
  if (*error == NPU_SUCCESS) *error = npuGetDeviceCount(&count);
  npuError_t waited = *error;
  for (int device = 0; device < count && waited == NPU_SUCCESS; ++device) {
    waited = npuSetDevice(device);
    if (waited == NPU_SUCCESS) waited = npuDeviceSynchronize();
    while (waited == NPU_ERROR_KERNEL_FAULT || waited == NPU_ERROR_DEADLOCK) {  // one at a time
      *error = waited;
      Fail(HCCL_E_INTERNAL, npuGetLastErrorMessage());
      waited = npuDeviceSynchronize();
    }
  }
  if (waited != NPU_SUCCESS) {
    *error = waited;
    Fail(HCCL_E_INTERNAL, npuGetLastErrorMessage());
  }
  npuSetDevice(own);
  return waited == NPU_SUCCESS;
}

/// Body with the communicator of handle.
template <class Body>
HcclResult With(const char* function, HcclComm handle, const Body& body) {
  Communicator* communicator = Communicators::Get().Find(handle);
  if (communicator != nullptr) return body(*communicator);
  char address[24];
  std::snprintf(address, sizeof(address), "%p", handle);
  return Refuse(function, "a communicator from HcclCommInitRootInfo", address);
}

HcclResult RefuseNull(const char* function) {
  return Refuse(function, "pointers for what it gives", "NULL", HCCL_E_PTR);
}

/// A call in which all ranks take part has failed on this one alone: tells the others, too.
HcclResult FailForAll(Communicator& communicator, HcclResult code, const std::string& sentence) {
  communicator.group().Refuse(sentence);
  return Fail(code, sentence);
}

/// The host function of HcclBarrier. What it throws becomes the error of the stream.
void Meet(void* communicator) {
  const std::string sentence =
      static_cast<Communicator*>(communicator)->group().Barrier("HcclBarrier");
  if (!sentence.empty()) throw std::runtime_error(sentence);
}

/// Functions of the vendor's runtime that this library offers by name, too.
[[gnu::used]] constexpr struct {
  decltype(&rtSetDevice) set_device = rtSetDevice;
  decltype(&rtStreamCreate) create_stream = rtStreamCreate;
  decltype(&rtStreamDestroy) destroy_stream = rtStreamDestroy;
} kOffered;

}  // namespace

extern "C" {

[[gnu::visibility("default")]] rtError_t rtSetDevice(int32_t);
[[gnu::visibility("default")]] rtError_t rtStreamCreate(rtStream_t*, int32_t);
[[gnu::visibility("default")]] rtError_t rtStreamDestroy(rtStream_t);

HcclResult HcclGetRootInfo(HcclRootInfo* info) {
  if (info == nullptr) return RefuseNull(__func__);
  const unsigned mib =
      ReadNumber(__func__, "HCCL_BUFFSIZE", std::getenv("HCCL_BUFFSIZE"), kDefaultMiB, kMaxMiB);
  if (mib == 0) return HCCL_E_PARA;
  const int descriptor = GroupMemory::Create();
  if (descriptor < 0) {
    return Refuse(__func__, "memory to share", std::strerror(errno), HCCL_E_MEMORY);
  }
  std::memset(info, 0, sizeof(*info));
  std::snprintf(info->internal, sizeof(info->internal), "%s %s %u", kInfoWord,
                GroupMemory::AddressOf(descriptor).ToText().c_str(), mib);
  return HCCL_SUCCESS;
}

HcclResult HcclCommInitRootInfo(uint32_t ranks, const HcclRootInfo* info, uint32_t rank,
                                HcclComm* comm) {
  if (info == nullptr || comm == nullptr) return RefuseNull(__func__);
  *comm = nullptr;
  const unsigned patience =
      ReadNumber(__func__, "HCCL_CONNECT_TIMEOUT", std::getenv("HCCL_CONNECT_TIMEOUT"),
                 kDefaultPatience, kMaxPatience);
  if (patience == 0) return HCCL_E_PARA;
  Membership membership;
  membership.size = ranks;
  membership.rank = rank;
  membership.patience = std::chrono::seconds(patience);
  if (!ParseInfo(*info, &membership)) {
    return Refuse(__func__, "what HcclGetRootInfo has made", Quoted(*info));
  }
  std::string error;
  auto communicator = Communicator::Join(membership, &error);
  if (communicator == nullptr) return Fail(HCCL_E_INTERNAL, error);
  *comm = Communicators::Get().Add(std::move(communicator));
  return HCCL_SUCCESS;
}

HcclResult HcclCommDestroy(HcclComm comm) {
  return With(__func__, comm, [&](Communicator&) {
    npuError_t error = NPU_SUCCESS;
    if (AwaitAllDevices(&error)) Communicators::Get().Remove(comm);
    return error == NPU_SUCCESS ? HCCL_SUCCESS : HCCL_E_INTERNAL;
  });
}

HcclResult HcclGetRankSize(HcclComm comm, uint32_t* ranks) {
  return With(__func__, comm, [&](Communicator& communicator) {
    if (ranks == nullptr) return RefuseNull("HcclGetRankSize");
    *ranks = communicator.group().size();
    return HCCL_SUCCESS;
  });
}

HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank) {
  return With(__func__, comm, [&](Communicator& communicator) {
    if (rank == nullptr) return RefuseNull("HcclGetRankId");
    *rank = communicator.group().rank();
    return HCCL_SUCCESS;
  });
}

HcclResult HcclGetCommName(HcclComm comm, char* name) {
  return With(__func__, comm, [&](Communicator& communicator) {
    if (name == nullptr) return RefuseNull("HcclGetCommName");
    std::snprintf(name, HCCL_COMM_NAME_MAX_LEN, "%s", communicator.name().c_str());
    return HCCL_SUCCESS;
  });
}

HcclResult HcclBarrier(HcclComm comm, void* stream) {
  return With(__func__, comm, [&](Communicator& communicator) {
    npuStream_t resolved = nullptr;
    npuError_t error = npu::ResolveStream(stream, &resolved);
    if (error == NPU_SUCCESS) error = npuLaunchHostFunction(resolved, Meet, &communicator);
    if (error == NPU_SUCCESS) return HCCL_SUCCESS;
    return FailForAll(communicator, HCCL_E_PARA, npuGetLastErrorMessage());
  });
}

const char* HcclGetErrorString(HcclResult code) {
  constexpr const char* kNames[] = {
      "no error",      "parameter error", "null pointer", "memory error",      "internal error",
      "not supported", "not found",       "unavailable",  "system call error", "out of time"};
  const auto index = static_cast<unsigned>(code);
  return index < sizeof(kNames) / sizeof(kNames[0]) ? kNames[index] : "unknown error";
}

HcclResult HcomGetCommHandleByGroup(const char* group, HcclComm* comm) {
  if (group == nullptr || comm == nullptr) return RefuseNull(__func__);
  *comm = Communicators::Get().FindByName(group);
  if (*comm != nullptr) return HCCL_SUCCESS;
  return Refuse(__func__, "the name of a communicator", group, HCCL_E_NOT_FOUND);
}

/// 1: a mesh, where each rank reaches the windows of all others.
HcclResult HcomGetL0TopoTypeEx(const char* group, uint32_t* topology, uint32_t) {
  if (group == nullptr || topology == nullptr) return RefuseNull(__func__);
  *topology = 1;
  return HCCL_SUCCESS;
}

/// What kernels are told of the group. The tiling, which chooses an algorithm, is not looked at.
HcclResult HcclAllocComResourceByTiling(HcclComm comm, void*, void*, void** context) {
  return With(__func__, comm, [&](Communicator& communicator) {
    if (context == nullptr) return RefuseNull("HcclAllocComResourceByTiling");
    *context = communicator.Context();
    return *context != nullptr ? HCCL_SUCCESS : Fail(HCCL_E_MEMORY, npuGetLastErrorMessage());
  });
}

/// Lends memory of aclrtMalloc to all ranks of comm, which all call it; addresses: room for one of
/// each rank, by which kernels of this process reach what it has lent.
HcclResult npuHcclLendMemory(HcclComm comm, void* memory, uint64_t bytes, uint64_t* addresses) {
  return With(__func__, comm, [&](Communicator& communicator) {
    if (addresses == nullptr) {
      return FailForAll(communicator, HCCL_E_PTR,
                        "npuHcclLendMemory: expected room for addresses, got NULL");
    }
    // A rank that cannot lend takes part all the same: the others wait for it.
    const bool is_idle = npuDeviceSynchronize() == NPU_SUCCESS;
    const std::string failure = is_idle ? "" : npuGetLastErrorMessage();
    std::string error;
    const auto* lent =
        communicator.Lend("npuHcclLendMemory", is_idle ? memory : nullptr, bytes, &error);
    if (lent == nullptr) return Fail(HCCL_E_MEMORY, is_idle ? error : failure);
    for (uint32_t rank = 0; rank < communicator.group().size(); ++rank) {
      addresses[rank] = reinterpret_cast<uintptr_t>(lent->Of(rank));
    }
    return HCCL_SUCCESS;
  });
}

}  // extern "C"
