// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Flags.h - Command line flags of a tool -----------------------------===//
// Not llvm::cl: its options share one table with those of libLLVM, which owns names such as --stats.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace millrace::tools {

/// The flags and the one positional argument of a tool. Accepts --name=value, --name value, -name; booleans take no
/// value or =true, =false.
class Flags {
public:
  Flags(std::string tool, std::string overview) : tool(std::move(tool)), overview(std::move(overview)) {}
  using Target = std::variant<bool *, std::string *, unsigned *, uint64_t *>;
  void add(std::string name, Target target, std::string help) { flags.push_back({std::move(name), target, std::move(help)}); }
  /// "FILE" in the usage line; required unless it has a value already, or the flag behind `needless` is set.
  void positional(std::string *target, std::string what, const bool *needless = nullptr) {
    file = target;
    fileIsNeedless = needless;
    fileHelp = std::move(what);
  }

  /// Fills the targets. Returns true to go on; otherwise `exitStatus` is 0 (--help, --version were printed) or 1 (an error
  /// was printed).
  bool parse(int argc, char **argv, int &exitStatus);

private:
  struct Flag {
    std::string name;
    Target target;
    std::string help;
  };
  void printHelp() const;
  /// Empty, or what is wrong with the value.
  static std::string assign(const Flag &flag, const std::string &value);

  std::string tool, overview, fileHelp;
  std::vector<Flag> flags;
  std::string *file = nullptr;
  const bool *fileIsNeedless = nullptr;
};

} // namespace millrace::tools
