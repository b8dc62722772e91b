// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Carrier.h - Send large messages through another library ------------===//
// carriers/carrier.h describes the interface of such a library.
#pragma once
#include "runtime/transport/Store.h"
#include "runtime/transport/carriers/carrier.h"

#include <memory>
#include <shared_mutex>
#include <vector>

namespace millrace::runtime::transport {

class Carrier {
public:
  /// Loads `library`: "mpi" or "gloo" (libmillrace_mpi.so beside this library, else by the dynamic loader's path), or a path. Every process of the
  /// job has to call it; the call waits for all of them. Errors: NotFound, or FailedPrecondition with the carrier's message.
  static StatusOr<std::unique_ptr<Carrier>> load(const std::string &library, uint32_t rank, uint32_t size, Store &store, double seconds);
  ~Carrier();
  Carrier(const Carrier &) = delete;

  using Request = void *;
  /// Starts to send; null on error.
  Request send(uint32_t to, const void *data, uint64_t bytes);
  Request receive(uint32_t from, void *data, uint64_t bytes);
  /// Returns 0 while the request is pending, 1 if it is done, -1 if it failed. After end() every request has failed.
  int test(Request request);
  /// Cancels a request. Its memory has to stay valid until end(), so that it is kept here.
  void cancel(Request request, std::shared_ptr<const void> memory);
  const char *name() const { return table.name; }
  /// Ends the use of the carrier. `isOrderly` says that all processes do and none is lost, so that the carrier may wait for them.
  void end(bool isOrderly);

private:
  Carrier(const millrace_carrier &table, void *carrier) : table(table), carrier(carrier) {}
  const millrace_carrier &table;
  void *const carrier;
  std::shared_mutex ending; ///< shared by all calls
  bool isEnded = false;     ///< guarded by ending
  std::mutex mutex;
  std::vector<std::shared_ptr<const void>> kept; ///< guarded by mutex
};

} // namespace millrace::runtime::transport
