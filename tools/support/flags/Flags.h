// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Flags.h - Command line flags of a tool -----------------------------===//
// llvm::cl is not used, because its options share one table with those of libLLVM, which uses names such as --stats.
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
  /// Sets the positional argument, "FILE" in the usage line. It is required unless it has a value already, or the flag behind `needless` is set.
  void positional(std::string *target, std::string what, const bool *needless = nullptr) {
    file = target;
    fileIsNeedless = needless;
    fileHelp = std::move(what);
  }

  /// Fills the targets. Returns true if the tool is to continue; otherwise `exitStatus` is 0 (--help or --version was printed) or 1 (an error was
  /// printed).
  bool parse(int argc, char **argv, int &exitStatus);

private:
  struct Flag {
    std::string name;
    Target target;
    std::string help;
  };
  void printHelp() const;
  /// Returns what is wrong with the value; empty if nothing is.
  static std::string assign(const Flag &flag, const std::string &value);

  std::string tool, overview, fileHelp;
  std::vector<Flag> flags;
  std::string *file = nullptr;
  const bool *fileIsNeedless = nullptr;
};

} // namespace millrace::tools
