# SPDX-License-Identifier: Apache-2.0
# npu_resolve_isa_levels(<variable>): the levels of NPU_ISA_LEVELS, with native replaced by the best this machine has.
# npu_compile_for_level(<target> <level>): compiles the sources of target for that level.
include(CheckCXXSourceRuns)

function(npu_resolve_isa_levels variable)
  set(levels ${NPU_ISA_LEVELS})
  if("native" IN_LIST levels)
    set(native ${CMAKE_SYSTEM_PROCESSOR})
    if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
      set(native x86-64-v2)
      foreach(level x86-64-v3 x86-64-v4)
        string(MAKE_C_IDENTIFIER "NPU_HAS_${level}" has)
        check_cxx_source_runs("int main() { return __builtin_cpu_supports(\"${level}\") ? 0 : 1; }"
                              ${has})
        if(${has})
          set(native ${level})
        endif()
      endforeach()
    endif()
    list(REMOVE_ITEM levels native)
    list(APPEND levels ${native})
  endif()
  set(${variable} ${levels} PARENT_SCOPE)
endfunction()

function(npu_compile_for_level target level)
  if(level STREQUAL "aarch64")
    set(level armv8-a) # what every 64-bit ARM core has
  endif()
  target_compile_options(${target} PRIVATE -march=${level})
endfunction()
