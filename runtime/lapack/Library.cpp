// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Library.cpp - Opening OpenBLAS --------------------------------------===//
#include "runtime/lapack/Library.h"

#include <cstdlib>
#include <dlfcn.h>

namespace millrace::runtime::lapack {
namespace {

struct Library {
  void *handle = nullptr;
  std::string error;

  Library() {
    const char *chosen = std::getenv("MILLRACE_OPENBLAS");
    const char *name = chosen && *chosen ? chosen : "libopenblas.so.0";
    // Local: numpy, scipy and torch carry other copies of the same names.
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      const char *reason = dlerror();
      error = std::string("needs OpenBLAS, which cannot be opened (") + (reason ? reason : name) +
              "); on Debian: apt install libopenblas0";
      return;
    }
    // Batches run on our threads; threads of the library's own would fight with them.
    if (void *setThreads = dlsym(handle, "openblas_set_num_threads"))
      reinterpret_cast<void (*)(int)>(setThreads)(1);
  }
};

} // namespace

StatusOr<void *> routine(const std::string &name) {
  static const Library *library = new Library;
  if (!library->handle)
    return failedPrecondition(library->error);
  if (void *address = dlsym(library->handle, name.c_str()))
    return address;
  return failedPrecondition("OpenBLAS has no routine " + name + "; on Debian: apt install libopenblas0");
}

} // namespace millrace::runtime::lapack
