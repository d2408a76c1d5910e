// SPDX-License-Identifier: Apache-2.0
// torch.ops.npu: my_add, my_mul, my_split, my_relu_ and my_conv with gradients of the first and the
// last; my_add_, fused_add_relu and my_add_async. float32, on npu.
#include <torch/extension.h>
#include <torch_npu/csrc/framework/utils/OpAdapter.h>

#include "my_kernels.hpp"
#include "npu/exec_kernel.hpp"

namespace my_pto_ops {
namespace {

constexpr int64_t kBlocks = 24;

void CheckFloat(const char* op, const at::Tensor& x) {
  TORCH_CHECK_TYPE(x.scalar_type() == at::kFloat, op, ": expected a tensor of dtype Float, got ",
                   x.scalar_type());
  TORCH_CHECK_VALUE(x.numel() <= UINT32_MAX, op, ": expected at most 2**32 - 1 elements, got ",
                    x.numel());
}

void CheckPair(const char* op, const at::Tensor& x, const at::Tensor& y) {
  CheckFloat(op, x);
  CheckFloat(op, y);
  TORCH_CHECK_VALUE(x.device() == y.device(), op, ": expected y on ", x.device(),
                    " (the device of x), got it on ", y.device());
  TORCH_CHECK_VALUE(x.sizes() == y.sizes(), op, ": expected y of size ", x.sizes(),
                    " (the size of x), got ", y.sizes());
}

// --- element by element: the launch holds copies that contiguous() makes until it has run ---

at::Tensor my_add_impl(const at::Tensor& x, const at::Tensor& y) {
  CheckPair("npu::my_add", x, y);
  at::Tensor out = at::empty(x.sizes(), x.options());
  if (out.numel() == 0) return out;
  EXEC_KERNEL_CMD(MyAddKernel, kBlocks, out, x.contiguous(), y.contiguous(), out.numel());
  return out;
}

at::Tensor& my_add_inplace(at::Tensor& x, const at::Tensor& y) {
  CheckPair("npu::my_add_", x, y);
  if (x.numel() == 0) return x;
  EXEC_KERNEL_CMD(MyAddInplaceKernel, kBlocks, x, y.contiguous(), x.numel());
  return x;
}

at::Tensor my_add_async(const at::Tensor& x, const at::Tensor& y) {
  CheckPair("npu::my_add_async", x, y);
  at::Tensor out = at::empty(x.sizes(), x.options());
  if (out.numel() == 0) return out;
  auto stream = c10_npu::getCurrentNPUStream(x.device().index());
  EXEC_KERNEL_ASYNC(MyAddKernel, kBlocks, stream, out, x.contiguous(), y.contiguous(), out.numel());
  return out;
}

at::Tensor fused_add_relu(const at::Tensor& x, const at::Tensor& y) {
  CheckPair("npu::fused_add_relu", x, y);
  at::Tensor out = at::empty(x.sizes(), x.options());
  if (out.numel() == 0) return out;
  EXEC_KERNEL_CMD(FusedAddReluKernel, kBlocks, out, x.contiguous(), y.contiguous(), out.numel());
  return out;
}

at::Tensor my_mul_impl(const at::Tensor& x, const at::Scalar& alpha) {
  CheckFloat("npu::my_mul", x);
  at::Tensor out = at::empty(x.sizes(), x.options());
  if (out.numel() == 0) return out;
  EXEC_KERNEL_CMD(MyMulKernel, kBlocks, out, x.contiguous(), alpha.toDouble(), out.numel());
  return out;
}

at::Tensor& my_relu_impl(at::Tensor& self) {
  CheckFloat("npu::my_relu_", self);
  if (self.numel() == 0) return self;
  EXEC_KERNEL_CMD(MyReluKernel, kBlocks, self, self.numel());
  return self;
}

// --- several results: copies of the two halves of x along dim ---

at::Tensor Part(const at::Tensor& x, int64_t dim, int64_t first, int64_t count) {
  const at::Tensor part = x.narrow(dim, first, count);
  at::Tensor out = at::empty(part.sizes(), x.options());
  if (out.numel() == 0) return out;
  const int64_t rows = c10::size_to_dim_(static_cast<int>(dim), x.sizes());
  const int64_t pitch = x.numel() / rows;
  // AnyStrides: the kernel knows them. The part starts within the memory of x.
  EXEC_KERNEL_CMD(MySplitKernel, kBlocks, out, npu::AnyStrides{part}, rows, out.numel() / rows,
                  pitch);
  return out;
}

std::tuple<at::Tensor, at::Tensor> my_split_impl(const at::Tensor& x, int64_t dim) {
  CheckFloat("npu::my_split", x);
  TORCH_CHECK_VALUE(x.dim() > 0, "npu::my_split: expected x of a dimension or more, got none");
  dim = at::maybe_wrap_dim(dim, x.dim());
  const at::Tensor rows = x.contiguous();
  const int64_t half = (x.size(dim) + 1) / 2;
  return {Part(rows, dim, 0, half), Part(rows, dim, half, x.size(dim) - half)};
}

// --- with a gradient: products with the windows of input, side by side ---

/// bias + a b; a: rows x depth, b: depth x columns.
at::Tensor Product(const at::Tensor& a, const at::Tensor& b, const at::Tensor& bias) {
  at::Tensor out = at::empty({a.size(0), b.size(1)}, b.options());
  if (out.numel() == 0) return out;
  EXEC_KERNEL_CMD(MyProductKernel, kBlocks, out, a.contiguous(), b.contiguous(), bias, a.size(0),
                  a.size(1), b.size(1));
  return out;
}

/// Each column holds what one window sees of all images: (channels * kernel) x (images * windows).
at::Tensor Windows(const at::Tensor& input, at::IntArrayRef kernel, int64_t stride,
                   int64_t padding) {
  const at::Tensor columns =
      at::im2col(input, kernel, {1, 1}, {padding, padding}, {stride, stride});
  return columns.transpose(0, 1).reshape({columns.size(1), -1});
}

int64_t OutputSize(int64_t input, int64_t kernel, int64_t stride, int64_t padding) {
  return (input + 2 * padding - kernel) / stride + 1;
}

void CheckConv(const at::Tensor& input, const at::Tensor& weight, int64_t stride, int64_t padding) {
  constexpr const char* kWhere = "npu::my_conv";
  CheckFloat(kWhere, input);
  CheckFloat(kWhere, weight);
  TORCH_CHECK_VALUE(input.dim() == 4 && weight.dim() == 4, kWhere,
                    ": expected input and weight of 4 dimensions, got ", input.dim(), " and ",
                    weight.dim());
  TORCH_CHECK_VALUE(input.size(1) == weight.size(1), kWhere, ": expected weight for ",
                    input.size(1), " channels (those of input), got it for ", weight.size(1));
  TORCH_CHECK_VALUE(stride > 0 && padding >= 0, kWhere,
                    ": expected a stride above and a padding of 0 or more, got ", stride, " and ",
                    padding);
}

at::Tensor run_conv_forward(const at::Tensor& input, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, int64_t stride,
                            int64_t padding) {
  CheckConv(input, weight, stride, padding);
  const at::Tensor columns = Windows(input, weight.sizes().slice(2), stride, padding);
  const at::Tensor out = Product(weight.flatten(1), columns, bias.value_or(at::Tensor()));
  const int64_t height = OutputSize(input.size(2), weight.size(2), stride, padding);
  return out.reshape({weight.size(0), input.size(0), height, -1}).transpose(0, 1).contiguous();
}

/// grad_output as (channels) x (images * windows).
at::Tensor Rows(const at::Tensor& grad_output) { return grad_output.transpose(0, 1).flatten(1); }

at::Tensor run_conv_backward_input(const at::Tensor& grad_output, const at::Tensor& input,
                                   const at::Tensor& weight, int64_t stride, int64_t padding) {
  const at::Tensor columns = Product(weight.flatten(1).t(), Rows(grad_output), at::Tensor());
  const at::Tensor of_images =
      columns.reshape({columns.size(0), input.size(0), -1}).transpose(0, 1).contiguous();
  return at::col2im(of_images, input.sizes().slice(2), weight.sizes().slice(2), {1, 1},
                    {padding, padding}, {stride, stride});
}

at::Tensor run_conv_backward_weight(const at::Tensor& grad_output, const at::Tensor& input,
                                    const at::Tensor& weight, int64_t stride, int64_t padding) {
  const at::Tensor columns = Windows(input, weight.sizes().slice(2), stride, padding);
  return Product(Rows(grad_output), columns.t(), at::Tensor()).reshape(weight.sizes());
}

at::Tensor run_conv_backward_bias(const at::Tensor& grad_output) {
  return grad_output.sum({0, 2, 3});
}

class MyConvFunction : public torch::autograd::Function<MyConvFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& input,
                            const at::Tensor& weight, const std::optional<at::Tensor>& bias,
                            int64_t stride, int64_t padding) {
    ctx->save_for_backward({input, weight});
    ctx->saved_data["has_bias"] = bias.has_value();
    ctx->saved_data["stride"] = stride;
    ctx->saved_data["padding"] = padding;
    at::AutoDispatchBelowADInplaceOrView below;
    return run_conv_forward(input, weight, bias, stride, padding);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grad_outputs) {
    const auto saved = ctx->get_saved_variables();
    const at::Tensor &input = saved[0], &weight = saved[1], &grad = grad_outputs[0];
    const int64_t stride = ctx->saved_data["stride"].toInt();
    const int64_t padding = ctx->saved_data["padding"].toInt();
    at::Tensor of_input, of_weight, of_bias;
    if (ctx->needs_input_grad(0)) {
      of_input = run_conv_backward_input(grad, input, weight, stride, padding);
    }
    if (ctx->needs_input_grad(1)) {
      of_weight = run_conv_backward_weight(grad, input, weight, stride, padding);
    }
    if (ctx->saved_data["has_bias"].toBool()) of_bias = run_conv_backward_bias(grad);
    return {of_input, of_weight, of_bias, at::Tensor(), at::Tensor()};
  }
};

