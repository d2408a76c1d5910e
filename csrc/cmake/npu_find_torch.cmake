# SPDX-License-Identifier: Apache-2.0
# npu_torch: the headers and libraries of the torch that Python3_EXECUTABLE imports, and its version, which is
# recorded in npu_backend/lib/torch_version.txt. Direct, for find_package(Torch) takes seconds, looks for what a CPU
# build does not need and writes absolute run paths.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env TORCH_DEVICE_BACKEND_AUTOLOAD=0 ${Python3_EXECUTABLE} -c
          "import os, sysconfig, torch; print(os.path.dirname(torch.__file__), torch.__version__.split('+')[0], \
sysconfig.get_path('include'), int(torch.compiled_with_cxx11_abi()), sep=';')"
  OUTPUT_VARIABLE torch_facts
  ERROR_VARIABLE torch_error
  RESULT_VARIABLE torch_result
  OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT torch_result EQUAL 0)
  message(FATAL_ERROR "host: expected a Python that imports torch, got ${Python3_EXECUTABLE} that does not; install "
                      "torch==2.13.0 there or set -DPython3_EXECUTABLE, or build without torch by "
                      "-DNPU_BUILD_TORCH=OFF\n${torch_error}")
endif()
list(GET torch_facts 0 NPU_TORCH_DIR)
list(GET torch_facts 1 NPU_TORCH_VERSION)
list(GET torch_facts 2 NPU_PYTHON_INCLUDE_DIR)
list(GET torch_facts 3 torch_cxx11_abi)
get_filename_component(NPU_SITE_PACKAGES ${NPU_TORCH_DIR} DIRECTORY)
message(STATUS "torch ${NPU_TORCH_VERSION} in ${NPU_TORCH_DIR}")

add_library(npu_torch INTERFACE)
target_include_directories(
  npu_torch SYSTEM INTERFACE ${NPU_TORCH_DIR}/include ${NPU_TORCH_DIR}/include/torch/csrc/api/include
                             ${NPU_PYTHON_INCLUDE_DIR})
target_compile_definitions(npu_torch INTERFACE _GLIBCXX_USE_CXX11_ABI=${torch_cxx11_abi})
# TORCH_CHECK in torch's headers writes __FILE__ into the library.
target_compile_options(npu_torch INTERFACE "-ffile-prefix-map=${NPU_SITE_PACKAGES}/=")
target_link_libraries(npu_torch INTERFACE ${NPU_TORCH_DIR}/lib/libtorch_cpu.so ${NPU_TORCH_DIR}/lib/libc10.so)
file(WRITE ${NPU_PACKAGE_DIR}/npu_backend/lib/torch_version.txt "${NPU_TORCH_VERSION}\n")
