// SPDX-License-Identifier: Apache-2.0
#include "python/memory_map.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "npu_runtime.h"
#include "python/check.h"

namespace npu_python {
namespace {

namespace py = pybind11;

uintptr_t Number(const void* address) { return reinterpret_cast<uintptr_t>(address); }

py::list Placements() {
  size_t placements = 0, stores = 0;
  Check(npuMemoryMapCount(&placements, &stores));
  py::list list;
  for (size_t i = 0; i < placements; ++i) {
    npuPlacement tile = {};
    Check(npuMemoryMapPlacement(i, &tile));
    list.append(py::make_tuple(tile.kernel, tile.core, tile.space, tile.kind, tile.dtype, tile.rows,
                               tile.cols, tile.address, tile.bytes, tile.capacity,
                               Number(tile.call_site), tile.times));
  }
  return list;
}

py::list Stores() {
  size_t placements = 0, stores = 0;
  Check(npuMemoryMapCount(&placements, &stores));
  py::list list;
  for (size_t i = 0; i < stores; ++i) {
    npuStore store = {};
    Check(npuMemoryMapStore(i, &store));
    list.append(py::make_tuple(store.block, store.sub_block, store.instruction, Number(store.begin),
                               store.rows, store.row_bytes, store.pitch_bytes,
                               Number(store.call_site)));
  }
  return list;
}

py::tuple Locate(uintptr_t address) {
  const char* library = nullptr;
  uint64_t offset = 0;
  Check(npuLocate(reinterpret_cast<const void*>(address), &library, &offset));
  return py::make_tuple(library, offset);
}

std::vector<std::string> SourceLines(const std::vector<std::pair<std::string, uint64_t>>& places) {
  std::vector<const char*> libraries, lines(places.size());
  std::vector<uint64_t> offsets;
  for (const auto& [library, offset] : places) {
    libraries.push_back(library.c_str());
    offsets.push_back(offset);
  }
  Check(npuSourceLines(places.size(), libraries.data(), offsets.data(), lines.data()));
  return {lines.begin(), lines.end()};
}

}  // namespace

void DefineMemoryMap(py::module_& module) {
  module.def("memory_map_start", [] { Check(npuMemoryMapStart()); }, "Records from now on.");
  module.def("memory_map_stop", [] { Check(npuMemoryMapStop()); }, "Stops; records stay.");
  module.def("memory_map_placements", &Placements, "Where kernels placed tiles.");
  module.def("memory_map_stores", &Stores, "What kernels stored.");
  module.def("locate", &Locate, py::arg("address"), "Library and offset of an address.");
  module.def("source_lines", &SourceLines, py::arg("places"), "Lines at offsets of libraries.");
}

}  // namespace npu_python
