// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Objects.h - Objects behind the opaque pointers of the FFI -----------===//
#pragma once
#include "runtime/base/DType.h"
#include "runtime/base/Status.h"
#include "runtime/ffi/Abi.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace millrace::runtime {
struct CustomCall;
}

namespace millrace::runtime::ffi {

/// Number of an element type in the interface; those of types it does not know are 0.
int32_t abiType(DType type);

/// Takes over `error` (null = ok).
Status takeError(abi::Error *error);
abi::Error *makeError(Status status);

/// An object that a handler left for later stages, with the function that ends it.
class State {
public:
  State() = default;
  State(const State &) = delete;
  ~State();
  /// `destroy` of the handler itself, else that of the registered type.
  Status set(abi::TypeId type, void *data, void (*destroy)(void *) = nullptr);
  StatusOr<void *> get(abi::TypeId type) const;

private:
  int64_t type = 0;
  void *data = nullptr;
  void (*destroy)(void *) = nullptr;
};

/// Gives `id` the number of the type called `name` (a new one where it is 0). The same name must come with the same
/// number. A type without `destroy` can be looked up, but not owned by a State.
Status registerType(std::string_view name, abi::TypeId *id, const abi::TypeInfo *info);

/// The table of functions that handlers call.
const abi::Api &api();

} // namespace millrace::runtime::ffi

namespace millrace::runtime::ffi::abi {

struct Error {
  Status status;
};

/// Lives as long as one call of one stage.
struct Context {
  const CustomCall *call = nullptr; ///< null while a call is instantiated: no device then
  State *states[numStages] = {};
  int minor = minorVersion; ///< of the interface that the handler was compiled for
};

/// Completed by the handler's own threads. The parts are shared: who completes it may still be inside when the waiting
/// thread goes on and frees it.
struct Future {
  struct Parts {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Status> outcome; ///< guarded by mutex
  };
  std::shared_ptr<Parts> parts = std::make_shared<Parts>();
  Status await();
};

} // namespace millrace::runtime::ffi::abi
