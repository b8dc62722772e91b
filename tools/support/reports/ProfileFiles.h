// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProfileFiles.h - The tool xla-prof ------------------------------------===//
#pragma once
#include <string>

namespace millrace::tools {

struct ProfileFilesOptions {
  std::string path; ///< a file *.xplane.pb, or a folder, whose files of the newest run are merged, including those in subfolders
  std::string out;  ///< the file to write, in the format of its ending: .html, .json, .xplane.pb; empty for tables on standard output
  unsigned top = 20; ///< rows per table
  bool json = false; ///< tables as JSON
  bool findings = false; ///< findings, and the data of the page's views, as JSON
  bool roofs = true; ///< measure the peak rates of this machine for pages and findings
  /// Pages writes the page beside the recording. Open also shows it. Compare compares with `other`, the later recording.
  enum class Action { Tables, Pages, Open, Compare } action = Action::Tables;
  std::string other;
};

/// Runs the tool and returns the exit status; errors are printed on standard error.
int profileFiles(const ProfileFilesOptions &options);

} // namespace millrace::tools
