// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProfileFiles.cpp - The tool xla-prof ----------------------------------===//
#include "tools/support/reports/ProfileFiles.h"

#include "runtime/base/Environment.h"
#include "runtime/base/File.h"
#include "runtime/profile/Align.h"
#include "runtime/profile/ChromeTrace.h"
#include "runtime/profile/Compare.h"
#include "runtime/profile/MemoryPeak.h"
#include "runtime/profile/Page.h"
#include "runtime/profile/Pprof.h"
#include "runtime/profile/Runs.h"
#include "runtime/profile/Summary.h"
#include "runtime/profile/Utf8.h"
#include "tools/support/reports/Roofs.h"
#include "tools/support/programs/Source.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <vector>

extern char **environ;

namespace millrace::tools {

namespace fs = std::filesystem;
namespace profile = runtime::profile;

static constexpr std::string_view kEnding = ".xplane.pb";

/// Returns the recordings of `path`, in the order of their names.
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

/// Returns the name of a file without its folder and ending: "rank0.4711".
static std::string labelOf(const std::string &file) {
  std::string name = fs::path(file).filename().string();
  return name.ends_with(kEnding) ? name.substr(0, name.size() - kEnding.size()) : name;
}

/// Shows a file in the browser that the system prefers ($BROWSER, else xdg-open). Without a browser the name is printed only.
static int open(const std::string &page) {
  const std::string browser = runtime::environment::text("BROWSER");
  const std::string program = browser.empty() ? "xdg-open" : browser, address = "file://" + fs::absolute(page).string();
  const char *arguments[] = {program.c_str(), address.c_str(), nullptr};
  pid_t child = 0;
  int status = 0;
  if (posix_spawnp(&child, program.c_str(), nullptr, nullptr, const_cast<char **>(arguments), environ) != 0 || waitpid(child, &status, 0) != child ||
      status != 0)
    std::fprintf(stderr, "xla-prof: %s does not show it: open the file in a browser\n", program.c_str());
  return 0;
}

/// Returns the folder of the capture that wrote a file, FOLDER/plugins/profile/TIME; nothing for a file of MILLRACE_PROFILE.
static std::string captureOf(const std::string &file) {
  const fs::path folder = fs::absolute(file).lexically_normal().parent_path(), kind = folder.parent_path();
  return kind.filename() == "profile" && kind.parent_path().filename() == "plugins" ? folder.string() : std::string();
}

static runtime::StatusOr<profile::XSpace> readOne(const std::string &file) {
  std::error_code error;
  if (fs::exists(file, error) && !fs::is_regular_file(file, error)) // a pipe would never end
    return runtime::invalidArgument(file + " is neither a file nor a folder");
  runtime::StatusOr<runtime::FileContent> content = runtime::readWholeFile(file);
  if (!content)
    return content.status();
  runtime::StatusOr<profile::XSpace> space = profile::decodeXSpace(content->bytes);
  if (!space)
    return space.status().withContext(file);
  if (space->planes.empty())
    return runtime::dataLoss(file + ": this recording is empty: the program that wrote it did not end, or the disk was full");
  return space;
}

/// Returns "a, b, c and 4 more" of what is counted.
static std::string listOf(const std::vector<std::string> &names) {
  constexpr size_t kNamed = 3; // as many as a line has room for
  std::string text;
  for (size_t i = 0; i < std::min(kNamed, names.size()); ++i)
    text += (i ? ", " : "") + names[i];
  return names.size() > kNamed ? text + " and " + std::to_string(names.size() - kNamed) + " more" : text;
}

/// The contents of a path as one recording.
struct Recorded {
  profile::XSpace space;
  std::string title;
};
static runtime::StatusOr<Recorded> read(const std::string &path) {
  const std::vector<std::string> files = filesOf(path);
  if (files.empty())
    return runtime::notFound(path + " has no recording (*" + std::string(kEnding) + "): MILLRACE_PROFILE=FOLDER PROGRAM writes some");
  std::vector<profile::XSpace> all, spaces;
  std::vector<std::string> names, labels, warnings, older;
  runtime::Status first;
  for (const std::string &file : files) {
    runtime::StatusOr<profile::XSpace> space = readOne(file);
    if (!space) {
      first = first.ok() ? space.status() : first;
      warnings.push_back(std::string(space.status().message()) + "; it is left out");
      continue;
    }
    all.push_back(std::move(*space));
    names.push_back(file);
  }
  if (all.empty())
    return first;
  std::vector<profile::RecordedPart> parts;
  for (size_t i = 0; i < all.size(); ++i)
    parts.push_back({&all[i], captureOf(names[i])});
  const std::vector<bool> isNewest = profile::areOfNewestRun(parts);
  for (size_t i = 0; i < all.size(); ++i)
    if (isNewest[i]) {
      spaces.push_back(std::move(all[i]));
      labels.push_back(labelOf(names[i]));
    } else {
      older.push_back(names[i]);
    }
  if (!older.empty())
    warnings.push_back(std::to_string(older.size()) + (older.size() == 1 ? " recording of an earlier run is" : " recordings of earlier runs are") +
                       " left out (" + listOf(older) + "): give such a file, or its folder if it has no others, to see it");
  const std::string title = labels.size() == 1 ? labels[0] : std::to_string(labels.size()) + " processes of " + path;
  profile::alignClocks(spaces);
  Recorded recorded{profile::merge(std::move(spaces), labels), title};
  for (const std::string &warning : warnings) {
    std::fprintf(stderr, "xla-prof: warning: %s\n", profile::forTerminal(warning, profile::kLongestSentence).c_str());
    recorded.space.warnings.push_back(warning);
  }
  return recorded;
}

static int compareFiles(const ProfileFilesOptions &options) {
  runtime::StatusOr<Recorded> before = read(options.path), after = read(options.other);
  for (const auto *each : {&before, &after})
    if (!*each)
      return fail("xla-prof", std::string(each->status().message()));
  const profile::Summary first = profile::summarize(before->space), second = profile::summarize(after->space);
  const profile::Comparison comparison = profile::compare(first, second);
  if (options.out.empty()) {
    const std::string text = options.json ? profile::toJson(comparison) + "\n" : profile::toText(comparison, options.top);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
  }
  if (!options.out.ends_with(".html"))
    return fail("xla-prof", "--out of a comparison expects a name that ends with .html, but got '" + options.out + "'");
  const runtime::Status status = runtime::writeFileAtomically(options.out, profile::htmlPage(comparison, options.path, options.other));
  return status.ok() ? 0 : fail("xla-prof", status.toString());
}

int profileFiles(const ProfileFilesOptions &given) {
  if (given.action == ProfileFilesOptions::Action::Compare)
    return compareFiles(given);
  ProfileFilesOptions options = given;
  if (options.action != ProfileFilesOptions::Action::Tables && options.out.empty()) {
    std::error_code error;
    options.out = fs::is_directory(options.path, error) ? options.path + "/page.html" : options.path + ".html";
  }
  runtime::StatusOr<Recorded> recorded = read(options.path);
  if (!recorded)
    return fail("xla-prof", std::string(recorded.status().message()));
  const auto &[space, title] = *recorded;
  std::string text;
  if (options.out.empty()) {
    profile::Summary summary = profile::summarize(space);
    if (options.json) {
      text = profile::toJson(summary) + "\n";
    } else {
      profile::Views views = profile::viewsOf(space, summary, options.roofs ? measureRoofs() : profile::Roofs());
      views.programs.clear();
      constexpr size_t kFirst = 3;
      const std::string change = profile::toText(views, kFirst);
      text = options.findings ? profile::toJson(views) + "\n"
                              : profile::toText(summary, options.top, change.empty() ? "" : "\nwhat to change first\n" + change) +
                                    profile::toText(profile::memoryPeaks(space), options.top);
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
  }
  if (options.out.ends_with(".html"))
    text = profile::htmlPage(space, title, options.roofs ? measureRoofs() : profile::Roofs());
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
  if (options.action == ProfileFilesOptions::Action::Tables)
    return 0;
  std::printf("%s\n", options.out.c_str());
  std::fflush(stdout);
  return options.action == ProfileFilesOptions::Action::Open ? open(options.out) : 0;
}

} // namespace millrace::tools
