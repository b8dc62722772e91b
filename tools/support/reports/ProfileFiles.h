// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProfileFiles.h - xla-prof ---------------------------------------------===//
#pragma once
#include <string>

namespace millrace::tools {

struct ProfileFilesOptions {
  std::string path; ///< a file *.xplane.pb, or a folder whose files are taken together, folders in it included
  std::string out;  ///< a file to write; its ending says what: .html, .json, .xplane.pb. Empty: tables to standard output
  unsigned top = 20; ///< rows per table
  bool json = false; ///< tables as JSON
  bool findings = false; ///< what to change, and what the views of the page show, as JSON
  bool roofs = true; ///< of this machine, measured for pages and findings
  /// Pages: write the page beside the recording; Open: and show it; Compare: with `other`, the later one.
  enum class Action { Tables, Pages, Open, Compare } action = Action::Tables;
  std::string other;
};

/// The exit status; errors go to standard error.
int profileFiles(const ProfileFilesOptions &options);

} // namespace millrace::tools
