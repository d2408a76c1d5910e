// SPDX-License-Identifier: Apache-2.0
#include "compat/host/npu/launch_kernel.hpp"

#include <c10/util/SmallVector.h>

#include <string>

#include "device/device.h"
#include "device/stream.h"
#include "device/tensor_argument.h"

namespace npu {
namespace {

/// Raises unless tensor may stand for parameter. where: the sentence up to "expected"; first:
/// device of the first tensor.
void CheckTensor(const std::string& where, const npuParameter& parameter,
                 const npuTensorFacts& facts, const TensorArgument& argument, int32_t first) {
  TORCH_CHECK_VALUE(facts.device != NPU_TENSOR_ELSEWHERE, where,
                    "a tensor on npu or cpu, got one on ", argument.tensor->device());
  const TensorRefusal refusal =
      RefusalOf(parameter, facts, first, argument.any_strides ? nullptr : "npu::AnyStrides");
  TORCH_CHECK_TYPE(refusal.kind != TensorRefusal::kType, where, refusal.sentence);
  TORCH_CHECK_VALUE(refusal.kind != TensorRefusal::kValue, where, refusal.sentence);
}

/// Device of the launch: that of the tensors, or without any the one of raw addresses' stream. The
/// two must agree.
void SettleDevice(const npuKernel& kernel, const LaunchOptions& options, int32_t& device) {
  TORCH_CHECK_VALUE(device != NPU_TENSOR_ELSEWHERE || options.has_raw, kernel.name,
                    ": expected a tensor among the arguments, got none");
  int of_stream = npu_backend::CurrentDevice();
  if (options.stream != nullptr) npu_backend::Check(npuStreamGetDevice(options.stream, &of_stream));
  if (device == NPU_TENSOR_ELSEWHERE) device = of_stream;
  TORCH_CHECK_VALUE(device == NPU_TENSOR_ON_CPU || options.stream == nullptr || device == of_stream,
                    kernel.name, ": expected a stream of ", DeviceName(device),
                    " (as the tensors), got one of ", DeviceName(of_stream));
}

}  // namespace

void LaunchOnTensors(const npuKernel& kernel, const npuSignature& signature,
                     const LaunchOptions& options, int64_t blocks, std::byte* args,
                     c10::ArrayRef<TensorArgument> tensors) {
  const npuTensorInterface& interface = *npu_backend_tensor_interface();
  TORCH_CHECK_VALUE(blocks >= 1 && blocks <= NPU_MAX_BLOCK_DIM, kernel.name,
                    ": expected blocks from 1 to ", NPU_MAX_BLOCK_DIM, ", got ", blocks);
  int32_t device = NPU_TENSOR_ELSEWHERE;
  c10::SmallVector<void*, 8> addresses;
  for (const TensorArgument& argument : tensors) {
    if (!argument.tensor->defined()) continue;
    const npuParameter& parameter = signature.parameters[argument.parameter];
    const std::string where = std::string(kernel.name) + ": argument " +
                              std::to_string(argument.parameter) + " (" + TypeName(parameter) +
                              "): expected ";
    npuTensorFacts facts = {};
    addresses.push_back(argument.tensor->unsafeGetTensorImpl());
    TORCH_CHECK_TYPE(interface.describe(addresses.back(), &facts) == 0, where,
                     "a dense tensor with memory, got ", interface.message());
    CheckTensor(where, parameter, facts, argument, device);
    device = facts.device;
    std::memcpy(args + parameter.offset, static_cast<const void*>(&facts.data), sizeof(void*));
  }
  SettleDevice(kernel, options, device);
  npuLaunchConfig config = {};
  config.kernel = &kernel;
  config.block_dim = static_cast<uint32_t>(blocks);
  const bool any_global = options.has_raw || GetsAddresses(signature);
  config.flags = options.flags | (any_global ? 0 : NPU_LAUNCH_ONLY_RANGES);
  config.stream = device == NPU_TENSOR_ON_CPU ? nullptr : options.stream;
  config.args = args;
  config.args_bytes = (kernel.vector ? kernel.vector : kernel.cube)->args_bytes;
  TORCH_CHECK(interface.launch(&config, device, addresses.data(), addresses.size()) == 0,
              interface.message());
  if (options.has_raw && options.waits_for_raw && device != NPU_TENSOR_ON_CPU) {
    const npuStream_t stream = options.stream;
    npu_backend::Check(npuStreamSynchronize(
        stream != nullptr
            ? stream
            : npu_backend::CurrentNativeStream(static_cast<c10::DeviceIndex>(device))));
  }
}

}  // namespace npu
