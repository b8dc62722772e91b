// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Carrier.h - A library that carries large messages ------------------===//
// See carriers/carrier.h.
#pragma once
#include "runtime/transport/Store.h"
#include "runtime/transport/carriers/carrier.h"

#include <memory>
#include <shared_mutex>
#include <vector>

namespace millrace::runtime::transport {

class Carrier {
public:
  /// `library`: "mpi" or "gloo" (libmillrace_mpi.so beside this library, else as the dynamic loader finds it), or a path. Every process of the job
  /// does it; waits for them. NotFound, or FailedPrecondition with the carrier's own words.
  static StatusOr<std::unique_ptr<Carrier>> load(const std::string &library, uint32_t rank, uint32_t size, Store &store, double seconds);
  ~Carrier();
  Carrier(const Carrier &) = delete;

  using Request = void *;
  /// Null for an error.
  Request send(uint32_t to, const void *data, uint64_t bytes);
  Request receive(uint32_t from, void *data, uint64_t bytes);
  /// 0: not yet, 1: done, -1: failed. After the end every request has failed.
  int test(Request request);
  /// The memory of a request that is cancelled has to stay until the end: it is kept.
  void cancel(Request request, std::shared_ptr<const void> memory);
  const char *name() const { return table.name; }
  /// Ends it. `isOrderly`: all processes do, none is lost: the carrier may wait for them.
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
