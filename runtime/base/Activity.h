// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Activity.h - What takes this process long ----------------------------===//
// Other processes that wait for this one are told: the mesh sends it with its signs of life.
#pragma once
#include <string>
#include <string_view>

namespace millrace::runtime {

/// Around work that may take long: "compiles a program". Threads may nest and overlap; the one that began last is told.
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

/// "" where nothing takes long.
std::string currentActivity();

} // namespace millrace::runtime
