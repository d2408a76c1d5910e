// SPDX-License-Identifier: Apache-2.0
#include "launch.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "draw.hpp"
#include "npu/core_layout.hpp"
#include "pto/sync.hpp"

namespace fuzz {
namespace {

/// What a launch gets: a program, and where the spaces of its core end up.
struct Work {
  const Program* program;
  char* memory;
  Launched* launched;
};

void RunStep(const Step& step, char* memory) {
  const auto source = static_cast<pipe_t>(step.source);
  const auto destination = static_cast<pipe_t>(step.destination);
  switch (step.kind) {
    case StepKind::kSetFlag:
      return set_flag(source, destination, step.id);
    case StepKind::kWaitFlag:
      return wait_flag(source, destination, step.id);
    case StepKind::kBarrier:
      return pipe_barrier(source);
    default: {
      Operands operands = step.operands;
      operands.memory = memory;
      step.instruction->run(operands);
    }
  }
}

void RunProgram(const void* args) {
  const Work& work = **static_cast<const Work* const*>(args);
  const Program& program = *work.program;
  const Machine& start = StartOf(program.is_cube, program.is_a5);
  npu::Core& core = *npu::current_core;
  for (int space = 0; space < kOnChip; ++space) {
    const std::vector<uint8_t>& bytes = start.spaces[space].bytes;
    if (!bytes.empty()) std::memcpy(core.scratchpad[space], bytes.data(), bytes.size());
  }
  for (const Step& step : program.steps) RunStep(step, work.memory);
  core.scheduler->AwaitPipes(core);
  for (int space = 0; space < kOnChip; ++space) {
    std::vector<uint8_t>& bytes = work.launched->spaces[space];
    bytes.resize(start.spaces[space].bytes.size());
    if (!bytes.empty()) std::memcpy(bytes.data(), core.scratchpad[space], bytes.size());
  }
}

}  // namespace

void Require(npuError_t error, const char* what) {
  if (error == NPU_SUCCESS) return;
  std::fprintf(stderr, "fuzz: %s: %s\n", what, npuGetLastErrorMessage());
  std::exit(2);
}

Launcher::Launcher() {
  Require(npuMalloc(&memory_, kGlobalBytes), "npuMalloc");
  Require(npuStreamGetDefault(0, &stream_), "npuStreamGetDefault");
}

Launcher::~Launcher() { npuFree(memory_); }

const Launched& Launcher::Run(const Program& program) {
  static const npuKernelPass kPass = {RunProgram, sizeof(Work*), npu::kCoreLayout};
  static const npuKernel kKernels[] = {{"tile_program", &kPass, nullptr},
                                       {"tile_program", nullptr, &kPass}};
  const Machine& start = StartOf(program.is_cube, program.is_a5);
  std::memcpy(memory_, start[Space::kGlobal].bytes.data(), kGlobalBytes);
  Work work = {&program, static_cast<char*>(memory_), &launched_};
  const Work* pointer = &work;
  launched_.error =
      npuLaunchKernel(&kKernels[program.is_cube ? 1 : 0], 1, &pointer, sizeof(pointer), stream_);
  if (launched_.error == NPU_SUCCESS) launched_.error = npuStreamSynchronize(stream_);
  launched_.sentence = launched_.error == NPU_SUCCESS ? "" : npuGetLastErrorMessage();
  const auto* bytes = static_cast<const uint8_t*>(memory_);
  launched_.spaces[static_cast<int>(Space::kGlobal)].assign(bytes, bytes + kGlobalBytes);
  return launched_;
}

}  // namespace fuzz
