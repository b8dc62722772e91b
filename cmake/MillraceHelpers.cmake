# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# millrace_library(NAME LAYER runtime|compiler [SOURCES ...] [DEPENDS ...])
# One static, position-independent archive per folder. Without SOURCES every .cpp of the folder belongs to it.
# The two shared libraries of MillraceSharedLibraries.cmake collect the archives of their layer.
function(millrace_library name)
  cmake_parse_arguments(ARG "" "LAYER" "SOURCES;DEPENDS" ${ARGN})
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  endif()
  if(NOT ARG_SOURCES)
    return()
  endif()
  add_library(${name} STATIC ${ARG_SOURCES})
  millrace_sanitize(${name})
  set_property(GLOBAL APPEND PROPERTY MILLRACE_${ARG_LAYER}_LIBS ${name})
  if(ARG_LAYER STREQUAL "compiler")
    target_compile_options(${name} PRIVATE -fno-exceptions)
    get_property(generated GLOBAL PROPERTY MILLRACE_GENERATED_TARGETS)
    if(generated)
      add_dependencies(${name} ${generated})
    endif()
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# millrace_tablegen(TD OUTPUT ARGS... ) : runs mlir-tblgen on TD of this folder; the outputs of all calls are
# collected in one target per folder made by millrace_tablegen_target(NAME).
macro(millrace_tablegen td output)
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${output} ${ARGN} -I ${CMAKE_SOURCE_DIR})
endmacro()
macro(millrace_tablegen_target name)
  add_public_tablegen_target(${name})
  set_property(GLOBAL APPEND PROPERTY MILLRACE_GENERATED_TARGETS ${name})
endmacro()

# Adds every listed folder that has a CMakeLists.txt (in the given order).
macro(millrace_add_subdirectories)
  foreach(dir ${ARGN})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/CMakeLists.txt)
      add_subdirectory(${dir})
    endif()
  endforeach()
endmacro()
