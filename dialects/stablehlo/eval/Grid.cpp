// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Grid.cpp - Simulated devices -----------------------------------------===//
#include "dialects/stablehlo/eval/Grid.h"

#include "dialects/stablehlo/verify/TypeRules.h"
#include "runtime/base/FloatModes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <thread>

using namespace mlir;

namespace millrace::eval {

void Grid::checkStuck() {
  if (static_cast<int64_t>(waiting.size()) < alive || alive == 0 || !failure.empty()) return;
  for (auto &[device, waiter] : waiting)
    if (waiter.ready()) return;
  for (auto &[device, waiter] : waiting)
    failure += (failure.empty() ? "" : "; ") + ("device " + std::to_string(device) + " " + waiter.what);
  failure = "no device can go on: " + failure;
  changed.notify_all();
}

llvm::Error Grid::wait(const Call &call, std::function<bool()> ready, std::string what) {
  if (!ready()) {
    int64_t device = deviceOf(call.interpreter.process);
    waiting[device] = {ready, what};
    checkStuck();
    if (threaded) {
      // The process holds the lock whenever it runs (see run()).
      std::unique_lock<std::mutex> lock(mutex, std::adopt_lock);
      changed.wait(lock, [&] { return ready() || !failure.empty(); });
      lock.release();
    }
    waiting.erase(device);
  }
  if (!ready()) return call.error(failure);
  return llvm::Error::success();
}

llvm::Expected<std::vector<Grid::Inputs>> Grid::meet(const Call &call, std::string key, ArrayRef<int64_t> group,
                                                     Inputs inputs) {
  int64_t device = deviceOf(call.interpreter.process);
  for (int64_t member : group) key += "," + std::to_string(member);
  // A fast device may arrive a second time while others have not left the first meeting yet.
  auto &queue = meetings[key];
  std::shared_ptr<Meeting> meeting;
  for (auto &candidate : queue)
    if (!candidate->complete && !candidate->present.count(device)) {
      meeting = candidate;
      break;
    }
  if (!meeting) queue.push_back(meeting = std::make_shared<Meeting>());
  meeting->present[device] = std::move(inputs);
  if (meeting->present.size() == group.size()) {
    meeting->complete = true;
    llvm::erase(queue, meeting);
    changed.notify_all();
  }
  std::string members;
  for (int64_t member : group) members += (members.empty() ? "" : ", ") + std::to_string(member);
  if (llvm::Error error = wait(call, [meeting] { return meeting->complete; },
                               ("waits in " + call.op->getName().getStringRef() + " for devices " + members).str()))
    return error;
  std::vector<Inputs> all;
  for (int64_t member : group) all.push_back(meeting->present[member]);
  return all;
}

void Grid::send(std::string key, Inputs values) {
  messages[key].push_back(std::move(values));
  changed.notify_all();
}

llvm::Expected<Grid::Inputs> Grid::receive(const Call &call, std::string key) {
  auto ready = [this, key] {
    auto it = messages.find(key);
    return it != messages.end() && !it->second.empty();
  };
  if (llvm::Error error = wait(call, ready, ("waits in " + call.op->getName().getStringRef() + " for " + key).str()))
    return error;
  Inputs values = std::move(messages[key].front());
  messages[key].pop_front();
  return values;
}

llvm::Error Grid::run(llvm::function_ref<llvm::Error(Process process)> body) {
  alive = size();
  if (size() == 1) return body(Process{0, 0, this});
  threaded = true;
  std::vector<std::thread> threads;
  std::vector<llvm::Error> errors;
  for (int64_t i = 0; i < size(); ++i) errors.push_back(llvm::Error::success());
  for (int64_t i = 0; i < size(); ++i)
    threads.emplace_back([&, i] {
      std::unique_lock<std::mutex> lock(mutex);
      llvm::Error error = body(Process{i / partitions, i % partitions, this});
      if (error) {
        // The process that failed first has the reason; the others only know that a device has failed.
        if (failure.empty()) failure = "another device failed";
        llvm::consumeError(std::move(errors[i]));
        errors[i] = std::move(error);
      }
      --alive;
      checkStuck();
      changed.notify_all();
    });
  for (std::thread &thread : threads) thread.join();
  llvm::Error first = llvm::Error::success();
  bool secondary = false;
  for (llvm::Error &error : errors) {
    if (!error) {
      llvm::consumeError(std::move(error));
      continue;
    }
    std::string text;
    llvm::handleAllErrors(
        std::move(error),
        [&](std::unique_ptr<EvalError> e) {
          bool follows = e->getMessage().contains("another device failed");
          if (!first || (secondary && !follows)) {
            llvm::consumeError(std::move(first));
            first = llvm::Error(std::move(e));
            secondary = follows;
          }
        },
        [&](std::unique_ptr<llvm::ErrorInfoBase> e) {
          if (!first) first = llvm::Error(std::move(e));
        });
  }
  return first;
}

llvm::Expected<std::vector<SmallVector<Value>>>
evaluateOnGrid(func::FuncOp function, ArrayRef<SmallVector<Value>> arguments, int64_t replicas,
                               int64_t partitions, const Options &options) {
  int64_t devices = replicas * partitions;
  if (replicas < 1 || partitions < 1 || devices > 4096 ||
      (arguments.size() != 1 && static_cast<int64_t>(arguments.size()) != devices))
    return llvm::make_error<EvalError>(function.getLoc(), "expects 1 to 4096 devices and arguments for each of them");
  Operation *module = function->getParentOfType<ModuleOp>();
  if (failed(stablehlo::verifyTypes(module ? module : function.getOperation(), /*onlyKnown=*/true)))
    return llvm::make_error<EvalError>(function.getLoc(), "the program has a type that StableHLO does not have");
  const runtime::DefaultFloatModes modes;
  Grid grid(replicas, partitions);
  std::vector<SmallVector<Value>> results(devices);
  llvm::Error error = grid.run([&](Process process) -> llvm::Error {
    Interpreter interpreter(options, process);
    int64_t device = grid.deviceOf(process);
    return interpreter.callFunction(function, arguments[arguments.size() == 1 ? 0 : device], results[device], nullptr);
  });
  if (error) return error;
  return results;
}

} // namespace millrace::eval
