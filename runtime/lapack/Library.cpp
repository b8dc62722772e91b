// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Library.cpp - Opening OpenBLAS --------------------------------------===//
#include "runtime/lapack/Library.h"

#include "runtime/base/Environment.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <vector>

namespace millrace::runtime::lapack {
namespace {

// Returns the names of the library file in the order in which they are tried: the user's choice, else the file that a Millrace wheel holds beside
// this code, else the system's.
std::vector<std::string> candidates() {
  if (std::string chosen = environment::text("MILLRACE_OPENBLAS"); !chosen.empty())
    return {chosen};
  std::vector<std::string> names;
  Dl_info self;
  if (dladdr(reinterpret_cast<void *>(&candidates), &self) && self.dli_fname)
    names.push_back((std::filesystem::path(self.dli_fname).parent_path() / "libscipy_openblas.so").string());
  names.push_back("libopenblas.so.0");
  return names;
}

struct Library {
  void *handle = nullptr;
  std::string error;

  Library() {
    for (const std::string &name : candidates()) {
      // RTLD_LOCAL, because numpy, scipy and torch carry other copies of the same symbols.
      handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle)
        break;
      const char *reason = dlerror();
      error = std::string("needs OpenBLAS, which cannot be opened (") + (reason ? reason : name) +
              "); on Debian: apt install libopenblas0, elsewhere: MILLRACE_OPENBLAS=FILE";
    }
    if (!handle)
      return;
    // Batches run on the runtime's threads, with which threads of the library's own would compete.
    if (void *setThreads = find("openblas_set_num_threads"))
      reinterpret_cast<void (*)(int)>(setThreads)(1);
  }

  // SciPy's build has a prefix before every name.
  void *find(const std::string &name) const {
    void *plain = dlsym(handle, name.c_str());
    return plain ? plain : dlsym(handle, ("scipy_" + name).c_str());
  }
};

} // namespace

StatusOr<void *> routine(const std::string &name) {
  static const Library *library = new Library;
  if (!library->handle)
    return failedPrecondition(library->error);
  if (void *address = library->find(name))
    return address;
  return failedPrecondition("OpenBLAS has no routine " + name + "; on Debian: apt install libopenblas0");
}

} // namespace millrace::runtime::lapack
