// SPDX-License-Identifier: Apache-2.0
#include "op/broadcast.h"

#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty.h>

namespace npu_host {
namespace {

constexpr const char* kNames[] = {"x", "y", "z"};

void CheckOperands(const char* where, at::TensorList operands) {
  CheckOperand(where, kNames[0], operands[0]);
  for (size_t i = 1; i < operands.size(); ++i)
    CheckSameKind(where, operands[0], operands[i], kNames[i]);
}

}  // namespace

at::Tensor BroadcastResult(const char* where, at::TensorList operands) {
  CheckOperands(where, operands);
  at::DimVector size(operands[0].sizes());
  for (size_t i = 1; i < operands.size(); ++i)
    size = at::infer_size_dimvector(size, operands[i].sizes());
  return at::empty(size, operands[0].options());
}

at::Tensor BroadcastMeta(const char* where, at::TensorList operands) {
  CheckOperands(where, operands);
  c10::SymDimVector size(operands[0].sym_sizes());
  for (size_t i = 1; i < operands.size(); ++i)
    size = at::infer_size_symdimvector(size, operands[i].sym_sizes());
  return at::empty_symint(size, operands[0].options());
}

void CheckInPlace(const char* where, at::TensorList operands) {
  CheckOperands(where, operands);
  const at::Tensor& self = operands[0];
  for (size_t i = 1; i < operands.size(); ++i) {
    TORCH_CHECK(at::is_expandable_to(operands[i].sym_sizes(), self.sym_sizes()), where,
                ": expected ", kNames[i], " of a size that broadcasts to ", self.sym_sizes(),
                " (the size of x), got ", operands[i].sym_sizes());
  }
  if (self.is_meta()) return;
  at::assert_no_internal_overlap(self);
  for (const at::Tensor& operand : operands) at::assert_no_partial_overlap(self, operand);
}

at::Tensor ApartFrom(const at::Tensor& self, const at::Tensor& operand) {
  return at::get_overlap_status(self, operand) == at::MemOverlapStatus::TooHard ? operand.clone()
                                                                                : operand;
}

}  // namespace npu_host
