// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- xla-prof.cpp - Tables, pages and other files of recordings ----------===//
#include "tools/Mains.h"
#include "tools/support/flags/Flags.h"
#include "tools/support/reports/ProfileFiles.h"

#include <string_view>

int millrace::tools::xlaProf(int argc, char **argv) {
  using Options = millrace::tools::ProfileFilesOptions;
  Options options;
  if (argc > 1 && (std::string_view(argv[1]) == "open" || std::string_view(argv[1]) == "pages")) {
    options.action = argv[1][0] == 'o' ? Options::Action::Open : Options::Action::Pages;
    argv[1] = argv[0];
    ++argv, --argc;
  } else if (argc > 3 && std::string_view(argv[1]) == "compare") {
    options.action = Options::Action::Compare;
    options.other = argv[3]; // `compare FIRST SECOND`, followed by options
    std::swap(argv[2], argv[3]);
    argv[2] = argv[0];
    argv += 2, argc -= 2;
  }
  millrace::tools::Flags flags("xla-prof", "Says what takes the time in recordings (of MILLRACE_PROFILE, torch_xla.debug.profiler or jax.profiler), "
                                           "or converts them; those of several processes in one folder are taken together. `xla-prof pages FOLDER` "
                                           "writes the page into the folder, `xla-prof open FOLDER` also shows it; `xla-prof compare FIRST SECOND` says what is slower "
                                           "in the second, and why");
  flags.positional(&options.path, "FILE.xplane.pb|FOLDER");
  flags.add("out", &options.out, "write a page (.html), what chrome://tracing and Perfetto read (.json), what pprof reads (.pprof: time, "
                                   ".memory.pprof: memory at its peak), or one file for XProf (.xplane.pb)");
  flags.add("top", &options.top, "rows per table");
  flags.add("json", &options.json, "print all tables as one JSON object");
  flags.add("findings", &options.findings, "print what to change, and what the page shows, as one JSON object");
  flags.add("roofs", &options.roofs, "measure what this machine can do at most, 0.3 s, for a comparison with kernels");
  int status;
  if (!flags.parse(argc, argv, status))
    return status;
  return millrace::tools::profileFiles(options);
}
