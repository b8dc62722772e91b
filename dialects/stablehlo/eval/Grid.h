// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Grid.h - Simulated devices --------------------------------------------===//
// Each process (replica, partition) is a thread, but only one of them runs at a time: a process holds the grid's lock and releases it only while it
// waits. MLIR structures therefore need no locks, results do not depend on timing, and a deadlock is detected at once: it is an error that says which
// process waits for what.
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
  /// Waits until every device of `group` has arrived with the same operation key, then returns the inputs of each, in group order. `key`
  /// distinguishes operations (channel and kind).
  llvm::Expected<std::vector<Inputs>> meet(const Call &call, std::string key, llvm::ArrayRef<int64_t> group,
                                           Inputs inputs);
  /// Sends `values` to the device that receives on `key`.
  void send(std::string key, Inputs values);
  /// Waits for the values that are sent on `key`.
  llvm::Expected<Inputs> receive(const Call &call, std::string key);

  /// Runs `body(process)` on every device as a thread and returns the first error.
  llvm::Error run(llvm::function_ref<llvm::Error(Process process)> body);

  const int64_t replicas, partitions;
  /// If true, transfers to and from the host stay in the grid and are matched by their channel.
  bool isOwnHost = false;
  /// Functions whose results are the data of this grid's infeed operations, in the order of their execution.
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
