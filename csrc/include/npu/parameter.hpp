// SPDX-License-Identifier: Apache-2.0
// What may stand for a parameter of a kernel, and how messages name it.
#pragma once

#include <string>
#include <string_view>

#include "npu/kernel.h"

namespace npu {

/// What is read as a number. Those of more than 8 bytes (__int128, long double) are bytes here.
inline npuTypeKind KindOf(const npuParameter& parameter) {
  return parameter.bytes > 8 ? NPU_TYPE_OTHER : parameter.kind;
}

/// "Tiling" out of "... [with T = Tiling]" and "... [with T = Tiling; size_t = ...]".
inline std::string Spelled(const char* spelling) {
  const std::string_view text(spelling);
  const size_t begin = text.rfind("T = ");
  if (begin == std::string_view::npos) return "an unknown type";
  const size_t end = text.find_first_of(";]", begin);
  return std::string(text.substr(begin + 4, end - begin - 4));
}

/// Name of the value, or of what a pointer points to.
inline std::string ScalarName(const npuParameter& parameter) {
  const std::string bits = std::to_string(parameter.bytes * 8);
  switch (KindOf(parameter)) {
    case NPU_TYPE_BOOL:
      return "bool";
    case NPU_TYPE_INT:
      return "int" + bits + "_t";
    case NPU_TYPE_UINT:
      return "uint" + bits + "_t";
    case NPU_TYPE_FLOAT:
      return parameter.bytes == 2 ? "half" : parameter.bytes == 4 ? "float" : "double";
    case NPU_TYPE_BFLOAT16:
      return "bfloat16_t";
    default:
      return parameter.bytes == 0 ? "void" : Spelled(parameter.spelling);
  }
}

/// The C++ type of parameter: "const half*".
inline std::string TypeName(const npuParameter& parameter) {
  return (parameter.is_pointer && parameter.is_const ? "const " : "") + ScalarName(parameter) +
         (parameter.is_pointer ? "*" : "");
}

/// The dtypes of PyTorch whose elements a pointer takes.
inline std::string DtypeFor(const npuParameter& parameter) {
  const char* const kInts[] = {"", "Char", "Short", "", "Int", "", "", "", "Long"};
  switch (KindOf(parameter)) {
    case NPU_TYPE_BOOL:
      return "Bool";
    case NPU_TYPE_INT:
      return kInts[parameter.bytes];
    case NPU_TYPE_UINT:
      return "UInt" + std::to_string(parameter.bytes * 8) + " or " + kInts[parameter.bytes];
    case NPU_TYPE_BFLOAT16:
      return "BFloat16";
    default:
      return parameter.bytes == 2 ? "Half" : parameter.bytes == 4 ? "Float" : "Double";
  }
}

/// Whether elements of kind and bytes may stand behind a pointer. Any may behind GM_ADDR
/// (uint8_t*), void* and pointers to structs. torch computes little with unsigned elements: signed
/// ones of the same size pass for them.
inline bool TakesElement(const npuParameter& parameter, npuTypeKind kind, size_t bytes) {
  if (KindOf(parameter) == NPU_TYPE_OTHER) return true;
  if (parameter.kind == NPU_TYPE_UINT && parameter.bytes == 1) return true;
  if (parameter.bytes != bytes) return false;
  return parameter.kind == kind || (parameter.kind == NPU_TYPE_UINT && kind == NPU_TYPE_INT);
}

/// Whether a kernel may get addresses of memory that its launch does not name: in a struct, or
/// behind a pointer to pointers.
inline bool GetsAddresses(const npuSignature& signature) {
  for (size_t i = 0; i < signature.count; ++i) {
    const npuParameter& parameter = signature.parameters[i];
    if (parameter.kind != NPU_TYPE_OTHER) continue;
    const std::string name = TypeName(parameter);
    const bool to_pointer =
        name.size() > 1 && name.compare(name.size() - 2, std::string::npos, "**") == 0;
    if (parameter.is_pointer ? to_pointer : parameter.bytes >= sizeof(void*)) return true;
  }
  return false;
}

}  // namespace npu
