// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Store.h - Small values that processes of one job leave each other ---===//
#pragma once
#include "runtime/base/Status.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::runtime::transport {

/// What a launcher gives every process to find the others with: JAX's key-value service, a c10d store, or ours. Thread-safe.
class Store {
public:
  virtual ~Store() = default;
  virtual Status put(const std::string &key, std::string_view value) = 0;
  /// Waits until somebody has put it; DeadlineExceeded after `seconds`.
  virtual StatusOr<std::string> get(const std::string &key, double seconds) = 0;
  /// The value if it is there already; nothing where the store cannot say.
  virtual std::optional<std::string> tryGet(const std::string &) { return std::nullopt; }
  /// An error once the user wants to wait no longer.
  virtual Status interrupted() { return Status(); }
};

/// Under the key of a process (keyOf()): it has ended and will not come.
inline constexpr std::string_view leftMark = "left";
/// Where a process leaves what others need to connect.
std::string keyOf(uint32_t rank);

/// Of threads of one process that act as processes: for tests.
class MemoryStore final : public Store {
public:
  Status put(const std::string &key, std::string_view value) override;
  StatusOr<std::string> get(const std::string &key, double seconds) override;
  std::optional<std::string> tryGet(const std::string &key) override;

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::string> values; ///< guarded by mutex
};

} // namespace millrace::runtime::transport
