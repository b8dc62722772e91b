# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Parsing MLIR's headers is more than half of the time of a file that includes them, so they are parsed once per build folder.
# CMake's own target_precompile_headers is not used: it passes absolute paths that ccache cannot make relative, and a clone in
# another folder would share no hits.
include_guard(GLOBAL)

# Off where folders are instrumented one by one: a precompiled header fits one set of flags only.
option(MILLRACE_PRECOMPILED_HEADERS "Parse the headers of MLIR once" ON)
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR MILLRACE_SANITIZER OR MILLRACE_RUNTIME_ONLY)
  set(MILLRACE_PRECOMPILED_HEADERS OFF)
endif()

# millrace_precompiled_header(NAME HEADER [OPTIONS ...] [INCLUDES ...] [DEPENDS ...]): a custom target NAME that makes
# BINARY_DIR/pch/NAME.pch of HEADER with the flags of this folder and OPTIONS. Beside it lies NAME.pch.sum, the digest of
# the preprocessed text, which ccache hashes instead of the file: the file holds absolute paths, the text does not, because assertions name
# their file without the folder of the clone.
function(millrace_precompiled_header name header)
  cmake_parse_arguments(ARG "" "" "OPTIONS;INCLUDES;DEPENDS" ${ARGN})
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
  get_directory_property(options COMPILE_OPTIONS)
  separate_arguments(definitions UNIX_COMMAND "${LLVM_DEFINITIONS}")
  set(includes ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  list(TRANSFORM includes PREPEND -I)
  set(system ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS} ${ARG_INCLUDES})
  list(REMOVE_DUPLICATES system)
  list(TRANSFORM system PREPEND -isystem)
  set(output ${CMAKE_BINARY_DIR}/pch/${name}.pch)
  if(CMAKE_CROSSCOMPILING)
    list(APPEND flags --target=${CMAKE_CXX_COMPILER_TARGET} --sysroot=${CMAKE_SYSROOT})
  endif()
  set(command ${CMAKE_CXX_COMPILER} ${flags} -std=c++${CMAKE_CXX_STANDARD} -fPIC ${definitions} ${options} ${ARG_OPTIONS}
      ${includes} ${system} -x c++-header ${header})
  add_custom_command(OUTPUT ${output} ${output}.sum
    COMMAND ${command} -o ${output} -Xclang -fno-pch-timestamp -fpch-instantiate-templates -MD -MT ${output} -MF ${output}.d
    COMMAND ${command} -E -P -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/= -o ${output}.text
    COMMAND ${CMAKE_COMMAND} -E sha256sum ${output}.text > ${output}.sum
    COMMAND sed -i "s/ .*//" ${output}.sum
    COMMAND ${CMAKE_COMMAND} -E rm ${output}.text
    DEPENDS ${header} ${ARG_DEPENDS} DEPFILE ${output}.d COMMENT "Parsing the headers of ${header}" VERBATIM)
  add_custom_target(${name} DEPENDS ${output})
endfunction()

# Every file of TARGET begins with the precompiled header NAME.
function(millrace_use_precompiled_header target name)
  if(NOT TARGET ${name})
    return()
  endif()
  add_dependencies(${target} ${name})
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:SHELL:-include-pch ${CMAKE_BINARY_DIR}/pch/${name}.pch>)
  get_target_property(sources ${target} SOURCES)
  set_source_files_properties(${sources} PROPERTIES OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/pch/${name}.pch)
endfunction()
