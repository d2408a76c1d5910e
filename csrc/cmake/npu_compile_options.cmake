# SPDX-License-Identifier: Apache-2.0
# Flags that all rooms share. No build path ends up in a library: TORCH_CHECK and line tables record file names.
add_compile_options(-Wall -Wextra "-ffile-prefix-map=${CMAKE_SOURCE_DIR}/="
                    "-ffile-prefix-map=${CMAKE_BINARY_DIR}=build")
if(NPU_SANITIZE)
  add_compile_options(-fsanitize=${NPU_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
                      -g1)
  add_link_options(-fsanitize=${NPU_SANITIZE})
endif()

# npu_package_library(<target> <package>): puts the library of target into <package>/lib and makes it find its
# neighbours, wherever the packages are installed.
function(npu_package_library target package)
  set_target_properties(
    ${target}
    PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${NPU_PACKAGE_DIR}/${package}/lib
               BUILD_WITH_INSTALL_RPATH ON
               INSTALL_RPATH "$ORIGIN;$ORIGIN/../../npu_backend/lib;$ORIGIN/../../torch/lib"
               NO_SONAME OFF)
endfunction()
