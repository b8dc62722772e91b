# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What a user's project needs: two libraries, one header, the package config. `cmake --install build --prefix DIR`.
include(GNUInstallDirs)
install(TARGETS millrace_runtime millrace LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${CMAKE_SOURCE_DIR}/include/millrace/millrace.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/millrace)
include(CMakePackageConfigHelpers)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/MillraceConfig.cmake.in
  ${CMAKE_BINARY_DIR}/MillraceConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Millrace
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/MillraceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/MillraceConfig.cmake ${CMAKE_BINARY_DIR}/MillraceConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Millrace)
