// SPDX-License-Identifier: Apache-2.0
#include "python/kernel.h"

#include <dlfcn.h>

#include <stdexcept>

#include "npu_runtime.h"
#include "python/arguments.h"

namespace npu_python {
namespace {

namespace py = pybind11;

template <class T>
const T* Find(void* library, const std::string& path, const char* symbol) {
  const auto* found = static_cast<const T*>(dlsym(library, symbol));
  if (found == nullptr) {
    throw std::runtime_error(path + ": expected a kernel library with " + symbol + ", got none");
  }
  return found;
}

Pass Load(const std::string& path) {
  if (path.empty()) return {nullptr, nullptr};
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw std::runtime_error("expected to load " + path + ", got: " + dlerror());
  }
  return {Find<npuKernelPass>(library, path, "npu_pass"),
          Find<npuSignature>(library, path, "npu_signature")};
}

bool SameTypes(const npuSignature& a, const npuSignature& b) {
  if (a.count != b.count) return false;
  for (size_t i = 0; i < a.count; ++i) {
    const npuParameter& x = a.parameters[i];
    const npuParameter& y = b.parameters[i];
    if (x.offset != y.offset || x.bytes != y.bytes || x.kind != y.kind ||
        x.is_pointer != y.is_pointer) {
      return false;
    }
  }
  return true;
}

std::string Describe(const npuSignature& signature) {
  std::string text;
  for (size_t i = 0; i < signature.count; ++i) {
    text += (i == 0 ? "" : ", ") + TypeName(signature.parameters[i]);
  }
  return "(" + text + ")";
}

}  // namespace

TensorAccess& TensorAccess::Get() {
  static TensorAccess access;
  return access;
}

Kernel::Kernel(const std::string& name, const std::string& vector_library,
               const std::string& cube_library, bool accept_strided)
    : name_(name), accept_strided_(accept_strided) {
  const Pass vector = Load(vector_library);
  const Pass cube = Load(cube_library);
  signature_ = vector.signature ? vector.signature : cube.signature;
  if (signature_ == nullptr) throw std::runtime_error(name + ": expected a library, got none");
  if (vector.signature && cube.signature && !SameTypes(*vector.signature, *cube.signature)) {
    throw py::type_error(name + ": expected one signature for both kinds of core, got " +
                         Describe(*vector.signature) + " and " + Describe(*cube.signature));
  }
  if (npu::GetsAddresses(*signature_)) forbidden_flags_ = NPU_LAUNCH_ONLY_RANGES;
  // Neither is freed: a queued launch outlives the Python object.
  const auto* lasting_name = new std::string(name);
  kernel_ = new npuKernel{lasting_name->c_str(), vector.pass, cube.pass};
}

py::list Kernel::Signature() const {
  py::list list;
  for (size_t i = 0; i < signature_->count; ++i) {
    const npuParameter& parameter = signature_->parameters[i];
    list.append(py::make_tuple(TypeName(parameter), static_cast<int>(KindOf(parameter)),
                               parameter.bytes, parameter.is_pointer != 0,
                               parameter.is_const != 0));
  }
  return list;
}

bool Kernel::Launch(uint32_t block_dim, uintptr_t stream, uint32_t flags,
                    const py::tuple& args) const {
  Arguments arguments(name_, *signature_, accept_strided_);
  if (!arguments.Pack(args)) return false;
  const npuKernelPass* pass = kernel_->vector ? kernel_->vector : kernel_->cube;
  npuLaunchConfig config = {};
  config.kernel = kernel_;
  config.block_dim = block_dim;
  config.flags = flags & ~forbidden_flags_;
  config.args = arguments.bytes();
  config.args_bytes = pass->args_bytes;
  config.stream = reinterpret_cast<npuStream_t>(stream);
  const npuTensorInterface* interface = TensorAccess::Get().interface;
  if (interface == nullptr)
    throw std::runtime_error(name_ + ": expected op_extension to be imported");
  int error = 0;
  {
    // The call may run what is queued, and wait for a thread that needs the interpreter.
    const py::gil_scoped_release release;
    error = interface->launch(&config, arguments.device(), arguments.tensors().data(),
                              arguments.tensors().size());
  }
  if (error != 0) throw std::runtime_error(interface->message());
  return true;
}

}  // namespace npu_python
