// SPDX-License-Identifier: Apache-2.0
// The C ABI: lines of sources.
#include <string>
#include <vector>

#include "runtime/process.hpp"
#include "runtime/source_lines.hpp"

using namespace npu::runtime;  // NOLINT(google-build-using-namespace): this file is the runtime's
                               // face

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
