// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- XlaFlags.cpp - The environment variable XLA_FLAGS ------------------===//
#include "tracing/XlaFlags.h"

#include <cstdlib>
#include <sstream>

namespace millrace::tracing {

std::string xlaFlag(std::string_view name) {
  const char *flags = std::getenv("XLA_FLAGS");
  std::istringstream words(flags ? flags : "");
  std::string word, value;
  while (words >> word) {
    std::string_view rest = word;
    if (rest.substr(0, 2) != "--" || rest.substr(2, name.size()) != name)
      continue;
    rest.remove_prefix(2 + name.size());
    if (rest.empty())
      value = "true";
    else if (rest[0] == '=')
      value = rest.substr(1);
  }
  return value;
}

} // namespace millrace::tracing
