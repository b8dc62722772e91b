// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Socket.cpp - Stream sockets between processes -----------------------===//
#include "runtime/transport/Socket.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace millrace::runtime::transport {
namespace {

constexpr int backlog = 512;

struct Address {
  sockaddr_storage storage = {};
  socklen_t size = 0;
  sockaddr *get() { return reinterpret_cast<sockaddr *>(&storage); }
};

StatusOr<Address> unixAddress(const std::string &name) {
  Address address;
  auto &to = reinterpret_cast<sockaddr_un &>(address.storage);
  if (name.size() + 1 > sizeof to.sun_path)
    return invalidArgument("the name of a socket is too long");
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path + 1, name.data(), name.size()); // the null byte before the name makes it abstract
  address.size = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

StatusOr<Address> tcpAddress(const std::string &text, uint16_t port) {
  Address address;
  auto &v4 = reinterpret_cast<sockaddr_in &>(address.storage);
  auto &v6 = reinterpret_cast<sockaddr_in6 &>(address.storage);
  if (inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    address.size = sizeof v4;
  } else if (inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    address.size = sizeof v6;
  } else {
    return invalidArgument("expects an IP address, but got '" + text + "'");
  }
  return address;
}

Socket make(int family) { return Socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

StatusOr<Socket> listenAt(Address &address, const std::string &title) {
  Socket socket = make(address.storage.ss_family);
  if (!socket || ::bind(socket.descriptor(), address.get(), address.size) || ::listen(socket.descriptor(), backlog))
    return systemError("listen at " + title, errno);
  return socket;
}

/// Disables the delay of small messages.
void sendAtOnce(const Socket &socket) {
  int on = 1;
  ::setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); // fails for UNIX sockets, which have no delay
}

/// Waits for the events; returns false at the deadline.
bool waitFor(int descriptor, short events, Deadline deadline) {
  while (true) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd poll{descriptor, events, 0};
    int found = ::poll(&poll, 1, left < 0 ? 0 : left > 1000 ? 1000 : int(left));
    if (found > 0)
      return true;
    if (left <= 0 && !(found < 0 && errno == EINTR))
      return false;
  }
}

} // namespace

Deadline after(double seconds) { return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)); }

Status systemError(const std::string &what, int error) { return Status(Code::Unavailable, what + ": " + std::strerror(error)); }

Socket::~Socket() {
  if (fd >= 0)
    ::close(fd);
}

StatusOr<Socket> Socket::listenUnix(const std::string &name) {
  StatusOr<Address> address = unixAddress(name);
  return address ? listenAt(*address, "a UNIX socket") : address.status();
}

StatusOr<Socket> Socket::listenTcp(const std::string &text, uint16_t &port) {
  StatusOr<Address> address = tcpAddress(text, 0);
  if (!address)
    return address.status();
  StatusOr<Socket> socket = listenAt(*address, text);
  if (!socket)
    return socket;
  address->size = sizeof address->storage;
  if (::getsockname(socket->descriptor(), address->get(), &address->size))
    return systemError("listen at " + text, errno);
  bool isV4 = address->storage.ss_family == AF_INET;
  port = ntohs(isV4 ? reinterpret_cast<sockaddr_in &>(address->storage).sin_port : reinterpret_cast<sockaddr_in6 &>(address->storage).sin6_port);
  return socket;
}

StatusOr<Socket> Socket::connectUnix(const std::string &name) {
  StatusOr<Address> address = unixAddress(name);
  if (!address)
    return address.status();
  Socket socket = make(AF_UNIX);
  if (!socket || ::connect(socket.descriptor(), address->get(), address->size))
    return systemError("connect to a UNIX socket", errno);
  return socket;
}

