# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The libraries and tools of a wheel, `ninja wheel_libraries`: linked from the same archives as those of build/lib, but with LLVM, MLIR,
# Abseil and the C++ library inside, so that they need glibc alone. libmillrace.so holds the plug-in and the code of the tools too: what
# they call is there once. Everything of others stays out of the symbol table (cmake/exports.map), for the process may hold jaxlib and torch.
set(wheel ${CMAKE_BINARY_DIR}/wheel)
file(GLOB mlir_archives ${MILLRACE_LLVM_ARCHIVES}/libMLIR*.a)
list(FILTER mlir_archives EXCLUDE REGEX "/libMLIR(CAPI|Python|Test)")
execute_process(COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-config --link-static --libnames core support x86 aarch64 orcjit orcdebugging passes jitlink
                        bitreader bitwriter irreader linker mcjit asmparser executionengine frontendopenmp targetparser debuginfodwarf
                OUTPUT_VARIABLE llvm_archives OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(llvm_archives)
list(TRANSFORM llvm_archives PREPEND ${MILLRACE_LLVM_ARCHIVES}/)
file(GLOB absl_archives ${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libabsl_*.a)
set(third_party -Wl,--start-group ${mlir_archives} ${llvm_archives} ${absl_archives} -Wl,--end-group -l:libz.a -l:libzstd.a -l:libgcc.a)
set(self_contained -static-libstdc++ -Wl,--gc-sections -Wl,--build-id)
# DT_RPATH, which comes before LD_LIBRARY_PATH (DT_RUNPATH comes after it): a folder there may hold libraries of another Millrace.
set(own_libraries_first -Wl,--disable-new-dtags)

# LLVM's, which knows every processor.
find_program(MILLRACE_OBJCOPY llvm-objcopy HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH REQUIRED)
# What a debugger wants lies in debug/, not in the wheel; the file that is shipped names it. The two names by which GDB is told of kernels
# (MILLRACE_GDB) stay in the file's own table of symbols: GDB looks for them there, and the loader, which exports them to nobody, does not.
set(gdb_symbols --keep-symbol=__jit_debug_register_code --keep-symbol=__jit_debug_descriptor)
function(millrace_split_debug target)
  set(debug ${wheel}/debug/$<TARGET_FILE_NAME:${target}>.debug)
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E make_directory ${wheel}/debug
    COMMAND ${MILLRACE_OBJCOPY} --only-keep-debug $<TARGET_FILE:${target}> ${debug}
    COMMAND ${MILLRACE_OBJCOPY} --strip-unneeded ${gdb_symbols} --add-gnu-debuglink=${debug} $<TARGET_FILE:${target}> VERBATIM)
endfunction()

# millrace_wheel_library(NAME WHOLE archives... DEPENDS shared libraries...)
function(millrace_wheel_library name)
  cmake_parse_arguments(ARG "" "" "WHOLE;DEPENDS" ${ARGN})
  set(target wheel_${name})
  add_library(${target} SHARED EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/cmake/OldGlibc.c)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  foreach(archive ${ARG_WHOLE})
    target_link_libraries(${target} PRIVATE -Wl,--whole-archive $<TARGET_FILE:${archive}> -Wl,--no-whole-archive)
    add_dependencies(${target} ${archive})
  endforeach()
  target_link_libraries(${target} PRIVATE ${ARG_DEPENDS} ${third_party} Threads::Threads ${CMAKE_DL_LIBS})
  target_link_options(${target} PRIVATE ${self_contained} ${own_libraries_first} -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/exports.map)
  # No links: a wheel holds none. The name that programs ask for is the file's.
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} SUFFIX .so.${PROJECT_VERSION_MAJOR} NO_SONAME OFF
                        LIBRARY_OUTPUT_DIRECTORY ${wheel}/lib LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/exports.map
                        BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
  millrace_split_debug(${target})
  install(TARGETS ${target} LIBRARY DESTINATION lib COMPONENT wheel EXCLUDE_FROM_ALL)