at::Tensor my_conv(const at::Tensor& input, const at::Tensor& weight,
                   const std::optional<at::Tensor>& bias, int64_t stride, int64_t padding) {
  return MyConvFunction::apply(input, weight, bias, stride, padding);
}

class MyAddFunction : public torch::autograd::Function<MyAddFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& x,
                            const at::Tensor& y) {
    at::AutoDispatchBelowADInplaceOrView below;
    static const auto op = c10::Dispatcher::singleton()
                               .findSchemaOrThrow("npu::my_add", "")
                               .typed<at::Tensor(const at::Tensor&, const at::Tensor&)>();
    return op.call(x, y);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 torch::autograd::variable_list grad_outputs) {
    return {grad_outputs[0], grad_outputs[0]};
  }
};

at::Tensor my_add(const at::Tensor& x, const at::Tensor& y) { return MyAddFunction::apply(x, y); }

/// Whether these names are free: a second definition of one would end the process.
bool NamesAreFree() {
  static const bool kFree =
      !c10::Dispatcher::singleton().findSchema({"npu::my_add", ""}).has_value();
  return kFree;
}

}  // namespace
}  // namespace my_pto_ops

TORCH_LIBRARY_FRAGMENT(npu, m) {
  if (!my_pto_ops::NamesAreFree()) return;
  m.def("my_add(Tensor x, Tensor y) -> Tensor");
  m.def("my_mul(Tensor x, Scalar alpha) -> Tensor");
  m.def("my_split(Tensor x, int dim) -> (Tensor, Tensor)");
  m.def("my_relu_(Tensor(a!) self) -> Tensor(a!)");
  m.def(
      "my_conv(Tensor input, Tensor weight, Tensor? bias=None, "
      "int stride=1, int padding=0) -> Tensor");
  m.def("my_add_(Tensor(a!) x, Tensor y) -> Tensor(a!)");
  m.def("fused_add_relu(Tensor x, Tensor y) -> Tensor");
  m.def("my_add_async(Tensor x, Tensor y) -> Tensor");
}

