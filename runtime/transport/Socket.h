// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Socket.h - Stream sockets between processes -------------------------===//
// UNIX sockets have abstract names, which vanish with their processes and are not visible in other network namespaces. Sockets are closed by exec and
// do not block; functions that wait have a deadline.
#pragma once
#include "runtime/base/Status.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace millrace::runtime::transport {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;
Deadline after(double seconds);

class Socket {
public:
  Socket() = default;
  explicit Socket(int descriptor) : fd(descriptor) {}
  Socket(Socket &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Socket &operator=(Socket &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Socket();
  explicit operator bool() const { return fd >= 0; }
  int descriptor() const { return fd; }

  static StatusOr<Socket> listenUnix(const std::string &name);
  /// Listens at `address` (IPv4 or IPv6), on a free port, to which `port` is set.
  static StatusOr<Socket> listenTcp(const std::string &address, uint16_t &port);
  static StatusOr<Socket> connectUnix(const std::string &name);
  static StatusOr<Socket> connectTcp(const std::string &address, uint16_t port, Deadline deadline);
  /// Returns true if the host reports within a moment that no socket listens there.
  static bool isRefused(const std::string &address, uint16_t port);
  /// Accepts a connection; an empty socket if there is none.
  Socket accept() const;

  /// Returns the process at the other end of a UNIX socket, as this PID namespace numbers it; 0 for other sockets.
  int peerProcess() const;

  /// Reads exactly `size` bytes. Errors: Unavailable if the other end is closed, DeadlineExceeded.
  Status read(void *data, size_t size, Deadline deadline) const;
  Status write(const void *data, size_t size, Deadline deadline) const;

private:
  int fd = -1;
};

/// Returns the address of a network interface ("eth0"), or `name` itself if it is an address.
StatusOr<std::string> addressOfInterface(const std::string &name);

/// Returns the error of a system call: "connect to 10.0.0.2:4000: Connection refused".
Status systemError(const std::string &what, int error);

} // namespace millrace::runtime::transport
