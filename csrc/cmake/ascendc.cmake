# SPDX-License-Identifier: Apache-2.0
# What the chip's toolkit offers to projects with kernels, over the driver bisheng:
#
# ascendc_library(<target> STATIC|SHARED <source>...)
#
# A library with the kernels of the sources (extern "C" __global__ AICORE void <name>(...)), compiled for all kinds of
# core that they are for, and with functions that launch them. Who links to it finds aclrtlaunch_<name>.h.
#
# ascendc_include_directories(<target> [PRIVATE|PUBLIC|INTERFACE] <folder>...)
#
# ascendc_compile_definitions(<target> [PRIVATE|PUBLIC|INTERFACE] <definition>...)
#
# ascendc_compile_options(<target> [PRIVATE|PUBLIC|INTERFACE] <option>...)
#
# The variable SOC_VERSION names the chip. The level of optimisation is that of all kernels, whatever the type of build.
include_guard(GLOBAL)

# The first whose Makefiles take the DEPFILE of a custom command.
if(CMAKE_VERSION VERSION_LESS 3.20)
  message(FATAL_ERROR "ascendc.cmake: expected CMake 3.20 or newer, got ${CMAKE_VERSION}")
endif()

find_program(NPU_BISHENG bisheng HINTS "$ENV{ASCEND_HOME_PATH}/bin"
             DOC "Driver that compiles kernels")
if(NOT NPU_BISHENG)
  message(
    FATAL_ERROR
      "ascendc.cmake: expected the program bisheng on PATH or in $ENV{ASCEND_HOME_PATH}/bin, got none; "
      "run the build with: op-extension run <command>")
endif()
execute_process(COMMAND ${NPU_BISHENG} --npu-runtime-library OUTPUT_VARIABLE NPU_RUNTIME_LIBRARY
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

# npu_arch_of_soc(<variable> <soc>): the architecture that bisheng is told.
function(npu_arch_of_soc variable soc)
  string(TOLOWER "${soc}" name)
  if(name STREQUAL "" OR name MATCHES "^ascend(910b[1-4]?(-1)?|910_93[0-9]*)$")
    set(${variable} dav-2201 PARENT_SCOPE)
  elseif(name MATCHES "^ascend(910_95[0-9a-z]*|950[0-9a-z_]*)$")
    set(${variable} dav-3510 PARENT_SCOPE)
  else()
    message(
      FATAL_ERROR
        "ascendc_library: expected Ascend910B1 to Ascend910B4, Ascend910_93, Ascend910_95 or Ascend950 "
        "as SOC_VERSION, got ${soc}")
  endif()
endfunction()

function(ascendc_library target type)
  if(NOT type MATCHES "^(STATIC|SHARED)$")
    message(FATAL_ERROR "ascendc_library(${target}): expected STATIC or SHARED, got ${type}")
  endif()
  npu_arch_of_soc(arch "${SOC_VERSION}")
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}_kernels")
  list(TRANSFORM ARGN REPLACE "^([^/].*)$" "${CMAKE_CURRENT_SOURCE_DIR}/\\1" OUTPUT_VARIABLE
                                                                             sources)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
  execute_process(COMMAND ${NPU_BISHENG} --npu-launch-headers "${folder}/include" ${sources}
                  RESULT_VARIABLE failed ERROR_VARIABLE sentence)
  if(failed)
    message(FATAL_ERROR "ascendc_library(${target}): ${sentence}")
  endif()

  set(includes "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  set(options "$<TARGET_PROPERTY:${target},COMPILE_OPTIONS>")
  set(objects "")
  foreach(source IN LISTS sources)
    get_filename_component(stem "${source}" NAME)
    list(LENGTH objects index)
    set(object "${folder}/${index}_${stem}.o")
    list(APPEND objects "${object}")
    add_custom_command(
      OUTPUT "${object}"
      COMMAND
        ${NPU_BISHENG} -xcce --npu-arch=${arch} --npu-launch-functions
        "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
        "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>" "${options}" -MD -MF "${object}.d"
        -c "${source}" -o "${object}"
      DEPENDS "${source}"
      DEPFILE "${object}.d"
      COMMENT "Compiling the kernels of ${stem}"
      COMMAND_EXPAND_LISTS VERBATIM)
  endforeach()
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  add_library(${target} ${type} ${objects})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${target} INTERFACE "${folder}/include")
  target_link_libraries(${target} PUBLIC "${NPU_RUNTIME_LIBRARY}")
endfunction()

# Names of functions of CMake that the vendor's have arguments of.
function(ascendc_include_directories target)
  target_include_directories(${target} ${ARGN})
endfunction()

function(ascendc_compile_definitions target)
  target_compile_definitions(${target} ${ARGN})
endfunction()

function(ascendc_compile_options target)
  target_compile_options(${target} ${ARGN})
endfunction()