StatusOr<Socket> Socket::connectTcp(const std::string &text, uint16_t port, Deadline deadline) {
  StatusOr<Address> address = tcpAddress(text, port);
  if (!address)
    return address.status();
  std::string title = "connect to " + text + " port " + std::to_string(port);
  Socket socket = make(address->storage.ss_family);
  if (!socket)
    return systemError(title, errno);
  sendAtOnce(socket);
  if (::connect(socket.descriptor(), address->get(), address->size)) {
    if (errno != EINPROGRESS)
      return systemError(title, errno);
    if (!waitFor(socket.descriptor(), POLLOUT, deadline))
      return systemError(title, ETIMEDOUT);
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error)
      return systemError(title, error);
  }
  return socket;
}

bool Socket::isRefused(const std::string &text, uint16_t port) {
  StatusOr<Address> address = tcpAddress(text, port);
  Socket socket = address ? make(address->storage.ss_family) : Socket();
  if (!socket || !::connect(socket.descriptor(), address->get(), address->size))
    return false;
  int error = errno;
  socklen_t size = sizeof error;
  if (error == EINPROGRESS && waitFor(socket.descriptor(), POLLOUT, after(0.2)))
    ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error == ECONNREFUSED;
}

Socket Socket::accept() const {
  Socket socket(::accept4(fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket)
    sendAtOnce(socket);
  return socket;
}

int Socket::peerProcess() const {
  ucred credentials = {};
  socklen_t size = sizeof credentials;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) ? 0 : credentials.pid;
}

Status Socket::read(void *data, size_t size, Deadline deadline) const {
  auto *to = static_cast<char *>(data);
  while (size) {
    ssize_t got = ::recv(fd, to, size, 0);
    if (got > 0) {
      to += got, size -= size_t(got);
    } else if (got == 0) {
      return Status(Code::Unavailable, "the connection was closed");
    } else if (errno == EAGAIN || errno == EINTR) {
      if (!waitFor(fd, POLLIN, deadline))
        return deadlineExceeded("nothing was sent");
    } else {
      return systemError("receive", errno);
    }
  }
  return Status();
}

Status Socket::write(const void *data, size_t size, Deadline deadline) const {
  auto *from = static_cast<const char *>(data);
  while (size) {
    ssize_t put = ::send(fd, from, size, MSG_NOSIGNAL);
    if (put >= 0) {
      from += put, size -= size_t(put);
    } else if (errno == EAGAIN || errno == EINTR) {
      if (!waitFor(fd, POLLOUT, deadline))
        return deadlineExceeded("nothing was received");
    } else {
      return systemError("send", errno);
    }
  }
  return Status();
}

StatusOr<std::string> addressOfInterface(const std::string &name) {
  if (tcpAddress(name, 0))
    return name;
  ifaddrs *list = nullptr;
  if (::getifaddrs(&list))
    return systemError("list the network interfaces", errno);
  std::unique_ptr<ifaddrs, void (*)(ifaddrs *)> owner(list, ::freeifaddrs);
  std::string found, known;
  for (ifaddrs *each = list; each; each = each->ifa_next) {
    if (!each->ifa_addr || !(each->ifa_flags & IFF_UP))
      continue;
    char text[INET6_ADDRSTRLEN] = {};
    if (each->ifa_addr->sa_family == AF_INET)
      inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in *>(each->ifa_addr)->sin_addr, text, sizeof text);
    else if (each->ifa_addr->sa_family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<sockaddr_in6 *>(each->ifa_addr)->sin6_addr))
      inet_ntop(AF_INET6, &reinterpret_cast<sockaddr_in6 *>(each->ifa_addr)->sin6_addr, text, sizeof text);
    else
      continue;
    known += (known.empty() ? "" : ", ") + std::string(each->ifa_name) + " (" + text + ")";
    if (name == each->ifa_name && (found.empty() || each->ifa_addr->sa_family == AF_INET))
      found = text;
  }
  if (found.empty())
    return invalidArgument("there is no network interface '" + name + "' with an address; there are " + known);
  return found;
}

} // namespace millrace::runtime::transport
