// SPDX-License-Identifier: Apache-2.0
#include "device/queued_copy.h"

#include <cstring>

#include "device/allocator.h"
#include "device/launch.h"
#include "device/stream.h"
#include "npu_runtime.h"

namespace npu_backend {
namespace {

struct CopyArguments {
  void* to;
  const void* from;
  size_t bytes;
};

void RunCopy(const void* arguments) {
  const auto& copy = *static_cast<const CopyArguments*>(arguments);
  std::memcpy(copy.to, copy.from, copy.bytes);
}

constexpr npuKernelPass kPass = {&RunCopy, sizeof(CopyArguments), /*core_layout=*/0};
/// A launch, not a host function: it owns the memory also when a fault before it drops it.
constexpr npuKernel kCopyKernel = {"npu_copy", &kPass, nullptr};

bool HasPlainLayout(const at::Tensor& tensor) {
  return tensor.layout() == c10::kStrided && tensor.is_non_overlapping_and_dense() &&
         !tensor.is_conj() && !tensor.is_neg();
}

bool IsMoveOfBytes(const at::Tensor& self, const at::Tensor& source) {
  if (self.is_nested() || source.is_nested()) return false;  // these have no sizes
  return self.scalar_type() == source.scalar_type() && self.numel() > 0 &&
         self.sizes() == source.sizes() && HasPlainLayout(self) && HasPlainLayout(source) &&
         self.strides() == source.strides();
}

char* DataOf(const at::Tensor& tensor) {
  auto* begin = static_cast<char*>(tensor.storage().unsafeGetStorageImpl()->mutable_data());
  return begin + tensor.storage_offset() * static_cast<int64_t>(tensor.itemsize());
}

}  // namespace

bool QueueCopy(const at::Tensor& self, const at::Tensor& source) {
  const bool to_npu = self.is_privateuseone();
  const at::Tensor& device = to_npu ? self : source;
  const at::Tensor& host = to_npu ? source : self;
  if (!host.is_cpu() || !IsMoveOfBytes(self, source) || !IsPinned(DataOf(host))) return false;
  const c10::Stream stream = CurrentStream(device.device().index());
  const npuStream_t native = NativeStream(stream);
  if (npuStreamQuery(native) != NPU_ERROR_NOT_READY) return false;
  const CopyArguments arguments = {DataOf(self), DataOf(source),
                                   static_cast<size_t>(self.numel()) * self.itemsize()};
  npuLaunchConfig config = {};
  config.kernel = &kCopyKernel;
  config.block_dim = 1;
  config.args = &arguments;
  config.args_bytes = sizeof(arguments);
  config.stream = native;
  LaunchHolding(config, device);
  KeepPinnedUntil(DataOf(host), stream);
  npuStreamQuery(native);  // whoever asks not to block asks for overlap
  return true;
}

}  // namespace npu_backend
