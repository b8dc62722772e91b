// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CustomCall.cpp - Functions that programs call by name ---------------===//
#include "runtime/kernels/CustomCall.h"
#include "runtime/fft/Fft.h"
#include "runtime/kernels/Checks.h"
#include "runtime/kernels/FewTerms.h"
#include "runtime/kernels/Scan.h"
#include "runtime/kernels/Sort.h"
#include "runtime/kernels/SparseProduct.h"
#include "runtime/kernels/TopK.h"
#include "runtime/lapack/Lapack.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <set>

namespace millrace::runtime {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, CustomCallFactory, std::less<>> handlers;
  std::set<std::string, std::less<>> own; ///< Millrace's own targets that were not replaced
  Registry() {
    for (auto &[target, handler] : checkCustomCalls())
      handlers.emplace(target, always(handler));
    for (auto &[target, handler] : lapackCustomCalls())
      handlers.emplace(target, always(handler));
    handlers.emplace("cpu_csr_sparse_dense_ffi", always(sparseProduct));
    handlers.emplace("millrace_few_terms", always(fewTerms));
    handlers.emplace("millrace_fft", makeFft);
    handlers.emplace("millrace_scan", always(scan));
    handlers.emplace("millrace_sort", always(sort));
    handlers.emplace("millrace_top_k", always(topK));
    for (auto &[target, handler] : handlers)
      own.insert(target);
  }
  static CustomCallFactory always(CustomCallHandler handler) {
    return [handler = std::move(handler)](const CustomCallStep &) -> StatusOr<CustomCallHandler> { return handler; };
  }
  static Registry &get() {
    static Registry *registry = new Registry;
    return *registry;
  }
};

size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      size_t substituted = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

} // namespace

const Attribute *CustomCall::attribute(std::string_view name) const {
  for (const Attribute &a : step.attributes)
    if (a.name == name)
      return &a;
  return nullptr;
}

void registerCustomCall(std::string target, CustomCallHandler handler) {
  registerCustomCallFactory(std::move(target), Registry::always(std::move(handler)));
}

void registerCustomCallFactory(std::string target, CustomCallFactory factory) {
  Registry &registry = Registry::get();
  std::lock_guard lock(registry.mutex);
  registry.own.erase(target);
  registry.handlers[std::move(target)] = std::move(factory);
}

bool isForeignCustomCall(const std::string &target) {
  Registry &registry = Registry::get();
  std::lock_guard lock(registry.mutex);
  return !registry.own.contains(target);
}

StatusOr<CustomCallFactory> findCustomCall(const std::string &target) {
  Registry &registry = Registry::get();
  std::lock_guard lock(registry.mutex);
  auto it = registry.handlers.find(target);
  if (it != registry.handlers.end())
    return it->second;
  std::string message = "custom call target '" + target + "' is not registered";
  std::string_view closest;
  size_t best = 4;
  for (auto &[known, handler] : registry.handlers)
    if (size_t distance = editDistance(known, target); distance < best)
      best = distance, closest = known;
  if (!closest.empty())
    message += "; did you mean '" + std::string(closest) + "'?";
  return notFound(std::move(message));
}

std::vector<std::string> customCallTargets() {
  Registry &registry = Registry::get();
  std::lock_guard lock(registry.mutex);
  std::vector<std::string> names;
  for (auto &[target, handler] : registry.handlers)
    names.push_back(target);
  return names;
}

} // namespace millrace::runtime
