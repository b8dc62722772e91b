// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- XlaFlags.cpp - The environment variable XLA_FLAGS ------------------===//
#include "runtime/base/XlaFlags.h"

#include "runtime/base/Environment.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <sstream>
#include <utility>

namespace millrace::runtime {
namespace {

/// What is read here, and by python/millrace_jax.
constexpr std::string_view kKnown[] = {
    "xla_cpu_enable_fast_math", "xla_dump_hlo_as_dot",    "xla_dump_hlo_as_html",   "xla_dump_hlo_as_long_text",  "xla_dump_hlo_as_proto",
    "xla_dump_hlo_as_text",     "xla_dump_hlo_module_re", "xla_dump_hlo_pass_re",   "xla_dump_include_timestamp", "xla_dump_max_hlo_modules",
    "xla_dump_to",              "xla_force_host_platform_device_count",
};

/// Letters to change, add or leave out.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j)
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])}));
  }
  return row.back();
}

} // namespace

std::string xlaFlag(std::string_view name) {
  std::istringstream words(environment::text("XLA_FLAGS"));
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

bool isXlaFlagOn(std::string_view name) {
  const std::string value = xlaFlag(name);
  return !value.empty() && value != "false" && value != "0";
}

std::vector<std::string> unknownXlaFlags(std::string_view flags) {
  std::vector<std::string> lines;
  std::istringstream words{std::string(flags)};
  for (std::string word; words >> word;) {
    std::string_view name = word;
    name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
    name = name.substr(0, name.find('='));
    if (std::find(std::begin(kKnown), std::end(kKnown), name) != std::end(kKnown) || name.starts_with("xla_gpu_") || name.starts_with("xla_tpu_"))
      continue;
    auto nearest = std::min_element(std::begin(kKnown), std::end(kKnown),
                                    [&](std::string_view a, std::string_view b) { return distance(name, a) < distance(name, b); });
    std::string line = "XLA_FLAGS: " + word + " has no effect here";
    if (distance(name, *nearest) <= std::max<size_t>(2, name.size() / 4))
      line += "; the nearest flag that has is --" + std::string(*nearest);
    lines.push_back(std::move(line));
  }
  return lines;
}

void warnOfUnknownXlaFlags() {
  [[maybe_unused]] static const bool isTold = [] {
    for (const std::string &line : unknownXlaFlags(environment::text("XLA_FLAGS")))
      std::fprintf(stderr, "millrace: %s\n", line.c_str());
    return true;
  }();
}

} // namespace millrace::runtime
