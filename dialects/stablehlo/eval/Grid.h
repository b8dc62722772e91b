// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Grid.h - Simulated devices: a grid of processes that meet ----------===//
// Each process (replica, partition) is a thread, but only one of them runs at a time: a process keeps the grid's lock
// and gives it up only while it waits. MLIR structures need no locks of their own then, results do not depend on
// timing, and "everybody waits" is known at once: it is an error that names who waits for what, never a hang.
#pragma once

#include "dialects/stablehlo/eval/Interpreter.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

namespace millrace::eval {

class Grid {
public:
  Grid(int64_t replicas, int64_t partitions) : replicas(replicas), partitions(partitions) {}

  /// A device: (replica, partition) as replica * partitions + partition.
  int64_t deviceOf(const Process &process) const { return process.replica * partitions + process.partition; }
  int64_t size() const { return replicas * partitions; }

  using Inputs = std::vector<Value>;
  /// Waits until every device of `group` has come here with the same operation key, then returns what each brought,
  /// in group order. `key` tells operations apart (channel and kind).
  llvm::Expected<std::vector<Inputs>> meet(const Call &call, std::string key, llvm::ArrayRef<int64_t> group,
                                           Inputs inputs);
  /// Leaves `values` for the device that receives on `key`.
  void send(std::string key, Inputs values);
  /// Waits for what was sent on `key`.
  llvm::Expected<Inputs> receive(const Call &call, std::string key);

  /// Runs `body(process)` on every device as a thread; the first error wins.
  llvm::Error run(llvm::function_ref<llvm::Error(Process process)> body);

  const int64_t replicas, partitions;
  /// Transfers to and from the host stay in the grid and meet by their channel.
  bool isOwnHost = false;
  /// Functions whose results the infeed operations of this grid take, in the order of their execution.
  std::deque<mlir::Operation *> infeed;

private:
  struct Meeting {
    std::map<int64_t, Inputs> present;
    bool complete = false;
    size_t left = 0;
  };
  struct Waiter {
    std::function<bool()> ready;
    std::string what;
  };
  llvm::Error wait(const Call &call, std::function<bool()> ready, std::string what);
  void checkStuck();

  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::deque<std::shared_ptr<Meeting>>> meetings;
  std::map<std::string, std::deque<Inputs>> messages;
  std::map<int64_t, Waiter> waiting;
  int64_t alive = 1;
  bool threaded = false;
  std::string failure;
};

} // namespace millrace::eval
