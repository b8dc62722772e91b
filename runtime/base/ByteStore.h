// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ByteStore.h - Values under keys of named parts ----------------------===//
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::runtime {

/// What the compiler sees of a cache that outlives the process. Both functions may be empty: nothing is kept. Thread-safe; what is
/// found may be anything, and must be checked.
struct ByteStore {
  using Key = std::vector<std::pair<std::string, std::string>>;
  std::function<std::optional<std::string>(const Key &)> find;
  std::function<void(const Key &, std::string_view)> store;
};

} // namespace millrace::runtime