TORCH_LIBRARY_IMPL(npu, PrivateUse1, m) {
  if (!my_pto_ops::NamesAreFree()) return;
  m.impl("my_add", TORCH_FN(my_pto_ops::my_add_impl));
  m.impl("my_mul", TORCH_FN(my_pto_ops::my_mul_impl));
  m.impl("my_split", TORCH_FN(my_pto_ops::my_split_impl));
  m.impl("my_relu_", TORCH_FN(my_pto_ops::my_relu_impl));
  m.impl("my_conv", TORCH_FN(my_pto_ops::run_conv_forward));
  m.impl("my_add_", TORCH_FN(my_pto_ops::my_add_inplace));
  m.impl("fused_add_relu", TORCH_FN(my_pto_ops::fused_add_relu));
  m.impl("my_add_async", TORCH_FN(my_pto_ops::my_add_async));
}

TORCH_LIBRARY_IMPL(npu, Autograd, m) {
  if (!my_pto_ops::NamesAreFree()) return;
  m.impl("my_add", TORCH_FN(my_pto_ops::my_add));
  m.impl("my_conv", TORCH_FN(my_pto_ops::my_conv));
}

// What makes the library a Python module.
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() = "Loads torch.ops.npu.my_add and its neighbours.";
  if (my_pto_ops::NamesAreFree()) return;
  throw pybind11::import_error(
      "my_pto_ops: expected the name npu::my_add to be free, got it taken; import my_pto_ops "
      "in a process that imports no other package with that operator (op_extension is one)");
}
