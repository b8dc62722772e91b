// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- xla-prof.cpp - Tables, pages and other files of recordings ----------===//
#include "tools/Mains.h"
#include "tools/support/Flags.h"
#include "tools/support/ProfileFiles.h"

int millrace::tools::xlaProf(int argc, char **argv) {
  millrace::tools::ProfileFilesOptions options;
  millrace::tools::Flags flags("xla-prof", "Says what takes the time in recordings (of MILLRACE_PROFILE, torch_xla.debug.profiler or jax.profiler), "
                                           "or converts them; those of several processes in one folder are taken together");
  flags.positional(&options.path, "FILE.xplane.pb|FOLDER");
  flags.add("out", &options.out, "write a page (.html), what chrome://tracing and Perfetto read (.json), what pprof reads (.pprof: time, "
                                   ".memory.pprof: memory at its peak), or one file for XProf (.xplane.pb)");
  flags.add("top", &options.top, "rows per table");
  flags.add("json", &options.json, "print all tables as one JSON object");
  int status;
  if (!flags.parse(argc, argv, status))
    return status;
  return millrace::tools::profileFiles(options);
}
