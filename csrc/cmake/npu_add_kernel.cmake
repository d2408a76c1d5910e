# SPDX-License-Identifier: Apache-2.0
# npu_add_kernel(<target> <source> [ENTRIES <name>...] [CORE vector|cube|mix])
#
# Compiles the kernels that source defines (extern "C" __global__ AICORE void <name>(...)) into target: once per
# kind of core, as the chip's compiler does, with one npuKernel npu_kernel_<name> for each name. Without ENTRIES all
# such definitions that start a line are taken, and those by a macro: ELEMENTWISE_KERNEL(<name>, ...).
# Without CORE a line "// npu_core: cube" (or mix, vector) of source says which; without that it is vector.
# The flags stand in csrc/include/kernel_flags.txt, which kernels that are compiled from Python share.
set(NPU_KERNEL_FLAGS ${CMAKE_CURRENT_LIST_DIR}/../include/kernel_flags.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${NPU_KERNEL_FLAGS})

# npu_kernel_flags(<variable> <pass>): the flags of pass vector, cube or all.
function(npu_kernel_flags variable pass)
  file(STRINGS ${NPU_KERNEL_FLAGS} lines REGEX "^${pass}: ")
  list(TRANSFORM lines REPLACE "^${pass}: " "")
  string(REPLACE " " ";" flags "${lines}")
  if(NOT flags)
    message(FATAL_ERROR "${NPU_KERNEL_FLAGS}: expected a line '${pass}: <flags>', got none")
  endif()
  set(${variable} ${flags} PARENT_SCOPE)
endfunction()
npu_kernel_flags(NPU_KERNEL_OPTIONS all)
npu_kernel_flags(NPU_PASS_OPTIONS_vector vector)
npu_kernel_flags(NPU_PASS_OPTIONS_cube cube)

function(npu_add_kernel target source)
  cmake_parse_arguments(ARG "" "CORE" "ENTRIES" ${ARGN})
  get_filename_component(path ${source} ABSOLUTE)
  get_filename_component(stem ${source} NAME_WE)
  if(NOT ARG_ENTRIES)
    file(
      STRINGS ${path} ARG_ENTRIES
      REGEX
        "^(extern \"C\" __global__ AICORE void [A-Za-z0-9_]+\\(|[A-Z_]+_KERNEL\\([A-Za-z0-9_]+,)")
    list(TRANSFORM ARG_ENTRIES REPLACE "^extern \"C\" __global__ AICORE void ([A-Za-z0-9_]+)\\(.*"
                                       "\\1")
    list(TRANSFORM ARG_ENTRIES REPLACE "^[A-Z_]+_KERNEL\\(([A-Za-z0-9_]+),.*" "\\1")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  endif()
  if(NOT ARG_ENTRIES)
    message(
      FATAL_ERROR
        "npu_add_kernel: expected a line 'extern \"C\" __global__ AICORE void <name>(' in ${source}, got none"
    )
  endif()
  set(passes_vector vector)
  set(passes_cube cube)
  set(passes_mix vector cube)
  if(NOT ARG_CORE)
    file(STRINGS ${path} ARG_CORE REGEX "^// npu_core: ")
    list(TRANSFORM ARG_CORE REPLACE "^// npu_core: " "")
  endif()
  if(NOT ARG_CORE)
    set(ARG_CORE vector)
  endif()
  if(NOT DEFINED passes_${ARG_CORE})
    message(
      FATAL_ERROR
        "npu_add_kernel: expected CORE (or '// npu_core:') vector, cube or mix in ${source}, got '${ARG_CORE}'"
    )
  endif()

  set(table
      "// Made by npu_add_kernel from ${stem}.\n#include \"npu/kernel.h\"\n\nextern \"C\" {\n")
  foreach(pass ${passes_${ARG_CORE}})
    set(renames "")
    set(exports "")
    foreach(name ${ARG_ENTRIES})
      string(APPEND renames "#define ${name} ${name}__${pass}\n")
      string(APPEND exports "extern \"C\" const npuKernelPass ${name}__${pass}_pass;\n"
             "const npuKernelPass ${name}__${pass}_pass = npu::Entry<&${name}__${pass}>::kPass;\n")
      string(APPEND table "extern const npuKernelPass ${name}__${pass}_pass;\n")
    endforeach()
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/${target}_${stem}_${pass}.cpp)
    file(
      CONFIGURE
      OUTPUT
      ${unit}
      CONTENT
      "// Made by npu_add_kernel from ${stem}.
#include \"npu/entry.hpp\"

${renames}#include \"${path}\"
${exports}"
      @ONLY)
    target_sources(${target} PRIVATE ${unit})
    set_source_files_properties(
      ${unit} PROPERTIES COMPILE_OPTIONS "${NPU_KERNEL_OPTIONS};${NPU_PASS_OPTIONS_${pass}}"
                         OBJECT_DEPENDS ${path})
  endforeach()
  foreach(name ${ARG_ENTRIES})
    foreach(pass vector cube)
      if(pass IN_LIST passes_${ARG_CORE})
        set(${pass} "&${name}__${pass}_pass")
      else()
        set(${pass} "nullptr")
      endif()
    endforeach()
    string(APPEND table
           "extern const __attribute__((visibility(\"default\"))) npuKernel npu_kernel_${name};\n"
           "const npuKernel npu_kernel_${name} = {\"${name}\", ${vector}, ${cube}};\n")
  endforeach()
  set(unit ${CMAKE_CURRENT_BINARY_DIR}/${target}_${stem}_table.cpp)
  file(CONFIGURE OUTPUT ${unit} CONTENT "${table}}\n" @ONLY)
  target_sources(${target} PRIVATE ${unit})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/csrc/include/compat/device)
endfunction()
