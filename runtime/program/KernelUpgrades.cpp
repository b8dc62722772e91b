// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelUpgrades.cpp - Better machine code for a program that runs ----===//
#include "runtime/program/KernelUpgrades.h"

#include <unistd.h>
#include <unordered_map>

namespace millrace::runtime {

KernelUpgrades::KernelUpgrades() : process(::getpid()) {}

void KernelUpgrades::listen(std::function<void(const KernelEntry &)> listener) {
  std::lock_guard lock(mutex);
  for (const KernelEntry &kernel : kernels)
    listener(kernel);
  if (!isFinished)
    listeners.push_back(std::move(listener));
}

void KernelUpgrades::whenWhole(std::function<void(const std::vector<KernelEntry> &)> call) {
  std::unique_lock lock(mutex);
  if (!isFinished) {
    atEnd.push_back(std::move(call));
    return;
  }
  lock.unlock(); // a finished list no longer changes
  if (isWhole)
    call(kernels);
}

void KernelUpgrades::publish(KernelEntry kernel) {
  std::lock_guard lock(mutex);
  kernels.push_back(std::move(kernel));
  for (const auto &listener : listeners)
    listener(kernels.back());
}

void KernelUpgrades::finish(bool whole) {
  std::vector<std::function<void(const KernelEntry &)>> released;
  std::vector<std::function<void(const std::vector<KernelEntry> &)>> calls;
  {
    std::lock_guard lock(mutex);
    released.swap(listeners);
    calls.swap(atEnd);
    isWhole = whole;
    isFinished = true;
  }
  if (whole)
    for (const auto &call : calls)
      call(kernels);
  finished.notify_all();
}

bool KernelUpgrades::await() {
  if (process != ::getpid())
    return false;
  std::unique_lock lock(mutex);
  finished.wait(lock, [this] { return isFinished; });
  return isWhole;
}

std::vector<KernelEntry> KernelUpgrades::published() const {
  std::lock_guard lock(mutex);
  return kernels;
}

Program upgraded(const Program &program, const std::vector<KernelEntry> &kernels) {
  Program result = program;
  result.upgrades = nullptr;
  if (result.objects.size() != result.kernels.size())
    return result;
  std::unordered_map<std::string_view, const KernelEntry *> bySymbol;
  for (const KernelEntry &kernel : kernels)
    bySymbol[kernel.symbol] = &kernel;
  result.memory.code = 0;
  for (size_t i = 0; i < result.kernels.size(); ++i) {
    if (auto found = bySymbol.find(result.kernels[i].symbol); found != bySymbol.end())
      result.objects[i] = Constant::copy(found->second->object.data(), found->second->object.size());
    result.memory.code += result.objects[i].size;
  }
  return result;
}

} // namespace millrace::runtime
