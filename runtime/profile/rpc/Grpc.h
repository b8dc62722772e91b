// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Grpc.h - Unary calls over HTTP/2 -------------------------------------===//
// As much of gRPC as its profiler service needs, without TLS: a request, a reply, an error with a text, and calls that are given up. A library for
// it would bring a second copy of protocol buffers into processes that have one.
#pragma once
#include "runtime/base/Status.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace millrace::runtime::profile::rpc {

/// gRPC's numbers.
enum class Outcome : int {
  Ok = 0, Cancelled = 1, Unknown = 2, InvalidArgument = 3, DeadlineExceeded = 4, Unimplemented = 12, Internal = 13, Unavailable = 14
};

struct Reply {
  Outcome outcome = Outcome::Ok;
  std::string message; ///< of an error
  std::string bytes;   ///< else
};

struct Request {
  std::string path; ///< "/tensorflow.ProfilerService/Profile"
  std::string bytes;
  /// Nobody waits for the reply any more.
  const std::atomic<bool> *isCancelled = nullptr;
};

/// Answers calls on threads of its own, one per connection and call, until it is destroyed; what runs is told that it is cancelled then. Connections,
/// calls and their sizes are bounded: who asks for too much is refused, and the process that serves goes on. A forked child neither serves nor holds
/// the port, and may destroy the object.
class Server {
public:
  using Handler = std::function<Reply(const Request &)>;
  /// Listens at 127.0.0.1, or at MILLRACE_PROFILER_ADDRESS; port 0: one that is free. Unavailable if the port is taken.
  static StatusOr<std::unique_ptr<Server>> start(uint16_t port, Handler handler);
  ~Server();
  uint16_t port() const;

private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// Waits for the reply. `address`: "host:port", else InvalidArgument. Unavailable where nobody answers, DeadlineExceeded after `timeoutSeconds`.
Reply call(const std::string &address, const std::string &path, const std::string &request, double timeoutSeconds);

} // namespace millrace::runtime::profile::rpc
