// SPDX-License-Identifier: Apache-2.0
#include "device/generator.h"

#include <ATen/CPUGeneratorImpl.h>

#include <vector>

#include "device/device.h"

namespace npu_backend {
namespace {

class NpuGenerator final : public c10::GeneratorImpl {
 public:
  NpuGenerator(c10::DeviceIndex device, at::Generator inner)
      : c10::GeneratorImpl(c10::Device(c10::DeviceType::PrivateUse1, device),
                           c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
        inner_(std::move(inner)) {}

  void set_current_seed(uint64_t seed) override { inner_.set_current_seed(seed); }
  /// Numbers come from a state, not from a counter: the offset is 0 always. Pickling asks for it.
  void set_offset(uint64_t offset) override {
    TORCH_CHECK(offset == 0, "npu generator: expected offset 0, got ", offset,
                "; save and restore the state instead");
  }
  uint64_t get_offset() const override { return 0; }
  uint64_t current_seed() const override { return inner_.current_seed(); }
  uint64_t seed() override { return inner_.seed(); }
  void set_state(const c10::TensorImpl& state) override {
    inner_.unsafeGetGeneratorImpl()->set_state(state);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return inner_.unsafeGetGeneratorImpl()->get_state();
  }

  const at::Generator& inner() const { return inner_; }

 private:
  NpuGenerator* clone_impl() const override {
    return new NpuGenerator(device().index(), inner_.clone());
  }

  at::Generator inner_;
};

}  // namespace

at::Generator NewGenerator(c10::DeviceIndex device) {
  if (device < 0) device = CurrentDevice();
  return at::make_generator<NpuGenerator>(device, at::detail::createCPUGenerator());
}

const at::Generator& DefaultGenerator(c10::DeviceIndex device) {
  static auto& generators = *new std::vector<at::Generator>([] {
    std::vector<at::Generator> all;
    for (c10::DeviceIndex i = 0; i < DeviceCount(); ++i) {
      all.push_back(NewGenerator(i));
      // As PyTorch's default generators do: reproducible only after manual_seed.
      all.back().seed();
    }
    return all;
  }());
  if (device < 0) device = CurrentDevice();
  TORCH_CHECK(static_cast<uint8_t>(device) < generators.size(),
              "npu: expected a device index in [0, ", generators.size(), "), got ",
              static_cast<int>(device));
  return generators[static_cast<uint8_t>(device)];
}

at::Generator InnerGenerator(const at::Generator& generator) {
  if (generator.device().type() != c10::DeviceType::PrivateUse1) return generator;
  return static_cast<NpuGenerator*>(generator.unsafeGetGeneratorImpl())->inner();
}

}  // namespace npu_backend
