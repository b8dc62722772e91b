// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PlanStore.h - Interface to stored plans -----------------------------===//
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::autosharding {

/// The solver's interface to a persistent cache (runtime::planStore() implements it). Both functions may be empty: then nothing is stored. What is
/// found may be damaged and is validated.
struct PlanStore {
  using Key = std::vector<std::pair<std::string, std::string>>; ///< name and content of each part
  std::function<std::optional<std::string>(const Key &)> find;
  std::function<void(const Key &, std::string_view)> store;
};

} // namespace millrace::autosharding
