// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/autosharding/solver/Workers.h"

#include <algorithm>
#include <atomic>
#include <thread>

using namespace millrace::autosharding;

void millrace::autosharding::runTasks(const std::vector<std::function<void()>> &tasks, uint32_t threads) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t task; (task = next.fetch_add(1)) < tasks.size();)
      tasks[task]();
  };
  std::vector<std::thread> others;
  for (size_t count = std::min<size_t>(std::max(threads, 1u), tasks.size()); others.size() + 1 < count;)
    others.emplace_back(work);
  work();
  for (std::thread &other : others)
    other.join();
}
