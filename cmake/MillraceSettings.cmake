# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiler flags, packages and the launcher. Facts behind each line: docs/design/conventions.md section 3.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Dev: assertions on although Debian's libraries have theirs off.
set(CMAKE_CXX_FLAGS_DEV "-O1 -g1 -UNDEBUG")
set(CMAKE_C_FLAGS_DEV "-O1 -g1 -UNDEBUG")
# Release: line tables too, which wheels keep in files of their own (cmake/MillraceWheel.cmake).
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
# Libraries that compute are optimized in every kind of build (runtime/kernels and its like).
set(MILLRACE_KERNEL_OPTIMIZATION $<IF:$<CONFIG:Release>,-O3,-O2>)

option(MILLRACE_RUNTIME_ONLY "Build runtime/ and its unit tests only" OFF)
set(MILLRACE_SANITIZER "" CACHE STRING "value for -fsanitize=, for example address,undefined")
set(MILLRACE_SANITIZED "" CACHE STRING "folders that are instrumented, for example tracing;runtime; everything if empty")
set(sanitizer_options -fsanitize=${MILLRACE_SANITIZER} -fno-omit-frame-pointer -fno-sanitize=vptr,function)
if(MILLRACE_SANITIZER)
  if(NOT MILLRACE_SANITIZED)
    add_compile_options(${sanitizer_options})
  endif()
  add_link_options(-fsanitize=${MILLRACE_SANITIZER})
endif()
# Instruments a target of the folder that is being read, if it is among the chosen ones.
function(millrace_sanitize target)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE folder)
  foreach(chosen IN LISTS MILLRACE_SANITIZED)
    if(MILLRACE_SANITIZER AND "${folder}/" MATCHES "^${chosen}/")
      target_compile_options(${target} PRIVATE ${sanitizer_options})
    endif()
  endforeach()
endfunction()

find_program(MILLRACE_CCACHE ccache)
if(MILLRACE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Two clones share hits only with a base folder and without the working directory in the hash. The other two are for
  # precompiled headers: macros of the file do not change what they hold, and their digest lies beside them.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=1 ${MILLRACE_CCACHE})
endif()
find_program(MILLRACE_MOLD mold)
if(MILLRACE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

if(CMAKE_CROSSCOMPILING AND MILLRACE_RUNTIME_ONLY)
  # LLVM's library of the other processor, this machine's headers (for the runtime they are the same).
  file(GLOB library ${CMAKE_SYSROOT}/usr/lib/*/libLLVM.so.22.* ${CMAKE_SYSROOT}/usr/lib/llvm-22/lib/libLLVM.so.22.*)
  list(GET library 0 library)
  add_library(LLVM SHARED IMPORTED)
  set_target_properties(LLVM PROPERTIES IMPORTED_LOCATION ${library})
  set(LLVM_INCLUDE_DIRS /usr/lib/llvm-22/include)
else()
  # For another processor, too, the CMake package and tblgen are this machine's.
  find_package(MLIR REQUIRED CONFIG)
  if(NOT LLVM_VERSION_MAJOR EQUAL 22)
    message(FATAL_ERROR "Millrace needs MLIR/LLVM 22, found ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}; run scripts/setup")
  endif()
endif()
set(MILLRACE_LLVM_ARCHIVES ${LLVM_LIBRARY_DIR})
if(CMAKE_CROSSCOMPILING AND NOT MILLRACE_RUNTIME_ONLY)
  # Headers say which processor is the native one. Only wheels are built like this (cmake/MillraceWheel.cmake): what else is linked is this machine's.
  set(MILLRACE_LLVM_ARCHIVES ${CMAKE_SYSROOT}/usr/lib/llvm-22/lib)
  set(LLVM_INCLUDE_DIRS ${CMAKE_SYSROOT}/usr/lib/llvm-22/include)
  set(MLIR_INCLUDE_DIRS ${LLVM_INCLUDE_DIRS})
endif()
find_package(Threads REQUIRED)
find_package(absl REQUIRED)
if(NOT MILLRACE_RUNTIME_ONLY OR NOT CMAKE_CROSSCOMPILING)
  list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
  include(TableGen)
  include(AddLLVM)
  include(AddMLIR)
endif()
find_program(MILLRACE_FLATC flatc REQUIRED)

add_compile_options(-Wall -Wextra -Wno-unused-parameter -fno-semantic-interposition)
include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
add_definitions(${LLVM_DEFINITIONS})

# libMLIR.so is not on the loader's default path.
set(CMAKE_BUILD_RPATH ${LLVM_LIBRARY_DIR})
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib;${LLVM_LIBRARY_DIR}")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
