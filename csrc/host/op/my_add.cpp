// SPDX-License-Identifier: Apache-2.0
#include "op/my_add.h"

#include <ATen/core/LegacyTypeDispatch.h>

#include "op/autograd.h"
#include "op/broadcast.h"
#include "op/define.h"
#include "op/operators.h"

namespace npu_host {
namespace {

constexpr const char* kWhere = "npu::my_add";

at::Tensor MyAdd(const at::Tensor& x, const at::Tensor& y) {  // PrivateUse1 and CPU
  const at::Tensor z = BroadcastResult(kWhere, {x, y});
  TensorLauncher launcher(z, {x, y});
  Check(op::MyAdd(Operand(x, z.sizes()), Operand(y, z.sizes()), Operand(z, z.sizes()), launcher));
  return z;
}

at::Tensor MyAddMeta(const at::Tensor& x, const at::Tensor& y) {
  return BroadcastMeta(kWhere, {x, y});
}

/// The way back from x + y.
Backward SumToOperands(const at::Tensor& x, const at::Tensor& y) {
  return [x_size = x.sym_sizes().vec(), y_size = y.sym_sizes().vec()](const BackwardCall& call) {
    return TensorList{SumTo(call.gradient(), x_size), SumTo(call.gradient(), y_size)};
  };
}

at::Tensor MyAddAutograd(const at::Tensor& x, const at::Tensor& y) {
  static const auto op = Operator<decltype(MyAdd)>(kWhere);
  at::Tensor z = [&] {
    const at::AutoDispatchBelowADInplaceOrView below;
    return op.call(x, y);
  }();
  if (GradientWanted({x, y})) RecordGradient("MyAddBackward", {x, y}, z, {}, SumToOperands(x, y));
  return z;
}

// --- in place ------------------------------------------------------------------------------------

constexpr const char* kInPlace = "npu::my_add_";

at::Tensor& MyAddInPlace(at::Tensor& x, const at::Tensor& y) {  // PrivateUse1 and CPU
  CheckInPlace(kInPlace, {x, y});
  const at::Tensor other = ApartFrom(x, y);
  TensorLauncher launcher(x, {x, other});
  const Operand to(x, x.sizes());
  Check(op::MyAdd(to, Operand(other, x.sizes()), to, launcher));
  return x;
}

at::Tensor& MyAddInPlaceMeta(at::Tensor& x, const at::Tensor& y) {
  CheckInPlace(kInPlace, {x, y});
  return x;
}

at::Tensor& MyAddInPlaceAutograd(at::Tensor& x, const at::Tensor& y) {
  static const auto op = Operator<decltype(MyAddInPlace)>(kInPlace);
  RecordInPlace("MyAddBackward", x, {x, y}, {}, [&] { op.call(x, y); }, SumToOperands(x, y));
  return x;
}

void Define() {
  DefineOperator("my_add(Tensor x, Tensor y) -> Tensor", MyAdd, MyAddMeta, MyAddAutograd,
                 Autocast::kWidest);
  DefineOperator("my_add_(Tensor(a!) self, Tensor y) -> Tensor(a!)", MyAddInPlace, MyAddInPlaceMeta,
                 MyAddInPlaceAutograd, Autocast::kNone);
  DefineInPlace("my_add_");
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension", {kWhere, kInPlace},
                                                              &Define);

}  // namespace
}  // namespace npu_host
