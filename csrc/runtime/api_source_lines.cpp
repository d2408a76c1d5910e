// SPDX-License-Identifier: Apache-2.0
// The C ABI: places of code, and lines of sources.
#include <string>
#include <vector>

#include "runtime/process.hpp"
#include "runtime/source_lines.hpp"

using namespace npu::runtime;  // NOLINT(google-build-using-namespace): this file is the runtime's
                               // face

npuError_t npuLocate(const void* address, const char** library, uint64_t* offset) {
  return Asking(__func__, [&](const char* function) {
    if (library == nullptr || offset == nullptr) {
      return Invalid(function, "pointers for library and offset", "NULL");
    }
    thread_local CodePlace place;
    place = Locate(address);
    *library = place.library.c_str();
    *offset = place.offset;
    return NPU_SUCCESS;
  });
}

npuError_t npuSourceLines(size_t count, const char* const* libraries, const uint64_t* offsets,
                          const char** lines) {
  return Asking(__func__, [&](const char* function) {
    if (count != 0 && (libraries == nullptr || offsets == nullptr || lines == nullptr)) {
      return Invalid(function, "pointers for libraries, offsets and lines", "NULL");
    }
    thread_local std::vector<std::string> texts;
    std::vector<CodePlace> places;
    for (size_t i = 0; i < count; ++i) {
      if (libraries[i] == nullptr) return Invalid(function, "names of libraries", "NULL");
      places.push_back({libraries[i], offsets[i]});
    }
    texts = SourceLines(places);
    for (size_t i = 0; i < count; ++i) lines[i] = texts[i].c_str();
    return NPU_SUCCESS;
  });
}
