// SPDX-License-Identifier: Apache-2.0
#include "runtime/hazard_report.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include "runtime/launch.hpp"
#include "runtime/npu_runtime.h"
#include "runtime/source_lines.hpp"

namespace npu::runtime {
namespace {

/// text in quotes, as JSON has it.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      quoted += {'\\', letter};
    } else if (static_cast<unsigned char>(letter) < ' ') {
      char code[8];
      std::snprintf(code, sizeof(code), "\\u%04x", letter);
      quoted += code;
    } else {
      quoted += letter;
    }
  }
  return quoted + "\"";
}

void WritePlace(std::ostream& out, const void* call_site) {
  const CodePlace place = PlaceOf(call_site);
  out << "\"library\": " << Quoted(place.library) << ", \"offset\": " << place.offset;
}

void WriteSide(std::ostream& out, const char* name, const npuFindingSide& side) {
  out << ", \"" << name << "\": ";
  if (side.instruction == nullptr) {
    out << "null";
    return;
  }
  out << "{\"instruction\": " << Quoted(side.instruction) << ", \"pipe\": " << Quoted(side.pipe)
      << ", \"core\": " << Quoted(side.core) << ", \"block\": " << side.block
      << ", \"sub_block\": " << side.sub_block << ", \"begin\": " << side.begin
      << ", \"end\": " << side.end << ", ";
  WritePlace(out, side.call_site);
  out << "}";
}

void WriteFindings(std::ostream& out) {
  size_t count = 0;
  npuHazardsCount(&count);
  out << "{\"launches\": " << LaunchCounter::Total() << ", \"findings\": [";
  npuFinding finding = {};
  for (size_t i = 0; i < count && npuHazardsFinding(i, &finding) == NPU_SUCCESS; ++i) {
    out << (i == 0 ? "\n" : ",\n") << "{\"kind\": " << Quoted(finding.kind)
        << ", \"kernel\": " << Quoted(finding.kernel) << ", \"space\": " << Quoted(finding.space)
        << ", \"begin\": " << finding.begin << ", \"end\": " << finding.end;
    WriteSide(out, "first", finding.first);
    WriteSide(out, "second", finding.second);
    out << ", \"mend\": " << Quoted(finding.mend) << ", \"times\": " << finding.times << "}";
  }
  out << "]}\n";
}

}  // namespace

void WriteHazardReport(const std::string& folder, uint32_t number) {
  const std::string path =
      folder + "/" + std::to_string(getpid()) + "-" + std::to_string(number) + ".json";
  const std::string unfinished = path + ".unfinished";
  std::ofstream out(unfinished, std::ios::trunc);
  WriteFindings(out);
  out.close();
  if (out && std::rename(unfinished.c_str(), path.c_str()) == 0) return;
  std::fprintf(stderr, "NPU_HAZARD_REPORT: expected a folder that can be written, got %s: %s\n",
               folder.c_str(), std::strerror(errno));
}

}  // namespace npu::runtime
