// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostChannels.cpp - Data between host code and a device's steps -----===//
#include "runtime/client/Executor.h"

#include <chrono>

namespace millrace::runtime {

void HostChannels::push(int64_t channel, std::vector<std::string> tensors) {
  {
    std::lock_guard lock(mutex);
    queues[channel].push_back(std::move(tensors));
  }
  changed.notify_all();
}

StatusOr<std::vector<std::string>> HostChannels::pop(int64_t channel, double timeoutSeconds) {
  std::unique_lock lock(mutex);
  auto &queue = queues[channel];
  if (!changed.wait_for(lock, std::chrono::duration<double>(timeoutSeconds), [&] { return !queue.empty(); }))
    return deadlineExceeded("nothing arrived on channel " + std::to_string(channel));
  std::vector<std::string> tensors = std::move(queue.front());
  queue.pop_front();
  return tensors;
}

} // namespace millrace::runtime
