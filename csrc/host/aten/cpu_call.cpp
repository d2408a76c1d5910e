// SPDX-License-Identifier: Apache-2.0
#include "aten/cpu_call.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/List.h>

#include <optional>
#include <utility>

#include "aten/ascend_dtypes.h"
#include "aten/shadow.h"
#include "aten/sparse.h"
#include "device/device.h"
#include "device/fallback_log.h"
#include "device/generator.h"

namespace npu_backend {
namespace {

const c10::Device kCpu(c10::DeviceType::CPU);

/// Some CPU kernels make what only a backward pass needs when an argument requires a gradient.
void FollowRequiresGrad(const at::Tensor& shadow, const at::Tensor& original) {
  if (original.requires_grad()) shadow.unsafeGetTensorImpl()->set_requires_grad(true);
}

/// The same tensor is searched for among so many arguments only: a list of thousands must not cost
/// their square.
constexpr size_t kSearched = 16;

}  // namespace

CpuCall::~CpuCall() {
  // Also after an exception: a kernel that gave an argument other memory before it failed must not
  // leave the caller with a pointer to the old one.
  for (Argument& argument : arguments_) {
    if (argument.is_mutable) FollowStorage(argument);
  }
}

void CpuCall::UseDevice(c10::Device device) {
  if (!device.has_index()) device.set_index(CurrentDevice());
  if (!device_.has_index()) {
    device_ = device;
    return;
  }
  TORCH_CHECK(device_ == device || plan_.mixes_devices,
              "Expected all tensors to be on the same device, but found at least two devices, ",
              device_, " and ", device, "! (", plan_.name, ")");
}

at::Tensor CpuCall::EnterTensor(const at::Tensor& tensor, bool is_mutable) {
  if (!tensor.defined()) return tensor;
  if (!tensor.is_privateuseone()) {
    host_arguments_.push_back({tensor, is_mutable, /*is_index=*/false});
    return tensor;
  }
  UseDevice(tensor.device());
  return IsSparse(tensor) ? EnterSparse(tensor, is_mutable) : EnterStrided(tensor, is_mutable);
}

at::Tensor CpuCall::EnterSparse(const at::Tensor& tensor, bool is_mutable) {
  for (SparseArgument& argument : sparse_arguments_) {
    if (!argument.original.is_same(tensor)) continue;
    argument.is_mutable |= is_mutable;
    return argument.shadow;
  }
  // The parts may change whenever the whole may; to look costs little.
  const auto enter = [this](const at::Tensor& part) { return EnterStrided(part, true); };
  at::Tensor shadow = MapSparse(tensor, kCpu, enter);
  FollowRequiresGrad(shadow, tensor);
  sparse_arguments_.push_back({tensor, shadow, is_mutable});
  return shadow;
}

at::Tensor CpuCall::EnterStrided(const at::Tensor& tensor, bool is_mutable) {
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.has_storage(), plan_.name,
                              ": expected strided or sparse tensors on npu, got layout ",
                              tensor.layout());
  const size_t searched = std::min(arguments_.size(), kSearched);
  for (size_t i = 0; i < searched; ++i) {
    if (!arguments_[i].original.is_same(tensor)) continue;
    arguments_[i].is_mutable |= is_mutable;
    return arguments_[i].shadow;
  }
  StoragePtr twin = TwinOf(tensor.storage().unsafeGetStorageImpl());
  at::Tensor shadow = ShadowOver(tensor, twin);
  FollowRequiresGrad(shadow, tensor);
  arguments_.push_back({tensor, shadow, std::move(twin), is_mutable});
  return shadow;
}

void CpuCall::EnterValue(c10::IValue& value, bool is_mutable) {
  if (value.isTensor()) {
    value = EnterTensor(value.toTensor(), is_mutable);
  } else if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) {
      list.push_back(EnterTensor(tensor, is_mutable));
    }
    value = std::move(list);
  } else if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    const size_t before = host_arguments_.size();
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      list.push_back(tensor ? std::optional(EnterTensor(*tensor, is_mutable)) : std::nullopt);
    }
    for (size_t i = before; i < host_arguments_.size(); ++i) {
      host_arguments_[i].is_index = plan_.takes_host_indices;
    }
    value = std::move(list);
  } else if (value.isDevice()) {
    const c10::Device device = value.toDevice();
    if (device.type() == c10::DeviceType::PrivateUse1) {
      UseDevice(device);
      value = kCpu;
    } else {
      results_on_cpu_ = true;
    }
  }
}

void CpuCall::EnterGenerators(c10::IValue* arguments) {
  for (const uint8_t index : plan_.generators) {
    c10::IValue& value = arguments[index];
    if (value.isNone()) {
      value = InnerGenerator(DefaultGenerator(device_.index()));
      continue;
    }
    const at::Generator generator = value.toGenerator();
    TORCH_CHECK(generator.device() == device_, "Expected a '", device_,
                "' generator device but found '", generator.device(), "'");
    value = InnerGenerator(generator);
  }
}

