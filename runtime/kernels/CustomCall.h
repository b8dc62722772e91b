// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CustomCall.h - Functions that programs call by name -----------------===//
#pragma once
#include "runtime/program/Program.h"

#include <functional>

namespace millrace::runtime {

/// A dense tensor, row-major or in the layout that the call requests.
struct TensorView {
  void *data = nullptr;
  DType dtype = DType::Invalid;
  std::vector<int64_t> dims;
  int64_t elements() const {
    int64_t n = 1;
    for (int64_t d : dims)
      n *= d;
    return n;
  }
  size_t bytes() const { return size_t(elements()) * byteSize(dtype); }
};

struct CustomCall {
  const CustomCallStep &step; ///< target, backend config, attributes
  std::vector<TensorView> arguments, results;
  uint32_t device = 0;        ///< ordinal of the executing device
  std::string_view location;  ///< location of the operation in the source; may be empty
  int64_t run = 0;            ///< equal for all devices of one execution, different for different executions
  /// Returns the attribute of that name, or nullptr.
  const Attribute *attribute(std::string_view name) const;
};

/// The function of a custom call. It must not block on other devices. An error ends the execution; the runtime adds target and location to it.
using CustomCallHandler = std::function<Status(const CustomCall &)>;

/// Makes the handler of one call in a program when the program is loaded, so that work that depends on attributes only is done once. The handler's
/// state lives as long as the loaded program.
using CustomCallFactory = std::function<StatusOr<CustomCallHandler>(const CustomCallStep &)>;

/// Registers (or replaces) a handler for all programs that are loaded afterwards. Thread-safe.
void registerCustomCall(std::string target, CustomCallHandler handler);
void registerCustomCallFactory(std::string target, CustomCallFactory factory);

/// Returns the factory of a target. Errors: NotFound (with the target and the most similar registered name) if there is none. Thread-safe.
StatusOr<CustomCallFactory> findCustomCall(const std::string &target);

/// Returns true if the function may run foreign code, which may wait for anything: true for all targets but those of this library.
bool isForeignCustomCall(const std::string &target);

std::vector<std::string> customCallTargets();

} // namespace millrace::runtime
