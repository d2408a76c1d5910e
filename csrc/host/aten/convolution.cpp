// SPDX-License-Identifier: Apache-2.0
#include <torch/library.h>

#include "aten/cpu_call.h"
#include "device/registration.h"

/// PyTorch leaves the convolutions of a private device to these two operators. They take what the
/// CPU ones take.
namespace npu_backend {
namespace {

using torch::jit::Stack;

void Convolution(const c10::OperatorHandle&, Stack* stack) {
  static const c10::OperatorHandle op =
      c10::Dispatcher::singleton().findSchemaOrThrow("aten::convolution", "");
  CallOnCpu(op, stack);
}

/// Positions on the stack, from the end: schema of aten::convolution_backward_overrideable.
constexpr size_t kArguments = 10;
constexpr size_t kWeight = 2;
constexpr size_t kTransposed = 6;
constexpr size_t kGroups = 8;
constexpr size_t kOutputMask = 9;

/// aten::convolution_backward takes the sizes of the bias behind the weight.
void ConvolutionBackward(const c10::OperatorHandle&, Stack* stack) {
  static const c10::OperatorHandle op =
      c10::Dispatcher::singleton().findSchemaOrThrow("aten::convolution_backward", "");
  const auto arguments = stack->end() - kArguments;
  c10::IValue bias_sizes;
  if (arguments[kOutputMask].toBoolList().get(2)) {
    const at::Tensor& weight = arguments[kWeight].toTensor();
    const bool transposed = arguments[kTransposed].toBool();
    const int64_t channels =
        transposed ? weight.size(1) * arguments[kGroups].toInt() : weight.size(0);
    bias_sizes = c10::List<int64_t>({channels});
  }
  stack->insert(arguments + kWeight + 1, std::move(bias_sizes));
  CallOnCpu(op, stack);
}

void Define() {
  torch::Library& aten = Implement("aten", c10::DispatchKey::PrivateUse1);
  aten.impl("convolution_overrideable", torch::CppFunction::makeFromBoxedFunction<&Convolution>());
  aten.impl("convolution_backward_overrideable",
            torch::CppFunction::makeFromBoxedFunction<&ConvolutionBackward>());
}

const Registration registration NPU_REGISTRATION(kDeviceOwner, {}, &Define);

}  // namespace
}  // namespace npu_backend
