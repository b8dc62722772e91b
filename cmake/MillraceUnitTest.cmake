# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
include_guard(GLOBAL)
find_package(GTest REQUIRED)
add_custom_target(unit COMMENT "all unit test programs")

# millrace_unit_test(AREA FOLDER): executable unit-AREA from FOLDER's .cpp files and its subfolders', one ctest entry.
# Area runtime and areas named runtime-* see no MLIR: they link libmillrace_runtime alone (in the tsan preset, where
# there are no shared libraries, the archives of runtime/).
function(millrace_unit_test area folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(unit-${area} ${sources})
  if(MILLRACE_RUNTIME_ONLY)
    get_property(libs GLOBAL PROPERTY MILLRACE_runtime_LIBS)
    target_link_libraries(unit-${area} PRIVATE -Wl,--start-group ${libs} -Wl,--end-group LLVM absl::strings absl::status
                          absl::statusor absl::flat_hash_map Threads::Threads ${CMAKE_DL_LIBS})
  elseif(area MATCHES "^runtime")
    target_link_libraries(unit-${area} PRIVATE millrace_runtime Threads::Threads ${CMAKE_DL_LIBS})
  else()
    target_link_libraries(unit-${area} PRIVATE millrace millrace_runtime MLIR LLVM Threads::Threads)
    get_property(generated GLOBAL PROPERTY MILLRACE_GENERATED_TARGETS)
    if(generated)
      add_dependencies(unit-${area} ${generated})
    endif()
  endif()
  target_link_libraries(unit-${area} PRIVATE GTest::gmock GTest::gtest GTest::gtest_main)
  add_dependencies(unit unit-${area})
  add_test(NAME unit-${area} COMMAND unit-${area})
endfunction()
