// SPDX-License-Identifier: Apache-2.0
// libmpi.so: the part of MPI that programs for the chip load to start one process per rank. Numbers
// of communicators and types are MPICH's. Calls that fail print a sentence and return an error.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "ranks/rank_group.hpp"

namespace {

using npu::ranks::GroupAddress;
using npu::ranks::Membership;
using npu::ranks::RankGroup;

constexpr int kSuccess = 0, kErrorComm = 5, kErrorArgument = 12, kErrorOther = 15;
constexpr int kWorld = 0x44000000, kSelf = 0x44000001;

/// The ranks that the launcher has started; alone without one.
struct World {
  bool is_initialized = false, is_finalized = false;
  std::unique_ptr<RankGroup> group;

  ~World() {
    if (group != nullptr) group->Leave();
  }
  int size() const { return group != nullptr ? static_cast<int>(group->size()) : 1; }
  int rank() const { return group != nullptr ? static_cast<int>(group->rank()) : 0; }
};

World& TheWorld() {
  static World world;
  return world;
}

int Fail(const std::string& sentence, int code = kErrorOther) {
  std::fprintf(stderr, "rank %d: %s\n", TheWorld().rank(), sentence.c_str());
  return code;
}

/// awaited: the other ranks wait for this one in the call, and are told.
int Refuse(const char* function, const std::string& expected, const std::string& got,
           int code = kErrorOther, bool awaited = false) {
  const std::string sentence = std::string(function) + ": expected " + expected + ", got " + got;
  if (awaited && TheWorld().group != nullptr) TheWorld().group->Refuse(sentence);
  return Fail(sentence, code);
}

int RefuseNull(const char* function) {
  return Refuse(function, "a pointer for the answer", "NULL", kErrorArgument);
}

/// What the launcher says of this process; false without a launcher.
bool ReadEnvironment(Membership* membership, std::string* error) {
  const char* address = std::getenv("NPU_RANKS");
  if (address == nullptr || *address == '\0') return false;
  unsigned rank = 0, size = 0;
  const char* place = std::getenv("NPU_RANK");
  if (!GroupAddress::Parse(address, &membership->address) || place == nullptr ||
      std::sscanf(place, "%u/%u", &rank, &size) != 2) {
    *error = "MPI_Init: expected NPU_RANKS and NPU_RANK as the launcher sets them, got " +
             std::string(address) + " and " + (place == nullptr ? "none" : place);
  }
  membership->rank = rank;
  membership->size = size;
  membership->has_launcher = true;
  return true;
}

/// Whether calls on comm reach other ranks.
int CheckComm(const char* function, int comm, bool awaited = false) {
  const World& world = TheWorld();
  if (!world.is_initialized || world.is_finalized) {
    return Refuse(function, "a call between MPI_Init and MPI_Finalize",
                  world.is_finalized ? "one after" : "one before");
  }
  if (comm == kWorld || comm == kSelf) return kSuccess;
  return Refuse(function, "MPI_COMM_WORLD or MPI_COMM_SELF", std::to_string(comm), kErrorComm,
                awaited);
}

}  // namespace

extern "C" {

int MPI_Init(int*, char***) {
  World& world = TheWorld();
  if (world.is_initialized) return Refuse("MPI_Init", "one call", "another one");
  Membership membership;
  std::string error;
  if (ReadEnvironment(&membership, &error) && error.empty()) {
    world.group = RankGroup::Join("MPI_Init", membership, &error);
  }
  if (!error.empty()) return Fail(error);
  world.is_initialized = true;
  return kSuccess;
}

int MPI_Init_thread(int*, char***, int required, int* provided) {
  if (provided != nullptr) *provided = required < 1 ? required : 1;  // MPI_THREAD_FUNNELED
  return MPI_Init(nullptr, nullptr);
}

int MPI_Initialized(int* flag) {
  if (flag == nullptr) return RefuseNull("MPI_Initialized");
  *flag = TheWorld().is_initialized;
  return kSuccess;
}

int MPI_Finalized(int* flag) {
  if (flag == nullptr) return RefuseNull("MPI_Finalized");
  *flag = TheWorld().is_finalized;
  return kSuccess;
}

int MPI_Comm_size(int comm, int* size) {
  if (const int error = CheckComm("MPI_Comm_size", comm)) return error;
  if (size == nullptr) return RefuseNull("MPI_Comm_size");
  *size = comm == kSelf ? 1 : TheWorld().size();
  return kSuccess;
}

int MPI_Comm_rank(int comm, int* rank) {
  if (const int error = CheckComm("MPI_Comm_rank", comm)) return error;
  if (rank == nullptr) return RefuseNull("MPI_Comm_rank");
  *rank = comm == kSelf ? 0 : TheWorld().rank();
  return kSuccess;
}

int MPI_Barrier(int comm) {
  if (const int error = CheckComm("MPI_Barrier", comm, true)) return error;
  if (comm == kSelf || TheWorld().group == nullptr) return kSuccess;
  const std::string sentence = TheWorld().group->Barrier("MPI_Barrier");
  return sentence.empty() ? kSuccess : Fail(sentence);
}

/// Of types only basic ones, whose numbers hold their size.
int MPI_Bcast(void* data, int count, int type, int root, int comm) {
  if (const int error = CheckComm("MPI_Bcast", comm, true)) return error;
  constexpr int kBasicMask = 0x7fff0000, kBasic = 0x4c000000;
  const int element_bytes = type >> 8 & 0xff;
  if ((type & kBasicMask) != kBasic || element_bytes == 0) {
    return Refuse("MPI_Bcast", "a basic type", std::to_string(type), kErrorOther, comm == kWorld);
  }
  if (count < 0 || root < 0 || (count > 0 && data == nullptr)) {
    return Refuse("MPI_Bcast", "memory, a count and a root of at least 0",
                  std::to_string(count) + " elements of rank " + std::to_string(root), kErrorOther,
                  comm == kWorld);
  }
  if (comm == kSelf || TheWorld().group == nullptr) return kSuccess;
  const size_t bytes = static_cast<size_t>(count) * static_cast<size_t>(element_bytes);
  const std::string sentence =
      TheWorld().group->Broadcast("MPI_Bcast", data, bytes, static_cast<uint32_t>(root));
  return sentence.empty() ? kSuccess : Fail(sentence);
}

/// The launcher ends the other ranks. A process can end with 8 bits of code, of which 0 would be
/// success.
int MPI_Abort(int, int code) {
  std::fprintf(stderr, "rank %d: MPI_Abort: %d\n", TheWorld().rank(), code);
  const int status = code & 0xff;
  _exit(status == 0 ? 1 : status);
}

int MPI_Finalize(void) {
  if (const int error = CheckComm("MPI_Finalize", kWorld)) return error;
  World& world = TheWorld();
  std::string sentence;
  if (world.group != nullptr) sentence = world.group->Barrier("MPI_Finalize");
  world.is_finalized = true;
  if (world.group != nullptr) world.group->Leave();
  return sentence.empty() ? kSuccess : Fail(sentence);
}

}  // extern "C"
