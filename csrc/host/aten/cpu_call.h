// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/util/SmallVector.h>

#include "aten/plan.h"
#include "device/allocator.h"
#include "device/stream.h"
#include "device/twin.h"

namespace npu_backend {

/// One call of a CPU kernel on npu arguments, without a copy (design D6). Enter replaces the
/// arguments on the stack by CPU ones over the same memory, Leave replaces the results: an argument
/// that comes back is the caller's tensor, a view shares the storage of its argument, other memory
/// is adopted. Sparse tensors are taken apart and put together again.
class CpuCall {
 public:
  explicit CpuCall(const Plan& plan) : plan_(plan) {}
  ~CpuCall();
  CpuCall(const CpuCall&) = delete;
  CpuCall& operator=(const CpuCall&) = delete;

  void Enter(c10::IValue* arguments, size_t count);
  void Leave(c10::IValue* results, size_t count);

  /// The same one by one: arguments, then EndEntering, later the results.
  at::Tensor EnterTensor(const at::Tensor& tensor, bool is_mutable);
  void EndEntering();
  at::Tensor LeaveTensor(at::Tensor tensor);

  /// Runs call, which makes the call of the CPU kernel, once the arguments have entered.
  template <class Call>
  auto Run(Call&& call) {
    Drain(device_.index());
    const HostAllocationsOn allocations(device_.index());
    const c10::impl::ExcludeDispatchKeyGuard below_autograd_and_autocast(
        c10::autograd_dispatch_keyset_with_ADInplaceOrView | c10::autocast_dispatch_keyset);
    return call();
  }

 private:
  struct Argument {
    at::Tensor original;  // on npu
    at::Tensor shadow;
    StoragePtr twin;
    bool is_mutable;
  };
  struct SparseArgument {
    at::Tensor original;  // on npu
    at::Tensor shadow;
    bool is_mutable;
  };
  struct HostArgument {
    at::Tensor tensor;  // on CPU
    bool is_mutable;
    bool is_index;
  };
  struct Adopted {
    c10::StorageImpl* twin;
    StoragePtr storage;
  };

  void EnterValue(c10::IValue& value, bool is_mutable);
  at::Tensor EnterStrided(const at::Tensor& tensor, bool is_mutable);
  at::Tensor EnterSparse(const at::Tensor& tensor, bool is_mutable);
  void EnterGenerators(c10::IValue* arguments);
  void UseDevice(c10::Device device);
  void CheckHostTensors() const;
  void LeaveValue(c10::IValue& value);
  at::Tensor FindOriginal(const at::Tensor& shadow) const;
  bool IsHostArgument(const at::Tensor& tensor) const;
  StoragePtr StorageOver(c10::StorageImpl* twin);
  void FollowStorage(Argument& argument);

  const Plan& plan_;
  c10::Device device_{c10::DeviceType::PrivateUse1};  // without an index until one is seen
  bool results_on_cpu_ = false;
  c10::SmallVector<Argument, 4> arguments_;
  c10::SmallVector<SparseArgument, 1> sparse_arguments_;
  c10::SmallVector<Adopted, 2> adopted_;
  c10::SmallVector<HostArgument, 1> host_arguments_;
};

/// Calls the CPU kernel of op with the arguments on stack: that for key, CPU, SparseCPU,
/// SparseCsrCPU or QuantizedCPU.
void CallOnCpu(const c10::OperatorHandle& op, torch::jit::Stack* stack,
               c10::DispatchKey key = c10::DispatchKey::CPU);

}  // namespace npu_backend
