// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace npu::runtime {

/// Where code lies: a library, "" where nobody knows, and an offset in it.
struct CodePlace {
  std::string library;
  uint64_t offset = 0;
};

CodePlace Locate(const void* address);

/// Of the call that returns to call_site, which may be null.
CodePlace PlaceOf(const void* call_site);

/// The line of the code at each place, "add.cpp:12": of the kernel's own file, not of the headers
/// that were inlined into it. Where binutils' addr2line is not there, or the library has no line
/// tables, the library and the offset in it.
std::vector<std::string> SourceLines(const std::vector<CodePlace>& places);

/// The same for calls, by their return addresses.
std::vector<std::string> SourceLines(const std::vector<const void*>& call_sites);

/// The line of the first of these calls that has one of that kind; "" where none has.
std::string FirstOwnLine(const std::vector<const void*>& call_sites);

}  // namespace npu::runtime
