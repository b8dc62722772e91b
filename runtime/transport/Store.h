// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Store.h - Key-value store of the processes of a job -----------------===//
#pragma once
#include "runtime/base/Status.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::runtime::transport {

/// The store by which processes find each other: JAX's key-value service, a c10d store, or our own. Thread-safe.
class Store {
public:
  virtual ~Store() = default;
  virtual Status put(const std::string &key, std::string_view value) = 0;
  /// Waits until a process has put the value. Errors: DeadlineExceeded after `seconds`.
  virtual StatusOr<std::string> get(const std::string &key, double seconds) = 0;
  /// Returns the value if it exists already; nothing if it does not, or if the store cannot tell.
  virtual std::optional<std::string> tryGet(const std::string &) { return std::nullopt; }
  /// Returns an error if the user has interrupted the wait.
  virtual Status interrupted() { return Status(); }
};

/// The value under the key of a process (keyOf()) that has ended and will not connect.
inline constexpr std::string_view leftMark = "left";
/// Returns the key under which a process stores what others need to connect.
std::string keyOf(uint32_t rank);

/// A store for tests, in which threads of one process act as processes.
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
