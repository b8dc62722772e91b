// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProfileFiles.cpp - xla-prof -------------------------------------------===//
#include "tools/support/ProfileFiles.h"

#include "runtime/base/File.h"
#include "runtime/profile/ChromeTrace.h"
#include "runtime/profile/MemoryPeak.h"
#include "runtime/profile/Page.h"
#include "runtime/profile/Pprof.h"
#include "runtime/profile/Summary.h"
#include "tools/support/Source.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

namespace millrace::tools {

namespace fs = std::filesystem;
namespace profile = runtime::profile;

static constexpr std::string_view kEnding = ".xplane.pb";

/// The recordings that `path` means, in the order of their names.
static std::vector<std::string> filesOf(const std::string &path) {
  std::error_code error;
  if (!fs::is_directory(path, error))
    return {path};
  std::vector<std::string> found;
  for (auto each = fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, error);
       !error && each != fs::recursive_directory_iterator(); each.increment(error))
    if (each->is_regular_file(error) && each->path().string().ends_with(kEnding))
      found.push_back(each->path().string());
  std::sort(found.begin(), found.end());
  return found;
}

/// Name of a file without folder and ending: "rank0.4711".
static std::string labelOf(const std::string &file) {
  std::string name = fs::path(file).filename().string();
  return name.ends_with(kEnding) ? name.substr(0, name.size() - kEnding.size()) : name;
}

int profileFiles(const ProfileFilesOptions &options) {
  std::vector<std::string> files = filesOf(options.path), labels;
  if (files.empty())
    return fail("xla-prof", options.path + " has no recording (*" + std::string(kEnding) + "): MILLRACE_PROFILE=FOLDER PROGRAM writes some");
  std::vector<profile::XSpace> spaces;
  for (const std::string &file : files) {
    runtime::StatusOr<runtime::FileContent> content = runtime::readWholeFile(file);
    if (!content)
      return fail("xla-prof", content.status().toString());
    runtime::StatusOr<profile::XSpace> space = profile::decodeXSpace(content->bytes);
    if (!space)
      return fail("xla-prof", file + ": " + std::string(space.status().message()));
    spaces.push_back(std::move(*space));
    labels.push_back(labelOf(file));
  }
  const std::string title = labels.size() == 1 ? labels[0] : std::to_string(labels.size()) + " processes of " + options.path;
  profile::XSpace space = profile::merge(std::move(spaces), labels);
  std::string text;
  if (options.out.empty()) {
    profile::Summary summary = profile::summarize(space);
    text = options.json ? profile::toJson(summary) + "\n"
                        : profile::toText(summary, options.top) + profile::toText(profile::memoryPeaks(space), options.top);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
  }
  if (options.out.ends_with(".html"))
    text = profile::htmlPage(space, title);
  else if (options.out.ends_with(".json"))
    text = profile::chromeTrace(space);
  else if (options.out.ends_with(kEnding))
    text = encode(space);
  else if (options.out.ends_with(".memory.pprof"))
    text = profile::pprofOfMemory(space);
  else if (options.out.ends_with(".pprof"))
    text = profile::pprofOfTime(space);
  else
    return fail("xla-prof", "--out expects a name that ends with .html (a page), .json (chrome://tracing, Perfetto), .pprof, .memory.pprof "
                            "(pprof: time, the memory's peak) or .xplane.pb (XProf), but got '" + options.out + "'");
  if (runtime::Status status = runtime::writeFileAtomically(options.out, text); !status.ok())
    return fail("xla-prof", status.toString());
  return 0;
}

} // namespace millrace::tools
