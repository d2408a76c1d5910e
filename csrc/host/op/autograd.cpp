// SPDX-License-Identifier: Apache-2.0
#include "op/autograd.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

namespace npu_host {
namespace {

namespace autograd = torch::autograd;

/// A node of the graph whose way back is a function.
class FunctionNode : public autograd::Node {
 public:
  FunctionNode(const char* name, autograd::edge_list&& next, Backward backward)
      : Node(std::move(next)), name_(name), backward_(std::move(backward)) {}

  std::string name() const override { return name_; }

  void Save(const at::Tensor& tensor, bool is_output, bool is_view_changed_in_place) {
    saved_.emplace_back(tensor, is_output, is_view_changed_in_place);
  }

  void release_variables() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (autograd::SavedVariable& saved : saved_) saved.reset_data();
  }

  autograd::variable_list apply(autograd::variable_list&& gradients) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto is_defined = [](const at::Tensor& gradient) { return gradient.defined(); };
    if (std::none_of(gradients.begin(), gradients.end(), is_defined))
      return autograd::variable_list(num_outputs());
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined()) gradients[i] = input_metadata(i).zeros_like();
    }
    TensorList saved;
    saved.reserve(saved_.size());
    for (const autograd::SavedVariable& variable : saved_)
      saved.push_back(variable.unpack(c10::intrusive_ptr<Node>::reclaim_copy(this)));
    std::vector<bool> wanted(num_outputs());
    for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = task_should_compute_output(i);
    return backward_({gradients, saved, wanted});
  }

 private:
  std::string name_;
  Backward backward_;
  std::vector<autograd::SavedVariable> saved_;
};

c10::intrusive_ptr<FunctionNode> MakeNode(const char* name,
                                          std::initializer_list<at::Tensor> inputs,
                                          Backward backward) {
  autograd::edge_list next;
  for (const at::Tensor& input : inputs) {
    next.push_back(input.defined() ? autograd::impl::gradient_edge(input) : autograd::Edge());
  }
  return c10::make_intrusive<FunctionNode>(name, std::move(next), std::move(backward));
}

}  // namespace

bool GradientWanted(std::initializer_list<at::Tensor> inputs) {
  for (const at::Tensor& input : inputs) {
    TORCH_CHECK_NOT_IMPLEMENTED(!input.defined() || !input._fw_grad(/*level=*/0).defined(),
                                "npu: expected inputs without a forward-mode tangent, got one "
                                "with; use reverse mode");
  }
  if (!at::GradMode::is_enabled()) return false;
  return std::any_of(inputs.begin(), inputs.end(), [](const at::Tensor& input) {
    return input.defined() && input.requires_grad();
  });
}

void RecordGradient(const char* name, std::initializer_list<at::Tensor> inputs,
                    at::TensorList outputs, at::TensorList saved, Backward backward) {
  const c10::intrusive_ptr<FunctionNode> node = MakeNode(name, inputs, std::move(backward));
  for (const at::Tensor& output : outputs) autograd::set_history(output, node);
  for (const at::Tensor& tensor : saved) {
    const bool is_output =
        std::any_of(outputs.begin(), outputs.end(),
                    [&](const at::Tensor& output) { return output.is_same(tensor); });
    node->Save(tensor, is_output, /*is_view_changed_in_place=*/false);
  }
}

void RecordInPlace(const char* name, const at::Tensor& self,
                   std::initializer_list<at::Tensor> inputs, at::TensorList saved,
                   const std::function<void()>& run, Backward backward) {
  const bool wanted = GradientWanted(inputs);
  autograd::check_inplace(self, wanted);
  const c10::intrusive_ptr<FunctionNode> node =
      wanted ? MakeNode(name, inputs, std::move(backward)) : nullptr;
  {
    const at::AutoDispatchBelowAutograd below;
    run();
  }
  if (!node) return;
  autograd::rebase_history(self, node);
  for (const at::Tensor& tensor : saved)
    node->Save(tensor, tensor.is_same(self), tensor.is_same(self) && self.is_view());
}

}  // namespace npu_host
