# SPDX-License-Identifier: Apache-2.0
# GoogleTest, built from the sources that the PyPI package ros-gtest-vendor puts into the Python environment.
#
# npu_add_test(<name> SOURCES <file>... [LIBRARIES <target>...] [LABELS <label>...] [TIMEOUT <seconds>])
#
# One test program for CTest. The label "threaded" marks what also runs under ThreadSanitizer.
find_package(Threads REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
execute_process(
  COMMAND ${Python3_EXECUTABLE} -c "import sysconfig; print(sysconfig.get_path('data'))"
  OUTPUT_VARIABLE environment OUTPUT_STRIP_TRAILING_WHITESPACE)
set(NPU_GTEST_DIR "${environment}/src/gtest_vendor" CACHE PATH "Sources of GoogleTest")
if(NOT EXISTS "${NPU_GTEST_DIR}/src/gtest-all.cc")
  message(
    FATAL_ERROR
      "tests: expected the sources of GoogleTest in ${NPU_GTEST_DIR}, got no such folder; "
      "install them with: ${Python3_EXECUTABLE} -m pip install ros-gtest-vendor==1.15.1")
endif()

add_library(npu_gtest STATIC "${NPU_GTEST_DIR}/src/gtest-all.cc"
                             "${NPU_GTEST_DIR}/src/gtest_main.cc")
target_include_directories(npu_gtest SYSTEM PUBLIC "${NPU_GTEST_DIR}/include")
target_include_directories(npu_gtest PRIVATE "${NPU_GTEST_DIR}")
target_compile_options(npu_gtest PRIVATE -O0 -w)
target_link_libraries(npu_gtest PUBLIC Threads::Threads)

# Build the test programs, or those labelled threaded, and what they need, no more.
add_custom_target(npu_tests)
add_custom_target(npu_threaded_tests)

function(npu_add_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE npu_gtest npu_include ${ARG_LIBRARIES})
  add_dependencies(npu_tests ${name})
  if("threaded" IN_LIST ARG_LABELS)
    add_dependencies(npu_threaded_tests ${name})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
endfunction()
