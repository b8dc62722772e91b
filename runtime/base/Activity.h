// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Activity.h - The long-running work of this process ------------------===//
// The mesh sends it with its signs of life, so that processes that wait for this one can name it in messages.
#pragma once
#include <string>
#include <string_view>

namespace millrace::runtime {

/// Announces work that may take long, for example "compiles a program", for its lifetime. Announcements of threads may overlap; the last one that
/// began is reported.
class Activity {
public:
  explicit Activity(std::string_view name);
  ~Activity();
  Activity(const Activity &) = delete;

private:
  Activity *previous, *next;
  const std::string name;
  friend std::string currentActivity();
};

/// Returns the announced work, or "".
std::string currentActivity();

} // namespace millrace::runtime
