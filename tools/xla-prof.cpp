// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- xla-prof.cpp - Tables, pages and other files of recordings ----------===//
#include "tools/Mains.h"
#include "tools/support/flags/Flags.h"
#include "tools/support/programs/Source.h"
#include "tools/support/reports/ProfileCapture.h"
#include "tools/support/reports/ProfileFiles.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

/// Whether an argument could be the name of a command, and is that of no file.
static bool isUnknownCommand(std::string_view argument) {
  std::error_code error;
  return !argument.empty() && std::all_of(argument.begin(), argument.end(), [](char c) { return c >= 'a' && c <= 'z'; }) &&
         !std::filesystem::exists(argument, error);
}

/// `capture ADDRESS FOLDER`, followed by options.
static int capture(int argc, char **argv) {
  millrace::tools::ProfileCaptureOptions options;
  const bool hasBoth = argc > 3 && argv[2][0] != '-' && argv[3][0] != '-';
  if (hasBoth) {
    options.addresses = argv[2], options.folder = argv[3];
    argv[3] = argv[0];
    argv += 3, argc -= 3;
  } else {
    argv[1] = argv[0];
    ++argv, --argc;
  }
  std::string one;
  millrace::tools::Flags flags("xla-prof capture", "Asks a process that serves recordings (xp.start_server, jax.profiler.start_server) for one, which it "
                                                   "writes into FOLDER in its own file system; several processes with commas between HOST:PORTs");
  if (!hasBoth)
    flags.positional(&one, "HOST:PORT FOLDER");
  flags.add("duration-ms", &options.durationMs, "record for so long");
  flags.add("delay-ms", &options.delayMs, "begin so much later");
  int status;
  if (!flags.parse(argc, argv, status))
    return status;
  if (!hasBoth)
    return millrace::tools::fail("xla-prof", "capture expects HOST:PORT FOLDER, in this order, before its options");
  return millrace::tools::captureProfile(options);
}

int millrace::tools::xlaProf(int argc, char **argv) {
  if (argc > 1 && std::string_view(argv[1]) == "capture")
    return capture(argc, argv);
  using Options = millrace::tools::ProfileFilesOptions;
  Options options;
  if (argc > 1 && (std::string_view(argv[1]) == "open" || std::string_view(argv[1]) == "pages")) {
    options.action = argv[1][0] == 'o' ? Options::Action::Open : Options::Action::Pages;
    argv[1] = argv[0];
    ++argv, --argc;
  } else if (argc > 1 && std::string_view(argv[1]) == "compare") {
    if (argc < 4 || argv[2][0] == '-' || argv[3][0] == '-')
      return fail("xla-prof", "compare expects FIRST SECOND, in this order, before its options");
    options.action = Options::Action::Compare;
    options.other = argv[3]; // `compare FIRST SECOND`, followed by options
    std::swap(argv[2], argv[3]);
    argv[2] = argv[0];
    argv += 2, argc -= 2;
  } else if (argc > 1 && isUnknownCommand(argv[1])) {
    return fail("xla-prof", "'" + std::string(argv[1]) + "' is neither a file or folder nor a command: expects pages, open, compare or capture, or "
                            "FILE.xplane.pb|FOLDER (--out=FILE converts it)");
  }
  millrace::tools::Flags flags("xla-prof", "Says what takes the time in recordings (of MILLRACE_PROFILE, torch_xla.debug.profiler or jax.profiler), "
                                           "or converts them; those of several processes in one folder are taken together, of several runs the newest ones. `xla-prof pages FOLDER` "
                                           "writes the page into the folder, `xla-prof open FOLDER` also shows it; `xla-prof compare FIRST SECOND` says what is slower "
                                           "in the second, and why; `xla-prof capture HOST:PORT FOLDER` records a program that runs");
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
