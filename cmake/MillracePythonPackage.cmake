# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What `pip install .` (scikit-build-core, pyproject.toml) needs beside cmake/MillraceInstall.cmake.
# A wheel holds no links: of libX.so -> libX.so.0 -> libX.so.0.1.0 only the name that programs ask for stays, libX.so.0.
function(millrace_prune_wheel)
  install(CODE [[
    file(GLOB links LIST_DIRECTORIES false ${CMAKE_INSTALL_PREFIX}/lib/lib*.so)
    foreach(link ${links})
      if(IS_SYMLINK ${link})
        file(REAL_PATH ${link} whole)
        file(GLOB names ${link}.*)
        foreach(name ${names})
          if(IS_SYMLINK ${name})
            file(REMOVE ${name})
            file(RENAME ${whole} ${name})
          endif()
        endforeach()
        file(REMOVE ${link})
      endif()
    endforeach()]])
endfunction()

# Packages a tree that is built already instead of compiling: for tests and developers.
if(SKBUILD AND MILLRACE_PREBUILT)
  install(CODE "execute_process(COMMAND ${CMAKE_COMMAND} --install ${MILLRACE_PREBUILT} --prefix \${CMAKE_INSTALL_PREFIX}
                                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)")
  millrace_prune_wheel()
endif()
