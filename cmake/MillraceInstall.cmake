# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What a user's project needs: two libraries, one header (and those of tracing/), the package config. `cmake --install build --prefix DIR`.
include(GNUInstallDirs)
install(TARGETS millrace_runtime millrace LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries)
install(FILES ${CMAKE_SOURCE_DIR}/include/millrace/millrace.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/millrace
        COMPONENT development)
# Lazy tensors from C++ alone: the headers of tracing/ and those that they include, which need nothing but C++.
foreach(header runtime/base/Alignment.h runtime/base/DType.h runtime/base/Event.h runtime/base/Status.h runtime/base/TaskThread.h runtime/buffer/ArenaPool.h runtime/buffer/FreeLists.h
        runtime/buffer/Memory.h runtime/client/Client.h
        runtime/loader/Loader.h runtime/profile/Recorder.h runtime/program/Program.h runtime/transport/Store.h tracing/reports/Analysis.h tracing/graph/ControlFlow.h tracing/emit/Emit.h
        tracing/graph/Export.h tracing/graph/Graph.h tracing/reports/Metrics.h tracing/graph/Origin.h tracing/programs/ProgramCache.h tracing/spmd/Progress.h tracing/Session.h
        tracing/spmd/Sharding.h tracing/emit/TracedModule.h tracing/spmd/World.h)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${CMAKE_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/millrace/cpp/${folder} COMPONENT development)
endforeach()
# Carriers of large messages, which their users compile against their own MPI or Gloo.
file(GLOB carriers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/runtime/transport/carriers/*)
file(COPY ${carriers} DESTINATION ${CMAKE_BINARY_DIR}/share/carriers)
install(FILES ${carriers} DESTINATION share/carriers COMPONENT development)
include(CMakePackageConfigHelpers)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/MillraceConfig.cmake.in
  ${CMAKE_BINARY_DIR}/MillraceConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Millrace
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/MillraceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/MillraceConfig.cmake ${CMAKE_BINARY_DIR}/MillraceConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Millrace COMPONENT development)
