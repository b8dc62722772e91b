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

/// Returns the interface's number of an element type, or 0 for types that the interface lacks.
int32_t abiType(DType type);

/// Converts `error` (null = Ok) to a Status and frees it.
Status takeError(abi::Error *error);
abi::Error *makeError(Status status);

/// An object that a handler stored for later stages, with the function that destroys it.
class State {
public:
  State() = default;
  State(const State &) = delete;
  ~State();
  /// Stores the object. `destroy` is the handler's own function; if null, that of the registered type is used.
  Status set(abi::TypeId type, void *data, void (*destroy)(void *) = nullptr);
  StatusOr<void *> get(abi::TypeId type) const;

private:
  int64_t type = 0;
  void *data = nullptr;
  void (*destroy)(void *) = nullptr;
};

/// Sets `id` to the number of the type named `name` (a new number if `id` is 0). A name always has the same number. Objects of a type without
/// `destroy` can be looked up, but not owned by a State.
Status registerType(std::string_view name, abi::TypeId *id, const abi::TypeInfo *info);

/// Returns the table of functions that handlers call.
const abi::Api &api();

} // namespace millrace::runtime::ffi

namespace millrace::runtime::ffi::abi {

struct Error {
  Status status;
};

/// The state of one call of one stage.
struct Context {
  const CustomCall *call = nullptr; ///< null in the stage `instantiate`, which has no device
  State *states[numStages] = {};
  int minor = minorVersion; ///< minor version of the interface that the handler was compiled for
};

/// Threads of the handler complete it. Its parts are shared, because the completing thread may still use them when the waiting thread has continued
/// and freed the future.
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