void CpuCall::CheckHostTensors() const {
  if (plan_.mixes_devices) return;
  for (const auto& [tensor, is_mutable, is_index] : host_arguments_) {
    TORCH_CHECK(is_index || (tensor.dim() == 0 && !is_mutable),
                "Expected all tensors to be on the same device, but found at least two devices, ",
                device_, " and ", tensor.device(), "! (", plan_.name, ")");
  }
}

void CpuCall::EndEntering() {
  if (!device_.has_index()) device_.set_index(CurrentDevice());
  if (!host_arguments_.empty()) CheckHostTensors();
}

void CpuCall::Enter(c10::IValue* arguments, size_t count) {
  for (size_t i = 0; i < count; ++i) EnterValue(arguments[i], plan_.is_mutable[i]);
  EndEntering();
  if (!plan_.generators.empty()) EnterGenerators(arguments);
}

bool CpuCall::IsHostArgument(const at::Tensor& tensor) const {
  for (const HostArgument& argument : host_arguments_) {
    const at::Tensor& host = argument.tensor;
    if (host.is_same(tensor)) return true;
    if (host.has_storage() && tensor.has_storage() && host.is_alias_of(tensor)) return true;
  }
  return false;
}

StoragePtr CpuCall::StorageOver(c10::StorageImpl* twin) {
  for (const Argument& argument : arguments_) {
    if (argument.twin.get() == twin) {
      return StoragePtr::reclaim_copy(argument.original.storage().unsafeGetStorageImpl());
    }
  }
  for (const Adopted& adopted : adopted_) {
    if (adopted.twin == twin) return adopted.storage;
  }
  twin->set_allocator(TwinAllocator());
  StoragePtr storage = AdoptTwin(StoragePtr::reclaim_copy(twin), device_);
  adopted_.push_back({twin, storage});
  return storage;
}

at::Tensor CpuCall::FindOriginal(const at::Tensor& shadow) const {
  for (const Argument& argument : arguments_) {
    if (argument.shadow.is_same(shadow)) return argument.original;
  }
  for (const SparseArgument& argument : sparse_arguments_) {
    if (argument.shadow.is_same(shadow)) return argument.original;
  }
  return {};
}

at::Tensor CpuCall::LeaveTensor(at::Tensor tensor) {
  if (!tensor.defined() || !tensor.device().is_cpu()) return tensor;
  if (at::Tensor original = FindOriginal(tensor); original.defined()) return original;
  if (!host_arguments_.empty() && IsHostArgument(tensor)) return tensor;
  if (IsSparse(tensor)) {
    return MapSparse(tensor, device_, [this](const at::Tensor& part) { return LeaveTensor(part); });
  }
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.has_storage(), plan_.name,
                              ": expected a strided or sparse result on npu, got layout ",
                              tensor.layout());
  StoragePtr storage = StorageOver(tensor.storage().unsafeGetStorageImpl());
  return Relabel(std::move(tensor), std::move(storage), device_);
}

void CpuCall::LeaveValue(c10::IValue& value) {
  if (value.isTensor()) {
    value = LeaveTensor(std::move(value).toTensor());
  } else if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    std::vector<at::Tensor> tensors = value.toTensorVector();
    value = c10::IValue();  // so that the tensors have one owner
    for (at::Tensor& tensor : tensors) list.push_back(LeaveTensor(std::move(tensor)));
    value = std::move(list);
  }
}

void CpuCall::Leave(c10::IValue* results, size_t count) {
  if (!results_on_cpu_) {
    for (size_t i = 0; i < count; ++i) {
      if (plan_.cpu_result != static_cast<int>(i)) LeaveValue(results[i]);
    }
  }
  for (Argument& argument : arguments_) {
    if (argument.is_mutable) FollowShadow(argument.original, argument.shadow);
  }
  const auto leave = [this](const at::Tensor& part) { return LeaveTensor(part); };
  for (SparseArgument& argument : sparse_arguments_) {
    if (argument.is_mutable) AssignSparse(argument.original, argument.shadow, leave);
  }
}

void CpuCall::FollowStorage(Argument& argument) {
  c10::StorageImpl* twin = argument.shadow.storage().unsafeGetStorageImpl();
  if (C10_UNLIKELY(twin != argument.twin.get())) {
    argument.original.unsafeGetTensorImpl()->set_storage_keep_dtype(
        c10::Storage(StorageOver(twin)));
    return;
  }
  FollowTwin(argument.original.storage().unsafeGetStorageImpl(), argument.twin);
}

void CallOnCpu(const c10::OperatorHandle& op, torch::jit::Stack* stack, c10::DispatchKey key) {
  const Plan& plan = PlanOf(op);
  TORCH_CHECK_NOT_IMPLEMENTED(
      key == c10::DispatchKey::CPU ? plan.has_cpu_kernel : op.hasComputedKernelForDispatchKey(key),
      plan.name, ": expected a kernel for npu or for ", key, ", got neither");
  c10::IValue* arguments = stack->data() + stack->size() - plan.arguments;
  CheckAscendDtypes(op, plan, arguments);
  LogFallback(plan.name);
  CpuCall call(plan);
  call.Enter(arguments, plan.arguments);
  call.Run([&] { op.redispatchBoxed(c10::DispatchKeySet(key), stack); });
  call.Leave(stack->data() + stack->size() - plan.returns, plan.returns);
}

}  // namespace npu_backend
