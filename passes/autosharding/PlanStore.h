// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PlanStore.h - Where plans are kept between processes ---------------===//
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::autosharding {

/// A cache that outlives the process, as the solver sees it (runtime::planStore() is one). Both functions may be empty: nothing is kept. What is
/// found may be anything; it is checked.
struct PlanStore {
  using Key = std::vector<std::pair<std::string, std::string>>; ///< name and content of each part
  std::function<std::optional<std::string>(const Key &)> find;
  std::function<void(const Key &, std::string_view)> store;
};

} // namespace millrace::autosharding