endfunction()

get_property(runtime_archives GLOBAL PROPERTY MILLRACE_runtime_LIBS)
get_property(compiler_archives GLOBAL PROPERTY MILLRACE_compiler_LIBS)
get_property(tools GLOBAL PROPERTY MILLRACE_TOOLS)
set(tool_archives MillraceRegisterAll MillraceToolSupport)
foreach(pair ${tools})
  string(REGEX REPLACE "=.*" "-main" main ${pair})
  list(APPEND tool_archives ${main})
endforeach()
millrace_wheel_library(millrace_runtime WHOLE ${runtime_archives})
millrace_wheel_library(millrace WHOLE ${compiler_archives} MillracePjrt ${tool_archives} DEPENDS wheel_millrace_runtime)

# dlsym looks for GetPjrtApi in what a library depends on, too.
add_library(wheel_millrace_pjrt MODULE EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/cmake/empty.cpp)
target_link_libraries(wheel_millrace_pjrt PRIVATE -Wl,--no-as-needed wheel_millrace)
target_link_options(wheel_millrace_pjrt PRIVATE ${own_libraries_first})
set_target_properties(wheel_millrace_pjrt PROPERTIES OUTPUT_NAME millrace_pjrt LIBRARY_OUTPUT_DIRECTORY ${wheel}/lib
                      BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
install(TARGETS wheel_millrace_pjrt LIBRARY DESTINATION lib COMPONENT wheel EXCLUDE_FROM_ALL)
add_custom_target(wheel_libraries DEPENDS wheel_millrace_pjrt)
foreach(pair ${tools})
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 tool)
  list(GET pair 1 function)
  add_executable(wheel_${tool} EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tools/Main.cpp)
  target_compile_definitions(wheel_${tool} PRIVATE MILLRACE_TOOL=${function})
  target_link_libraries(wheel_${tool} PRIVATE wheel_millrace)
  target_link_options(wheel_${tool} PRIVATE -static-libstdc++ ${own_libraries_first})
  set_target_properties(wheel_${tool} PROPERTIES OUTPUT_NAME ${tool} RUNTIME_OUTPUT_DIRECTORY ${wheel}/bin
                        BUILD_RPATH "$ORIGIN/../lib" INSTALL_RPATH "$ORIGIN/../lib")
  millrace_split_debug(wheel_${tool})
  install(TARGETS wheel_${tool} RUNTIME DESTINATION bin COMPONENT wheel EXCLUDE_FROM_ALL)
  add_dependencies(wheel_libraries wheel_${tool})
endforeach()

# OpenBLAS of the wheel scipy-openblas32 (requirements/dev.txt), which needs glibc alone; runtime/lapack finds it beside our own libraries.
file(GLOB openblas ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/scipy_openblas32)
set(MILLRACE_OPENBLAS_PACKAGE "${openblas}" CACHE PATH "Folder of the Python package scipy_openblas32")
if(NOT EXISTS ${MILLRACE_OPENBLAS_PACKAGE}/lib/libscipy_openblas.so)
  install(CODE "message(FATAL_ERROR \"A wheel needs OpenBLAS of the Python package scipy_openblas32, which is not in .venv: run scripts/setup, \
or set MILLRACE_OPENBLAS_PACKAGE to its folder (now '${MILLRACE_OPENBLAS_PACKAGE}')\")" COMPONENT wheel EXCLUDE_FROM_ALL)
endif()
file(GLOB openblas_license ${MILLRACE_OPENBLAS_PACKAGE}-*.dist-info/licenses/LICENSE.txt)
install(FILES ${MILLRACE_OPENBLAS_PACKAGE}/lib/libscipy_openblas.so DESTINATION lib COMPONENT wheel EXCLUDE_FROM_ALL)
install(FILES ${openblas_license} DESTINATION lib RENAME libscipy_openblas.LICENSE.txt COMPONENT wheel EXCLUDE_FROM_ALL)
