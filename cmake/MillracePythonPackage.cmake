# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What `pip install .` (scikit-build-core, pyproject.toml) needs: a wheel is made of the components `wheel` (cmake/MillraceWheel.cmake) and
# `development` (headers and CMake package). With MILLRACE_PREBUILT they come from a tree that is built already (target wheel_libraries).
if(SKBUILD AND MILLRACE_PREBUILT)
  add_custom_target(wheel_libraries)
  foreach(component development wheel)
    install(CODE "execute_process(COMMAND ${CMAKE_COMMAND} --install ${MILLRACE_PREBUILT} --component ${component}
                                          --prefix \${CMAKE_INSTALL_PREFIX} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)"
            COMPONENT ${component})
  endforeach()
endif()
