// SPDX-License-Identifier: Apache-2.0
#include "python/arguments.h"

#include <cstring>

#include "device/tensor_argument.h"

namespace npu_python {
namespace {

namespace py = pybind11;

/// The Python integer that value is; null when it is none. numpy's bool has no __index__.
py::object IntegerOf(py::handle value) {
  auto number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (number) return number;
  PyErr_Clear();
  const py::handle type = py::type::handle_of(value);
  const auto name = std::string(py::str(type.attr("__module__"))) + "." +
                    std::string(py::str(type.attr("__name__")));
  if (name != "numpy.bool" && name != "numpy.bool_") return number;
  return py::int_(py::reinterpret_borrow<py::object>(value));
}

/// The start of its repr; of an integer with more digits than Python writes, how many bits it has.
std::string ShowValue(py::handle value) {
  constexpr Py_ssize_t kMostCharacters = 80;
  const auto whole = py::reinterpret_steal<py::str>(PyObject_Repr(value.ptr()));
  if (!whole && PyLong_Check(value.ptr())) {
    PyErr_Clear();
    return "one of " + std::string(py::str(value.attr("bit_length")())) + " bits";
  }
  if (!whole) throw py::error_already_set();
  const auto shown =
      py::reinterpret_steal<py::str>(PyUnicode_Substring(whole.ptr(), 0, kMostCharacters));
  if (!shown) throw py::error_already_set();
  return std::string(shown);
}

std::string Show(py::handle value) {
  return std::string(py::str(py::type::handle_of(value).attr("__name__"))) + " " + ShowValue(value);
}

}  // namespace

Arguments::Arguments(const std::string& kernel, const npuSignature& signature, bool accept_strided)
    : kernel_(kernel), signature_(signature), accept_strided_(accept_strided) {
  size_t end = 0;
  for (size_t i = 0; i < signature.count; ++i) {
    const npuParameter& last = signature.parameters[i];
    end = last.offset + (last.is_pointer ? sizeof(void*) : last.bytes);
  }
  bytes_.resize(end);
}

std::string Arguments::Where(size_t index) const {
  return kernel_ + ": argument " + std::to_string(index) + " (" +
         TypeName(signature_.parameters[index]) + "): expected ";
}

void Arguments::RaiseType(size_t index, const std::string& expected, py::handle got) const {
  throw py::type_error(Where(index) + expected + ", got " + Show(got));
}

bool Arguments::Pack(const py::tuple& args) {
  if (args.size() != signature_.count) {
    throw py::type_error(kernel_ + ": expected " + std::to_string(signature_.count) +
                         " arguments, got " + std::to_string(args.size()));
  }
  for (size_t i = 0; i < signature_.count; ++i) {
    const py::handle value = PyTuple_GET_ITEM(args.ptr(), static_cast<Py_ssize_t>(i));
    if (!signature_.parameters[i].is_pointer) {
      PackScalar(i, value);
    } else if (value.is_none()) {
      std::memset(bytes_.data() + signature_.parameters[i].offset, 0, sizeof(void*));
    } else if (TensorAccess::Get().type &&
               PyObject_TypeCheck(value.ptr(), TensorAccess::Get().type)) {
      PackTensor(i, value);
    } else {
      return false;
    }
  }
  return true;
}

void Arguments::PackTensor(size_t index, py::handle tensor) {
  static PyObject* const address_name = PyUnicode_InternFromString("_cdata");
  const auto address =
      py::reinterpret_steal<py::object>(PyObject_GetAttr(tensor.ptr(), address_name));
  if (!address) throw py::error_already_set();
  void* const impl = PyLong_AsVoidPtr(address.ptr());
  if (impl == nullptr && PyErr_Occurred()) throw py::error_already_set();
  npuTensorFacts facts = {};
  const npuTensorInterface& interface = *TensorAccess::Get().interface;
  if (interface.describe(impl, &facts) != 0) {
    throw py::type_error(Where(index) + "a dense tensor with memory, got " + interface.message());
  }
  if (facts.device == NPU_TENSOR_ELSEWHERE) {
    throw py::value_error(Where(index) + "a tensor on npu or cpu, got one on " +
                          std::string(py::str(tensor.attr("device"))));
  }
  CheckFacts(index, facts);
  std::memcpy(bytes_.data() + signature_.parameters[index].offset,
              static_cast<const void*>(&facts.data), sizeof(void*));
  tensors_.push_back(impl);
}

void Arguments::CheckFacts(size_t index, const npuTensorFacts& facts) {
  const npu::TensorRefusal refusal = npu::RefusalOf(
      signature_.parameters[index], facts, has_device_ ? device_ : NPU_TENSOR_ELSEWHERE,
      accept_strided_ ? nullptr : "strided=True in load");
  if (refusal.kind == npu::TensorRefusal::kType)
    throw py::type_error(Where(index) + refusal.sentence);
  if (refusal.kind == npu::TensorRefusal::kValue)
    throw py::value_error(Where(index) + refusal.sentence);
  has_device_ = true;
  device_ = facts.device;
}

void Arguments::PackScalar(size_t index, py::handle value) {
  switch (KindOf(signature_.parameters[index])) {
    case NPU_TYPE_BOOL:
    case NPU_TYPE_INT:
    case NPU_TYPE_UINT:
      return PackInteger(index, value);
    case NPU_TYPE_FLOAT:
    case NPU_TYPE_BFLOAT16:
      return PackFloat(index, value);
    default:
      return PackBytes(index, value);
  }
}

void Arguments::PackInteger(size_t index, py::handle value) {
  const npuParameter& parameter = signature_.parameters[index];
  const py::object number = IntegerOf(value);
  if (!number) RaiseType(index, "an integer", value);
  const bool is_signed = parameter.kind == NPU_TYPE_INT;
  const int bits = parameter.kind == NPU_TYPE_BOOL ? 1 : static_cast<int>(parameter.bytes) * 8;
  const uint64_t highest = UINT64_MAX >> (64 - bits + (is_signed ? 1 : 0));
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  uint64_t low_bytes = static_cast<uint64_t>(small);
  bool fits =
      overflow == 0 && (small >= 0 ? low_bytes <= highest
                                   : is_signed && small >= -static_cast<int64_t>(highest) - 1);
  if (overflow > 0 && !is_signed && bits == 64) {
    low_bytes = PyLong_AsUnsignedLongLong(number.ptr());
    fits = !PyErr_Occurred();
    PyErr_Clear();
  }
  if (!fits) {
    const std::string lowest = is_signed ? "-" + std::to_string(highest + 1) : "0";
    throw py::value_error(Where(index) + "an integer from " + lowest + " to " +
                          std::to_string(highest) + ", got " + ShowValue(number));
  }
  std::memcpy(bytes_.data() + parameter.offset, &low_bytes, parameter.bytes);  // little-endian
}

void Arguments::RaiseRange(size_t index, py::handle got) const {
  throw py::value_error(Where(index) + "a number within the range of " +
                        TypeName(signature_.parameters[index]) + ", got " + ShowValue(got));
}

void Arguments::PackFloat(size_t index, py::handle value) {
  const npuParameter& parameter = signature_.parameters[index];
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1.0 && PyErr_Occurred()) {
    const bool is_large = PyErr_ExceptionMatches(PyExc_OverflowError) != 0;  // an integer
    PyErr_Clear();
    if (is_large) RaiseRange(index, value);
    RaiseType(index, "a number", value);
  }
  auto* to = reinterpret_cast<char*>(bytes_.data() + parameter.offset);
  int error = 0;
  if (parameter.kind == NPU_TYPE_BFLOAT16) {
    uint32_t wide = 0;
    error = PyFloat_Pack4(number, reinterpret_cast<char*>(&wide), 1);
    if (number == number) wide += 0x7fff + (wide >> 16 & 1);
    const auto bits = static_cast<uint16_t>(wide >> 16);
    std::memcpy(to, &bits, sizeof(bits));
  } else if (parameter.bytes == 2) {
    error = PyFloat_Pack2(number, to, 1);
  } else if (parameter.bytes == 4) {
    error = PyFloat_Pack4(number, to, 1);
  } else {
    error = PyFloat_Pack8(number, to, 1);
  }
  if (error != 0) {
    PyErr_Clear();
    RaiseRange(index, value);
  }
}

void Arguments::PackBytes(size_t index, py::handle value) {
  const npuParameter& parameter = signature_.parameters[index];
  Py_buffer view;
  if (PyObject_GetBuffer(value.ptr(), &view, PyBUF_SIMPLE) != 0) {
    PyErr_Clear();
    RaiseType(index, std::to_string(parameter.bytes) + " bytes (bytes, ctypes.Structure)", value);
  }
  const auto size = static_cast<size_t>(view.len);
  if (size == parameter.bytes) std::memcpy(bytes_.data() + parameter.offset, view.buf, size);
  PyBuffer_Release(&view);
  if (size != parameter.bytes) {
    throw py::value_error(Where(index) + std::to_string(parameter.bytes) + " bytes, got " +
                          std::to_string(size));
  }
}

}  // namespace npu_python
