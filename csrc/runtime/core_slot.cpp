// SPDX-License-Identifier: Apache-2.0
#include "runtime/core_slot.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include "npu/auto_block.hpp"

namespace npu {

__thread Core* current_core = nullptr;

namespace runtime {
namespace {

constexpr size_t kSpaceAlignment = 4096;  // a tile at address 0 starts on a page

}  // namespace

CoreSlot::CoreSlot(CoreType type, const Arch& arch, bool is_whole) {
  const auto has = [=](int space) {
    return is_whole || (type == CoreType::kVector) == (static_cast<Space>(space) == Space::kUb);
  };
  core.type = type;
  core.arch = &arch;
  size_t offsets[kOnChipSpaces];
  for (int space = 0; space < kOnChipSpaces; ++space) {
    offsets[space] = mapping_bytes;
    if (!has(space)) continue;
    // Room for any chip: each space has its own memory on those too that lack it.
    const size_t bytes = LargestCapacity(static_cast<Space>(space));
    mapping_bytes += (bytes + kSpaceAlignment - 1) & ~(kSpaceAlignment - 1);
  }
  // A view of a tile may be of a type that reaches beyond the end of its space.
  mapping_bytes += *std::max_element(std::begin(arch.capacity), std::end(arch.capacity));
  mapping = mmap(nullptr, mapping_bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  for (int space = 0; space < kOnChipSpaces; ++space) {
    if (!has(space)) continue;
    core.scratchpad[space] = static_cast<std::byte*>(mapping) + offsets[space];
  }
}

void ClearState(Core& core) {
  std::memset(core.flags, 0, sizeof(core.flags));
  std::memset(core.next_event_id, 0, sizeof(core.next_event_id));
  core.has_state = false;
  core.instruction = 0;
  core.mask_counts = false;
  core.unit_flag = Pipe::kS;
  core.vector_mask[0] = core.vector_mask[1] = ~uint64_t{0};
  core.control = core.flag_base = core.quant_word = core.quant_table = 0;
  core.tf32 = Tf32::kOff;
  core.img2col[0] = core.img2col[1] = Img2colRegisters();
}

void TakeBlocksBack(Core& core) {
  for (AutoBlock*& first : core.auto_blocks) {
    while (first != nullptr) {
      AutoBlock& block = *std::exchange(first, first->next);
      block.core = nullptr;
      block.next = nullptr;
      block.begin = block.end = 0;
    }
  }
}

CoreSlot::~CoreSlot() {
  if (current_core == &core) current_core = nullptr;
  TakeBlocksBack(core);
  munmap(mapping, mapping_bytes);
}

uint32_t CoreIds::Of(CoreSlot& slot) {
  if (slot.core_id != UINT32_MAX) return slot.core_id;
  std::vector<bool>& taken = taken_[static_cast<int>(slot.core.type)];
  const auto free = std::find(taken.begin(), taken.end(), false);
  slot.core_id = static_cast<uint32_t>(free - taken.begin());
  if (free == taken.end()) taken.push_back(true);
  taken[slot.core_id] = true;
  return slot.core_id;
}

CorePool::~CorePool() {
  for (CoreSlot* idle : idle_) {
    while (idle != nullptr) delete std::exchange(idle, idle->next);
  }
}

}  // namespace runtime
}  // namespace npu
