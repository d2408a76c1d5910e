// SPDX-License-Identifier: Apache-2.0
#include "op/autograd.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/variable.h>

#include <string>
#include <utility>

namespace npu_host {
namespace {

/// A node of the graph whose way back is a function.
class FunctionNode : public torch::autograd::Node {
 public:
  FunctionNode(const char* name, torch::autograd::edge_list&& next, Backward backward)
      : Node(std::move(next)), name_(name), backward_(std::move(backward)) {}

  std::string name() const override { return name_; }

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    if (!gradients[0].defined()) return torch::autograd::variable_list(num_outputs());
    return backward_(gradients[0]);
  }

 private:
  std::string name_;
  Backward backward_;
};

}  // namespace

bool GradientWanted(std::initializer_list<at::Tensor> inputs) {
  if (!at::GradMode::is_enabled()) return false;
  for (const at::Tensor& input : inputs) {
    if (input.requires_grad()) return true;
  }
  return false;
}

void RecordGradient(const char* name, std::initializer_list<at::Tensor> inputs,
                    const at::Tensor& output, Backward backward) {
  torch::autograd::edge_list next;
  for (const at::Tensor& input : inputs) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        !input._fw_grad(0).defined(), name,
        ": expected inputs without a forward-mode tangent, got one with; use reverse mode");
    next.push_back(torch::autograd::impl::gradient_edge(input));
  }
  torch::autograd::set_history(
      output, c10::make_intrusive<FunctionNode>(name, std::move(next), std::move(backward)));
}

}  // namespace npu_host
