# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# libmillrace_runtime.so: runtime/ alone. libmillrace.so: dialects, passes, lowering (and tracing) on top of it.
# exports.map keeps everything but our own namespace and the C API out of the symbol table: the libraries share
# a process with jaxlib and torch, which carry other copies of the same third-party code.
function(millrace_shared_library name layer)
  get_property(libs GLOBAL PROPERTY MILLRACE_${layer}_LIBS)
  add_library(${name} SHARED ${CMAKE_SOURCE_DIR}/cmake/empty.cpp)
  foreach(lib ${libs})
    target_link_libraries(${name} PRIVATE -Wl,--whole-archive $<TARGET_FILE:${lib}> -Wl,--no-whole-archive)
    add_dependencies(${name} ${lib})
  endforeach()
  target_link_options(${name} PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/exports.map -Wl,--gc-sections
                      -Wl,--build-id)
  set_target_properties(${name} PROPERTIES LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/exports.map
                        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
endfunction()
millrace_shared_library(millrace_runtime runtime)
target_link_libraries(millrace_runtime PRIVATE LLVM Threads::Threads absl::strings absl::status absl::statusor
                      absl::flat_hash_map ${CMAKE_DL_LIBS})
if(MILLRACE_RUNTIME_ONLY)
  return()
endif()
millrace_shared_library(millrace compiler)
target_link_libraries(millrace PUBLIC millrace_runtime PRIVATE MLIR LLVM Threads::Threads)
