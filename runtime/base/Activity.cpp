// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Activity.cpp - What this process is busy with ------------------------===//
#include "runtime/base/Activity.h"

#include <mutex>

namespace millrace::runtime {
namespace {

std::mutex mutex;
Activity *last = nullptr; ///< a list; guarded by mutex

} // namespace

Activity::Activity(std::string_view name) : next(nullptr), name(name) {
  std::lock_guard lock(mutex);
  previous = last;
  if (previous)
    previous->next = this;
  last = this;
}

Activity::~Activity() {
  std::lock_guard lock(mutex);
  if (previous)
    previous->next = next;
  (next ? next->previous : last) = previous;
}

std::string currentActivity() {
  std::lock_guard lock(mutex);
  return last ? last->name : "";
}

} // namespace millrace::runtime
