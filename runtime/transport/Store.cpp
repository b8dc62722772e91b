// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Store.cpp - Small values that processes of one job leave each other -===//
#include "runtime/transport/Store.h"

#include <chrono>

namespace millrace::runtime::transport {

Status MemoryStore::put(const std::string &key, std::string_view value) {
  {
    std::lock_guard lock(mutex);
    if (!values.emplace(key, value).second)
      return Status(Code::AlreadyExists, "key '" + key + "' has a value already");
  }
  changed.notify_all();
  return Status();
}

StatusOr<std::string> MemoryStore::get(const std::string &key, double seconds) {
  std::unique_lock lock(mutex);
  if (!changed.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return values.count(key) != 0; }))
    return deadlineExceeded("nobody has put key '" + key + "'");
  return values[key];
}

std::optional<std::string> MemoryStore::tryGet(const std::string &key) {
  std::lock_guard lock(mutex);
  auto found = values.find(key);
  return found == values.end() ? std::nullopt : std::optional<std::string>(found->second);
}

std::string keyOf(uint32_t rank) { return "millrace/process/" + std::to_string(rank); }

} // namespace millrace::runtime::transport
