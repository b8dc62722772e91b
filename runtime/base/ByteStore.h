// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ByteStore.h - A key-value store of bytes ----------------------------===//
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::runtime {

/// The compiler's interface to a persistent cache. Both functions may be empty: then nothing is stored. Thread-safe. The bytes that are found may be
/// damaged and must be validated.
struct ByteStore {
  using Key = std::vector<std::pair<std::string, std::string>>;
  std::function<std::optional<std::string>(const Key &)> find;
  std::function<void(const Key &, std::string_view)> store;
};

} // namespace millrace::runtime
