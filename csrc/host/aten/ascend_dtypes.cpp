// SPDX-License-Identifier: Apache-2.0
#include "aten/ascend_dtypes.h"

#include <c10/util/Exception.h>

#include <sstream>
#include <string_view>

#include "device/strict_dtypes.h"

namespace npu_backend {
namespace {

constexpr uint32_t Bit(c10::ScalarType dtype) { return uint32_t{1} << static_cast<int>(dtype); }

constexpr uint32_t kHalf = Bit(c10::ScalarType::Half);
constexpr uint32_t kBFloat16 = Bit(c10::ScalarType::BFloat16);
constexpr uint32_t kFloat = Bit(c10::ScalarType::Float);
constexpr uint32_t kDouble = Bit(c10::ScalarType::Double);
constexpr uint32_t kByte = Bit(c10::ScalarType::Byte);
constexpr uint32_t kChar = Bit(c10::ScalarType::Char);
constexpr uint32_t kShort = Bit(c10::ScalarType::Short);
constexpr uint32_t kInt = Bit(c10::ScalarType::Int);
constexpr uint32_t kLong = Bit(c10::ScalarType::Long);
constexpr uint32_t kBool = Bit(c10::ScalarType::Bool);
constexpr uint32_t kComplexFloat = Bit(c10::ScalarType::ComplexFloat);
constexpr uint32_t kComplexDouble = Bit(c10::ScalarType::ComplexDouble);
constexpr uint32_t kUInt16 = Bit(c10::ScalarType::UInt16);
constexpr uint32_t kUInt32 = Bit(c10::ScalarType::UInt32);
constexpr uint32_t kUInt64 = Bit(c10::ScalarType::UInt64);
constexpr uint32_t kFloats = kHalf | kBFloat16 | kFloat;
constexpr uint32_t kIntegers = kByte | kChar | kShort | kInt | kLong;
constexpr uint32_t kComplex = kComplexFloat | kComplexDouble;
constexpr uint32_t kUnsigned = kUInt16 | kUInt32 | kUInt64;

struct Row {
  uint32_t dtypes;
  std::string_view operators;
};

/// Dtypes of the first operand on Atlas A2 and A3, by operator, without the underscore of the
/// in-place form. A dtype that any of these sources lists counts as taken: parameter tables and
/// checks of the aclnn interfaces (CANN's ops-math and ops-nn, August 2026), torch_npu's list of
/// native interfaces for PyTorch 2.11.
constexpr Row kRows[] = {
    {kFloats,
     "_adaptive_avg_pool2d _adaptive_avg_pool2d_backward _adaptive_avg_pool3d _cdist_backward "
     "_cdist_forward _foreach_abs _foreach_acos _foreach_atan _foreach_cos _foreach_cosh "
     "_foreach_erf _foreach_erfc _foreach_log _foreach_log10 _foreach_log1p _foreach_log2 "
     "_foreach_norm _foreach_reciprocal _foreach_sigmoid _foreach_sin _foreach_sinh "
     "_foreach_tan _foreach_tanh _fused_adamw _fused_sgd _log_softmax_backward_data "
     "_native_batch_norm_legit _native_batch_norm_legit_no_training _prelu_kernel "
     "_softmax_backward_data adaptive_avg_pool2d adaptive_avg_pool3d "
     "adaptive_max_pool2d_backward adaptive_max_pool3d_backward addbmm addmm avg_pool2d "
     "avg_pool2d_backward avg_pool3d avg_pool3d_backward baddbmm batch_norm_backward "
     "batch_norm_gather_stats_with_counts binary_cross_entropy_backward "
     "binary_cross_entropy_with_logits bmm celu conv_tbc convolution convolution_backward "
     "convolution_backward_overrideable convolution_overrideable embedding_dense_backward "
     "embedding_renorm gelu gelu_backward hardshrink hardshrink_backward hardswish "
     "hardswish_backward hardtanh_backward heaviside huber_loss lerp linalg_cholesky_ex "
     "linalg_vector_norm log_sigmoid_backward log_sigmoid_forward logit "
     "max_pool2d_with_indices max_pool2d_with_indices_backward mish mm mse_loss mv "
     "native_batch_norm native_batch_norm_backward native_dropout_backward native_group_norm "
     "native_group_norm_backward native_layer_norm native_layer_norm_backward "
     "nll_loss2d_backward nll_loss2d_forward nll_loss_backward nll_loss_forward norm renorm "
     "silu silu_backward smooth_l1_loss smooth_l1_loss_backward soft_margin_loss_backward "
     "softplus softshrink softshrink_backward std trunc var var_mean"},
    {kFloats | kDouble | kIntegers | kBool | kComplex,
     "acosh add asinh atanh channel_shuffle cos cosh cumsum div embedding eq flip index_copy "
     "isinf log log10 log2 logical_and logical_or logical_xor mul native_dropout ne pow prod "
     "reciprocal reflection_pad1d reflection_pad2d reflection_pad3d rsqrt scatter scatter_add "
     "scatter_reduce sigmoid sin sinh sqrt sub sum tan trace"},
    {kFloats | kDouble | kIntegers | kBool,
     "_foreach_sqrt _index_put_impl _unique _unique2 acos addmv addr all amax amin aminmax any "
     "asin atan atan2 bernoulli clamp cummax cummin exp2 floor_divide index index_add "
     "index_fill index_put isneginf isposinf leaky_relu_backward log1p logical_not "
     "masked_select max maximum min minimum nonzero softplus_backward"},
    {kFloats | kDouble,
     "_ctc_loss _ctc_loss_backward _log_softmax _softmax adaptive_avg_pool3d_backward "
     "adaptive_max_pool2d adaptive_max_pool3d ceil elu glu glu_backward leaky_relu log_softmax "
     "multinomial softmax tanh_backward"},
    {kFloats | kIntegers | kBool,
     "_foreach_asin erfinv logsumexp nan_to_num nansum repeat_interleave sort tanh"},
    {kFloats | kDouble | kIntegers, "argmax argmin clamp_max clamp_min fmod hardtanh topk"},
    {kFloats | kDouble | kIntegers | kBool | kUnsigned,
     "equal ge gt logaddexp logaddexp2 lt signbit"},
    {kFloats | kIntegers, "_add_relu bucketize frac kthvalue median nanmedian threshold"},
    {kFloats | kDouble | kIntegers | kComplex,
     "linalg_cross mean replication_pad1d replication_pad2d replication_pad3d rsub"},
    {kHalf | kFloat, "_pdist_forward batch_norm_stats linalg_inv_ex"},
    {kFloats | kDouble | kLong | kBool, "erf erfc expm1"},
    {kFloats | kDouble | kIntegers | kBool | kComplex | kUnsigned,
     "gather index_select unique_consecutive"},
    {kHalf | kFloat | kDouble | kIntegers, "max_unpool2d max_unpool3d searchsorted"},
    {kFloat | kDouble | kComplex, "_linalg_slogdet _linalg_svd triangular_solve"},
    {kFloats | kDouble | kIntegers | kBool | kComplexFloat, "abs cat"},
    {kFloats | kDouble | kIntegers | kBool | kComplexFloat | kUnsigned, "tril triu"},
    {kFloats | kDouble | kIntegers | kUnsigned, "cumprod floor"},
    {kFloats | kByte | kChar | kShort, "_foreach_exp _foreach_expm1"},
    {kFloats | kByte | kChar | kInt | kLong, "relu threshold_backward"},
    {kHalf | kFloat | kDouble, "lgamma"},
    {kIntegers, "bincount gcd"},
    {kIntegers | kBool, "bitwise_not bitwise_xor"},
    {kFloats | kBool, "im2col"},
    {kFloats | kComplexFloat, "soft_margin_loss"},
    {kFloats | kDouble | kComplex, "sigmoid_backward"},
    {kFloats | kDouble | kShort | kInt | kLong, "remainder"},
    {kFloats | kDouble | kInt | kLong, "round"},
    {kFloats | kDouble | kLong, "addcdiv"},
    {kFloats | kDouble | kLong | kBool | kComplex, "exp"},
    {kFloats | kDouble | kChar | kInt | kLong | kComplex, "neg"},
    {kFloats | kDouble | kIntegers | kBool | kUInt16, "le"},
    {kFloats | kDouble | kByte | kChar | kInt | kLong, "addcmul"},
    {kFloats | kInt, "hardsigmoid"},
    {kFloats | kChar | kInt | kLong, "_foreach_sign"},
    {kFloats | kChar | kInt | kLong | kBool, "masked_fill"},
    {kFloats | kByte | kChar | kShort | kInt, "_foreach_neg"},
    {kFloats | kIntegers | kBool | kComplexFloat, "angle"},
    {kFloats | kByte | kChar | kInt, "dot"},
    {kHalf | kFloat | kDouble | kComplex, "linalg_qr"},
    {kHalf | kFloat | kIntegers, "histc"},
    {kIntegers | kBool | kUInt16, "bitwise_and"},
    {kIntegers | kBool | kUnsigned, "bitwise_or"},
};

bool Lists(std::string_view operators, std::string_view name) {
  for (size_t at = operators.find(name); at != std::string_view::npos;
       at = operators.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool begins = at == 0 || operators[at - 1] == ' ';
    if (begins && (end == operators.size() || operators[end] == ' ')) return true;
  }
  return false;
}

/// "Half, BFloat16 or Float".
std::string Names(uint32_t dtypes) {
  std::string names;
  for (int i = 0; dtypes != 0; ++i) {
    if (!(dtypes & (uint32_t{1} << i))) continue;
    dtypes &= ~(uint32_t{1} << i);
    if (!names.empty()) names += dtypes == 0 ? " or " : ", ";
    names += c10::toString(static_cast<c10::ScalarType>(i));
  }
  return names;
}

void Check(const c10::OperatorHandle& op, const Plan& plan, size_t index,
           const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_privateuseone()) return;
  if (plan.ascend_dtypes & Bit(tensor.scalar_type())) return;
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, plan.name, ": expected ", op.schema().arguments()[index].name(), " of dtype ",
      Names(plan.ascend_dtypes),
      " (what Ascend's operator takes; npu_backend.strict_dtypes is on), got ",
      tensor.scalar_type());
}

}  // namespace

uint32_t AscendDtypes(const std::string& name) {
  std::string_view base = name;
  constexpr std::string_view kNamespace = "aten::";
  if (base.substr(0, kNamespace.size()) != kNamespace) return 0;
  base.remove_prefix(kNamespace.size());
  if (base.back() == '_') base.remove_suffix(1);
  for (const Row& row : kRows) {
    if (Lists(row.operators, base)) return row.dtypes;
  }
  return 0;
}

void CheckAscendDtypes(const c10::OperatorHandle& op, const Plan& plan,
                       const c10::IValue* arguments) {
  if (!StrictDtypes() || plan.ascend_dtypes == 0) return;
  for (const uint8_t index : plan.typed_arguments) {
    const c10::IValue& value = arguments[index];
    if (value.isTensor()) {
      Check(op, plan, index, value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) Check(op, plan, index, tensor);
    }
  }
}

}  // namespace npu_backend
