// SPDX-License-Identifier: Apache-2.0
#include "aten/plan.h"

#include <memory>
#include <string_view>
#include <unordered_map>

#include "aten/ascend_dtypes.h"

namespace npu_backend {
namespace {

/// Lengths of sequences must lie on CPU, and so do sizes, strides and offsets of nested tensors.
constexpr std::string_view kMixed[] = {"aten::_nested_from_padded",
                                       "aten::_nested_view_from_buffer",
                                       "aten::_nested_view_from_buffer_copy",
                                       "aten::_pack_padded_sequence",
                                       "aten::empty_quantized",
                                       "aten::is_set_to"};
constexpr std::string_view kMetadata[] = {"aten::_nested_tensor_size",
                                          "aten::_nested_tensor_storage_offsets",
                                          "aten::_nested_tensor_strides"};

/// Indices may lie on CPU, as on CUDA.
constexpr std::string_view kIndexing[] = {"aten::index",
                                          "aten::index_put",
                                          "aten::index_put_",
                                          "aten::_index_put_impl_",
                                          "aten::_index_put_impl",
                                          "aten::_unsafe_index",
                                          "aten::_unsafe_index_put",
                                          "aten::_unsafe_masked_index",
                                          "aten::_unsafe_masked_index_put_accumulate"};

template <size_t count>
bool Contains(const std::string_view (&names)[count], const std::string& name) {
  for (const std::string_view one : names) {
    if (name == one) return true;
  }
  return false;
}

bool Mixes(const std::string& name) {
  // Somebody else's operator checks for itself.
  return name.compare(0, 6, "aten::") != 0 || Contains(kMixed, name);
}

bool IsGenerator(const c10::Argument& argument) {
  const c10::TypePtr& type = argument.real_type();
  if (type->kind() == c10::TypeKind::GeneratorType) return true;
  const auto optional = type->cast<c10::OptionalType>();
  return optional && optional->getElementType()->kind() == c10::TypeKind::GeneratorType;
}

bool IsTensors(const c10::TypePtr& type) {
  switch (type->kind()) {
    case c10::TypeKind::TensorType:
      return true;
    case c10::TypeKind::ListType:
    case c10::TypeKind::OptionalType:
      return IsTensors(type->containedType(0));
    default:
      return false;
  }
}

/// The first operand and its equals; not indices, masks, weights or results.
std::vector<uint8_t> TypedArguments(const c10::FunctionSchema& schema) {
  constexpr std::string_view kEquals[] = {"other", "mat2", "batch2", "vec"};
  std::vector<uint8_t> result;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    if (argument.is_out() || !IsTensors(argument.real_type())) continue;
    if (!result.empty() && !Contains(kEquals, argument.name())) continue;
    result.push_back(static_cast<uint8_t>(i));
  }
  return result;
}

}  // namespace

Plan::Plan(const c10::OperatorHandle& op) : name(op.operator_name()) {
  const c10::FunctionSchema& schema = op.schema();
  arguments = schema.arguments().size();
  returns = schema.returns().size();
  for (size_t i = 0; i < arguments; ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    is_mutable.push_back(argument.alias_info() && argument.alias_info()->isWrite());
    if (IsGenerator(argument)) generators.push_back(static_cast<uint8_t>(i));
  }
  mixes_devices = Mixes(name.name);
  takes_host_indices = Contains(kIndexing, name.name);
  has_cpu_kernel = op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU);
  ascend_dtypes = AscendDtypes(name.name);
  if (ascend_dtypes != 0) typed_arguments = TypedArguments(schema);
  if (name.name == "aten::_pack_padded_sequence") cpu_result = 1;  // batch_sizes
  if (Contains(kMetadata, name.name)) cpu_result = 0;
}

const Plan& PlanOf(const c10::OperatorHandle& op) {
  // Per thread, so that no lock is taken per call.
  thread_local std::unordered_map<const c10::FunctionSchema*, std::unique_ptr<Plan>> plans;
  std::unique_ptr<Plan>& plan = plans[&op.schema()];
  // An operator that was removed may leave its address to another one.
  if (!plan || !(plan->name == op.operator_name())) plan = std::make_unique<Plan>(op);
  return *plan;
}

}  // namespace npu_backend
