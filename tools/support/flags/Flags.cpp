// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Flags.cpp - Command line flags of a tool ---------------------------===//
#include "tools/support/flags/Flags.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace millrace::tools {

void Flags::printHelp() const {
  llvm::outs() << overview << "\n\nusage: " << tool << " [flags] " << fileHelp << "\n\nflags:\n";
  for (const Flag &flag : flags) {
    const char *value = std::holds_alternative<bool *>(flag.target)          ? ""
                        : std::holds_alternative<std::string *>(flag.target) ? "=TEXT"
                                                                             : "=N";
    llvm::outs() << llvm::format("  --%-24s %s\n", (flag.name + value).c_str(), flag.help.c_str());
  }
}

std::string Flags::assign(const Flag &flag, const std::string &value) {
  if (auto *text = std::get_if<std::string *>(&flag.target)) {
    **text = value;
    return "";
  }
  if (auto *boolean = std::get_if<bool *>(&flag.target)) {
    if (value != "true" && value != "false" && value != "1" && value != "0")
      return "expects true or false";
    **boolean = value == "true" || value == "1";
    return "";
  }
  uint64_t number;
  if (llvm::StringRef(value).getAsInteger(10, number))
    return "expects a number";
  if (auto *wide = std::get_if<uint64_t *>(&flag.target))
    **wide = number;
  else if (number > 0xFFFFFFFFu)
    return "expects a smaller number";
  else
    *std::get<unsigned *>(flag.target) = unsigned(number);
  return "";
}

bool Flags::parse(int argc, char **argv, int &exitStatus) {
  exitStatus = 1;
  auto error = [&](const std::string &message) {
    llvm::errs() << tool << ": error: " << message << " (" << tool << " --help lists the flags)\n";
    return false;
  };
  bool haveFile = false;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef arg = argv[i];
    if (!arg.starts_with("-") || arg == "-") {
      if (!file || haveFile)
        return error("unexpected argument '" + arg.str() + "'");
      *file = arg.str();
      haveFile = true;
      continue;
    }
    auto [name, value] = arg.drop_front(arg.starts_with("--") ? 2 : 1).split('=');
    bool hasValue = arg.contains('=');
    if (name == "help" || name == "h") {
      printHelp();
      exitStatus = 0;
      return false;
    }
    if (name == "version") {
      llvm::outs() << tool << " (Millrace 0.1.0, LLVM " LLVM_VERSION_STRING ")\n";
      exitStatus = 0;
      return false;
    }
    const Flag *found = nullptr;
    for (const Flag &flag : flags)
      if (name == flag.name)
        found = &flag;
    if (!found)
      return error("unknown flag '" + arg.str() + "'");
    std::string text = value.str();
    if (!hasValue) {
      if (std::holds_alternative<bool *>(found->target))
        text = "true";
      else if (i + 1 < argc)
        text = argv[++i];
      else
        return error("--" + found->name + " expects a value");
    }
    if (std::string wrong = assign(*found, text); !wrong.empty())
      return error("--" + found->name + " " + wrong + ", but got '" + text + "'");
  }
  if (file && !haveFile && file->empty() && !(fileIsNeedless && *fileIsNeedless))
    return error("expects " + fileHelp);
  return true;
}

} // namespace millrace::tools
