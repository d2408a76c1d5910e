// SPDX-License-Identifier: Apache-2.0
#include "op/my_flash_attention.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "op/kernel_library.h"

namespace op {
namespace {

constexpr const char* kWhere = "npu::my_flash_attention";

AttentionMatrix MatrixOf(const Tensor& x) { return {x.strides[0], x.strides[1], x.strides[2]}; }

AttentionTiling TilingOf(const AttentionInputs& inputs, AttentionRule rule) {
  const int64_t* shape = inputs.q.shape;
  return {shape[0],    shape[1],   shape[2],           inputs.k.shape[2],  shape[3],
          rule.causal, rule.scale, MatrixOf(inputs.q), MatrixOf(inputs.k), MatrixOf(inputs.v)};
}

/// A cube core, with its vector cores, for each tile of rows, as many as there are.
uint32_t BlocksFor(const AttentionInputs& inputs, int64_t rows, int64_t tile_rows) {
  const int64_t tiles =
      inputs.q.shape[0] * inputs.q.shape[1] * ((rows + tile_rows - 1) / tile_rows);
  return static_cast<uint32_t>(std::clamp<int64_t>(tiles, 1, Cores().cube));
}

uint32_t BlocksForGradient(const AttentionInputs& inputs, int64_t rows) {
  return BlocksFor(inputs, rows, kAttentionGradientRows);
}

/// The kernels take tiles between cores through global memory, as chips of A2 and A3 do.
Status CheckChip() {
  const char* soc = "";
  const npuError_t error = npuGetSocName(&soc);
  if (error != NPU_SUCCESS) return Status::Of(error);
  if (std::strstr(soc, "Ascend910B") == soc) return {};
  return Status::Invalid(std::string(kWhere) +
                         ": expected a chip of A2 or A3 (Ascend910B), got NPU_SOC " + soc);
}

Status Launch(const char* name, DType dtype, uint32_t blocks, const void* args, size_t args_bytes,
              Launcher& launcher) {
  const Status chip = CheckChip();
  if (!chip.ok()) return chip;
  std::string error;
  const npuKernel_t kernel = FindKernel(std::string(name) + "_" + KernelSuffix(dtype), &error);
  if (!kernel) return Status::Invalid(std::string(kWhere) + ": " + error);
  return Status::Of(launcher.Launch(kernel, blocks, 0, args, args_bytes));
}

}  // namespace

bool IsAttentionOperand(const Tensor& x) {
  const bool has_lines = x.shape[3] <= 1 || x.strides[3] == 1;
  return has_lines && (x.shape[2] <= 1 || x.strides[2] >= x.shape[3]);
}

int64_t AttentionBytes(const AttentionInputs& inputs) {
  return BlocksFor(inputs, inputs.q.shape[2], kAttentionRows) *
         AttentionSlotBytes(static_cast<int64_t>(ElementSize(inputs.q.dtype)));
}

int64_t AttentionBackwardBytes(const AttentionInputs& inputs) {
  const uint32_t blocks = std::max(BlocksForGradient(inputs, inputs.q.shape[2]),
                                   BlocksForGradient(inputs, inputs.k.shape[2]));
  return blocks * AttentionGradientSlotBytes(static_cast<int64_t>(ElementSize(inputs.q.dtype)));
}

Status MyFlashAttention(const AttentionInputs& inputs, AttentionRule rule, void* z, void* log_sums,
                        void* slots, Launcher& launcher) {
  const struct {
    void* z;
    void* log_sums;
    const void* q;
    const void* k;
    const void* v;
    void* slots;
    AttentionTiling tiling;
  } args = {
      z, log_sums, inputs.q.data, inputs.k.data, inputs.v.data, slots, TilingOf(inputs, rule)};
  const int64_t rows = inputs.q.shape[2];
  if (args.tiling.batch * args.tiling.heads * rows == 0) return {};
  return Launch("my_flash_attention", inputs.q.dtype, BlocksFor(inputs, rows, kAttentionRows),
                &args, sizeof(args), launcher);
}

Status MyFlashAttentionBackward(const AttentionInputs& inputs, AttentionRule rule,
                                const AttentionGradients& gradients, void* slots,
                                Launcher& launcher) {
  const AttentionBackwardTiling tiling = {TilingOf(inputs, rule), MatrixOf(gradients.result),
                                          MatrixOf(gradients.gradient)};
  const int64_t rows = inputs.q.shape[2], keys = inputs.k.shape[2];
  const int64_t matrices = inputs.q.shape[0] * inputs.q.shape[1];
  if (matrices * rows != 0) {
    const struct {
      void* dq;
      void* deltas;
      const void* q;
      const void* k;
      const void* v;
      const void* result;
      const void* gradient;
      const void* log_sums;
      void* slots;
      AttentionBackwardTiling tiling;
    } args = {gradients.dq,
              gradients.deltas,
              inputs.q.data,
              inputs.k.data,
              inputs.v.data,
              gradients.result.data,
              gradients.gradient.data,
              gradients.log_sums,
              slots,
              tiling};
    const Status status = Launch("my_flash_attention_backward", inputs.q.dtype,
                                 BlocksForGradient(inputs, rows), &args, sizeof(args), launcher);
    if (!status.ok()) return status;
  }
  if (matrices * keys == 0) return {};
  const struct {
    void* dk;
    void* dv;
    const void* deltas;
    const void* q;
    const void* k;
    const void* v;
    const void* gradient;
    const void* log_sums;
    void* slots;
    AttentionBackwardTiling tiling;
  } args = {gradients.dk,  gradients.dv,  gradients.deltas,        inputs.q.data,
            inputs.k.data, inputs.v.data, gradients.gradient.data, gradients.log_sums,
            slots,         tiling};
  return Launch("my_flash_attention_backward_keys", inputs.q.dtype, BlocksForGradient(inputs, keys),
                &args, sizeof(args), launcher);
}

}  // namespace op
