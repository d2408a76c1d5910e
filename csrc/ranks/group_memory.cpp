// SPDX-License-Identifier: Apache-2.0
#include "ranks/group_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace npu::ranks {
namespace {

struct flock Span(uint32_t byte) {
  struct flock span = {};
  span.l_type = F_WRLCK;
  span.l_whence = SEEK_SET;
  span.l_start = byte;
  span.l_len = 1;
  return span;
}

std::string ErrorText() { return std::strerror(errno); }

/// The device of all memory that Create makes.
dev_t MemoryDevice() {
  static const dev_t device = [] {
    const int descriptor = GroupMemory::Create();
    struct stat status = {};
    fstat(descriptor, &status);
    close(descriptor);
    return status.st_dev;
  }();
  return device;
}

bool IsMemory(const struct stat& status, const GroupAddress& address) {
  return status.st_ino == address.inode && status.st_dev == MemoryDevice();
}

/// Makes the file at least this long. One process at a time: another one may need it longer.
bool Lengthen(int descriptor, size_t bytes) {
  struct flock span = Span(kLengthByte);
  while (fcntl(descriptor, F_SETLKW, &span) != 0) {
    if (errno != EINTR) return false;
  }
  struct stat status = {};
  bool good = fstat(descriptor, &status) == 0;
  if (good && static_cast<size_t>(status.st_size) < bytes) {
    good = ftruncate(descriptor, static_cast<off_t>(bytes)) == 0;
  }
  const int error = errno;
  span.l_type = F_UNLCK;
  fcntl(descriptor, F_SETLK, &span);
  errno = error;
  return good;
}

}  // namespace

std::string GroupAddress::ToText() const {
  return std::to_string(process) + ":" + std::to_string(descriptor) + ":" + std::to_string(inode);
}

bool GroupAddress::Parse(const char* text, GroupAddress* address) {
  int process = 0, descriptor = 0, length = 0;
  unsigned long inode = 0;
  if (std::sscanf(text, "%d:%d:%lu%n", &process, &descriptor, &inode, &length) != 3) return false;
  if (process <= 0 || descriptor < 0 || text[length] != '\0') return false;
  *address = {process, descriptor, inode};
  return true;
}

int GroupMemory::Create() { return memfd_create("npu_ranks", MFD_CLOEXEC); }

int GroupMemory::OpenDescriptor(const GroupAddress& address, std::string* error) {
  const std::string path =
      "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.descriptor);
  struct stat status = {};
  // To open another file may wait, or have an effect.
  const bool is_there = stat(path.c_str(), &status) == 0;
  std::string got = is_there ? "another file" : ErrorText();
  if (is_there && IsMemory(status, address)) {
    // Closing any descriptor of a file gives up all locks of the process on it: there is only one.
    if (address.process == getpid()) return address.descriptor;
    const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (descriptor >= 0 && fstat(descriptor, &status) == 0 && IsMemory(status, address)) {
      return descriptor;
    }
    got = descriptor < 0 ? ErrorText() : "another file";
    if (descriptor >= 0) close(descriptor);
  }
  *error = "expected the memory of a group in process " + std::to_string(address.process) +
           ", got " + got;
  return -1;
}

GroupAddress GroupMemory::AddressOf(int descriptor) {
  struct stat status = {};
  fstat(descriptor, &status);
  return {getpid(), descriptor, status.st_ino};
}

std::unique_ptr<GroupMemory> GroupMemory::Open(const GroupAddress& address, size_t window_bytes,
                                               std::string* error) {
  const int descriptor = OpenDescriptor(address, error);
  if (descriptor < 0) return nullptr;
  const size_t bytes = kStateBytes + window_bytes;
  void* base = MAP_FAILED;
  if (Lengthen(descriptor, bytes)) {
    base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  }
  if (base == MAP_FAILED) {
    *error = "expected room for " + std::to_string(bytes) + " bytes, got " + ErrorText();
    close(descriptor);
    return nullptr;
  }
  return std::unique_ptr<GroupMemory>(
      new GroupMemory(descriptor, static_cast<std::byte*>(base), bytes, address.inode));
}

GroupMemory::~GroupMemory() {
  munmap(base_, bytes_);
  close(descriptor_);
}

bool GroupMemory::Lock(uint32_t byte) const {
  struct flock span = Span(byte);
  return fcntl(descriptor_, F_SETLK, &span) == 0;
}

bool GroupMemory::IsLocked(uint32_t byte) const {
  struct flock span = Span(byte);
  return fcntl(descriptor_, F_GETLK, &span) != 0 || span.l_type != F_UNLCK;
}

}  // namespace npu::ranks
