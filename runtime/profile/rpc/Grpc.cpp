// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Grpc.cpp - Unary calls over HTTP/2 -----------------------------------===//
// Frames are those of RFC 9113. A message of gRPC is a byte (0: not compressed), its size in four bytes, and its bytes.
#include "runtime/profile/rpc/Grpc.h"
#include "runtime/base/Environment.h"
#include "runtime/profile/rpc/Hpack.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <list>
#include <map>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <set>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace millrace::runtime::profile::rpc {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
enum Frame : uint8_t { Data = 0, HeadersFrame = 1, Reset = 3, Settings = 4, Ping = 6, GoAway = 7, WindowUpdate = 8, Continuation = 9 };
enum Flag : uint8_t { EndStream = 1, Ack = 1, EndHeaders = 4, Padded = 8, Priority = 32 };
/// Fact: HTTP/2 (RFC 9113): bytes of a frame as long as nobody was told otherwise.
constexpr uint32_t kFrameBytes = 16384;
/// Fact: HTTP/2: bytes that may be on their way as long as nobody was told otherwise.
constexpr uint32_t kWindow = 65535;
/// Larger requests are refused: those of a profiler's clients have some hundred. Unit: bytes. Source: judgement, not measured alone.
constexpr size_t kMostRequest = size_t(1) << 20;
/// More calls of a connection at once are refused, each of which has a thread. Unit: calls. Source: judgement, not measured alone.
constexpr uint32_t kMostCalls = 16;
/// More connections at once are refused, or take the place of one without calls. Unit: connections. Source: judgement, not measured alone.
constexpr size_t kMostConnections = 32;
/// A connection that cannot be had is tried again after that long. Unit: milliseconds. Source: judgement, not measured alone.
constexpr int kPauseMs = 100;
/// Fact: HTTP/2: the setting that says how many calls may be open at once.
constexpr uint16_t kSettingOfCalls = 3;
/// Fact: HTTP/2: the code of a call that is one too many.
constexpr uint32_t kRefusedStream = 7;
/// Fact: HTTP/2: the largest window.
constexpr int64_t kMostWindow = 0x7FFFFFFF;

std::string bigEndian(uint32_t value) {
  const char bytes[] = {char(value >> 24), char(value >> 16), char(value >> 8), char(value)};
  return std::string(bytes, 4);
}
uint32_t readBigEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (char byte : bytes.substr(0, 4))
    value = value << 8 | uint8_t(byte);
  return value;
}

std::string frame(Frame type, uint8_t flags, uint32_t stream, std::string_view payload) {
  std::string bytes = bigEndian(uint32_t(payload.size())).substr(1);
  bytes += char(type);
  bytes += char(flags);
  bytes += bigEndian(stream);
  bytes += payload;
  return bytes;
}

std::string message(std::string_view bytes) { return std::string(1, '\0') + bigEndian(uint32_t(bytes.size())) + std::string(bytes); }

/// False: it is compressed, or not whole.
bool readMessage(std::string_view bytes, std::string &content) {
  if (bytes.size() < 5 || bytes[0] != 0 || readBigEndian(bytes.substr(1)) != bytes.size() - 5)
    return false;
  content = bytes.substr(5);
  return true;
}

/// grpc-message: what is no printable ASCII goes as %XX.
std::string percentEncoded(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c >= ' ' && c <= '~' && c != '%') {
      out += c;
    } else {
      const char *const digits = "0123456789ABCDEF";
      out += {'%', digits[uint8_t(c) >> 4], digits[uint8_t(c) & 15]};
    }
  return out;
}
std::string percentDecoded(std::string_view text) {
  auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0) {
      out += char(digit(text[i + 1]) << 4 | digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  return out;
}

/// Sockets and events that only this process uses. A forked child closes them: it has none of the threads that serve, and while it held the listener
/// nobody could listen at the port after its parent has stopped. Programs that are started have them closed by close-on-exec.
class OwnDescriptors {
public:
  /// Never destroyed: threads serve while the process ends.
  static OwnDescriptors &get() {
    static OwnDescriptors *own = [] {
      auto *made = new OwnDescriptors;
      pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); }, [] { get().inChild(); });
      return made;
    }();
    return *own;
  }
  /// What `make` returns; no fork comes between. `make` must not wait.
  template <typename Make>
  int open(const Make &make) {
    std::lock_guard lock(mutex);
    int descriptor = make();
    if (descriptor >= 0)
      all.insert(descriptor);
    return descriptor;
  }
  void close(int descriptor) {
    std::lock_guard lock(mutex);
    if (all.erase(descriptor))
      ::close(descriptor);
  }

private:
  void inChild() {
    for (int descriptor : all)
      ::close(descriptor);
    all.clear();
    mutex.unlock();
  }
  std::mutex mutex;
  std::set<int> all; ///< guarded by mutex
};
/// Handlers that are registered later run earlier, without the mutex: those of the background wait for its job (runtime/profile/Recorder.cpp).
[[maybe_unused]] const OwnDescriptors &registeredFirst = OwnDescriptors::get();

/// A connected socket. Reads and writes wait, until `deadline` where one is given; shutDown() ends those of other threads.
class Connected {
public:
  explicit Connected(int descriptor) : fd(OwnDescriptors::get().open([&] { return descriptor; })) {
    int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  Connected(const Connected &) = delete;
  ~Connected() { OwnDescriptors::get().close(fd); }

  bool read(void *data, size_t size, const Clock::time_point *deadline = nullptr) const {
    for (char *at = static_cast<char *>(data); size;) {
      if (deadline && !wait(POLLIN, *deadline))
        return false;
      ssize_t got = ::recv(fd, at, size, 0);
      if (got < 0 && errno == EINTR)
        continue;
      if (got <= 0)
        return false;
      at += got;
      size -= size_t(got);
    }
    return true;
  }
  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      ssize_t put = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (put < 0 && errno == EINTR)
        continue;
      if (put <= 0)
        return false;
      bytes.remove_prefix(size_t(put));
    }
    return true;
  }
  void shutDown() const { ::shutdown(fd, SHUT_RDWR); }

private:
  bool wait(short events, Clock::time_point deadline) const {
    while (true) {
      auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      pollfd polled{fd, events, 0};
      int found = ::poll(&polled, 1, int(std::clamp<int64_t>(left, 0, 1'000'000)));
      if (found > 0)
        return true;
      if (found == 0 && Clock::now() >= deadline)
        return false;
      if (found < 0 && errno != EINTR)
        return false;
    }
  }
  const int fd;
};

struct FrameHead {
  uint32_t size = 0, stream = 0;
  uint8_t type = 0, flags = 0;
};

bool readFrame(const Connected &socket, FrameHead &head, std::string &payload, const Clock::time_point *deadline = nullptr) {
  char bytes[9];
  if (!socket.read(bytes, sizeof bytes, deadline))
    return false;
  head.size = readBigEndian(std::string_view(bytes, 4)) >> 8;
  head.type = uint8_t(bytes[3]);
  head.flags = uint8_t(bytes[4]);
  head.stream = readBigEndian(std::string_view(bytes + 5, 4)) & 0x7FFFFFFF;
  if (head.size > kFrameBytes) // nobody was told that it may be larger
    return false;
  payload.resize(head.size);
  return socket.read(payload.data(), payload.size(), deadline);
}

/// The content of a frame without its padding and priority. False: they are longer than the frame.
bool strip(const FrameHead &head, std::string &payload) {
  size_t front = 0, back = 0;
  if (head.flags & Padded) {
    if (payload.empty())
      return false;
    back = uint8_t(payload[0]);
    front = 1;
  }
  if (head.type == HeadersFrame && (head.flags & Priority))
    front += 5;
  if (front + back > payload.size())
    return false;
  payload = payload.substr(front, payload.size() - front - back);
  return true;
}

std::string *find(Headers &headers, std::string_view name) {
  for (auto &[key, value] : headers)
    if (key == name)
      return &value;
  return nullptr;
}

} // namespace

//===--- The server --------------------------------------------------------===//

namespace {

/// One connection of a client.
class Connection {
public:
  Connection(int descriptor, const Server::Handler &handler) : socket(descriptor), handler(handler) {
    reader = std::thread([this] {
      serve();
      close();
      isOver = true;
    });
  }
  ~Connection() {
    close();
    reader.join();
    for (Caller &caller : callers)
      caller.thread.join();
  }
  std::atomic<bool> isOver{false}; ///< the client has gone; calls may still end

  bool hasCalls() {
    std::lock_guard lock(mutex);
    return !streams.empty();
  }

private:
  struct Stream {
    Headers headers;
    std::string body;
    int64_t window = kWindow; ///< what the client takes
    bool isComplete = false;  ///< its call has begun, and reads the request; of the reader
    std::atomic<bool> isCancelled{false};
  };
  using StreamPtr = std::shared_ptr<Stream>;

  struct Caller {
    std::atomic<bool> isOver{false};
    std::thread thread;
  };

  void close() {
    socket.shutDown();
    std::lock_guard lock(mutex);
    isClosed = true;
    for (auto &[id, stream] : streams)
      stream->isCancelled = true;
    changed.notify_all();
  }

  bool send(const std::string &bytes) {
    std::lock_guard lock(writing);
    return socket.write(bytes);
  }

  void serve() {
    char preface[kPreface.size()];
    const std::string settings = std::string({0, char(kSettingOfCalls)}) + bigEndian(kMostCalls);
    if (!socket.read(preface, sizeof preface) || std::string_view(preface, sizeof preface) != kPreface || !send(frame(Settings, 0, 0, settings)))
      return;
    FrameHead head;
    std::string payload, block;
    uint32_t openBlock = 0; ///< stream whose headers go on in the next frame
    uint8_t flagsOfBlock = 0;
    while (readFrame(socket, head, payload)) {
      if (openBlock && (head.type != Continuation || head.stream != openBlock))
        return;
      switch (head.type) {
      case HeadersFrame:
      case Continuation: {
        if (head.type == HeadersFrame ? head.stream % 2 == 0 || !strip(head, payload) : !openBlock)
          return;
        if (block.size() + payload.size() > HpackDecoder::kMostListBytes)
          return;
        if (head.type == HeadersFrame)
          flagsOfBlock = head.flags;
        block += payload;
        openBlock = head.flags & EndHeaders ? 0 : head.stream;
        if (openBlock)
          break;
        Headers headers;
        if (!decoder.decode(std::exchange(block, std::string()), headers))
          return;
        StreamPtr stream = find(head.stream);
        if (!stream) { // else trailers of a request
          if (head.stream <= lastStream)
            break; // they belong to a call that was given up meanwhile
          lastStream = head.stream;
          stream = open(head.stream, std::move(headers));
          if (!stream) {
            if (!send(frame(Reset, 0, head.stream, bigEndian(kRefusedStream))))
              return;
            break;
          }
        }
        if ((flagsOfBlock & EndStream) && !begin(head.stream, stream))
          return;
        break;
      }
      case Data: {
        if (!strip(head, payload))
          return;
        if (head.size && (!send(frame(WindowUpdate, 0, 0, bigEndian(head.size))) || !send(frame(WindowUpdate, 0, head.stream, bigEndian(head.size)))))
          return;
        StreamPtr stream = find(head.stream);
        if (!stream) // it was refused, or given up meanwhile
          break;
        if (stream->isComplete || stream->body.size() + payload.size() > kMostRequest)
          return;
        stream->body += payload;
        if ((head.flags & EndStream) && !begin(head.stream, stream))
          return;
        break;
      }
      case Reset: {
        std::lock_guard lock(mutex);
        if (auto found = streams.find(head.stream); found != streams.end()) {
          found->second->isCancelled = true;
          streams.erase(found);
          changed.notify_all();
        }
        break;
      }
      case Settings:
        if (head.flags & Ack)
          break;
        if (!applySettings(payload) || !send(frame(Settings, Ack, 0, "")))
          return;
        break;
      case Ping:
        if (!(head.flags & Ack) && !send(frame(Ping, Ack, 0, payload)))
          return;
        break;
      case WindowUpdate: {
        if (payload.size() != 4)
          return;
        const int64_t more = readBigEndian(payload) & 0x7FFFFFFF;
        std::lock_guard lock(mutex);
        if (head.stream == 0)
          window += more;
        else if (auto found = streams.find(head.stream); found != streams.end())
          found->second->window += more;
        changed.notify_all();
        break;
      }
      default: break; // what is not known is no error
      }
    }
  }

  StreamPtr find(uint32_t id) {
    std::lock_guard lock(mutex);
    auto found = streams.find(id);
    return found == streams.end() ? nullptr : found->second;
  }

  /// A stream of the client, or null: too many are open.
  StreamPtr open(uint32_t id, Headers &&headers) {
    std::lock_guard lock(mutex);
    // Calls that were given up are no longer among the streams, but their threads may still end.
    std::erase_if(callers, [](Caller &caller) {
      if (caller.isOver)
        caller.thread.join();
      return caller.isOver.load();
    });
    if (streams.size() >= kMostCalls || callers.size() >= kMostCalls)
      return nullptr;
    auto stream = std::make_shared<Stream>();
    stream->window = initialWindow;
    stream->headers = std::move(headers);
    return streams[id] = stream;
  }

  bool applySettings(std::string_view payload) {
    if (payload.size() % 6)
      return false;
    std::lock_guard lock(mutex);
    for (; !payload.empty(); payload.remove_prefix(6)) {
      const uint32_t id = readBigEndian(payload) >> 16, value = readBigEndian(payload.substr(2));
      if (id == 4) { // of streams, also of those that are open
        if (value > kMostWindow)
          return false;
        for (auto &[number, stream] : streams)
          stream->window += int64_t(value) - initialWindow;
        initialWindow = value;
      } else if (id == 5) {
        frameBytes = std::clamp<uint32_t>(value, kFrameBytes, 1 << 24);
      }
    }
    changed.notify_all();
    return true;
  }

  /// Answers the request of a stream, which is whole. False: that was said before, and the connection cannot go on.
  bool begin(uint32_t id, const StreamPtr &stream) {
    if (std::exchange(stream->isComplete, true))
      return false;
    Caller &caller = callers.emplace_back();
    caller.thread = std::thread([this, id, stream, &caller] {
      Request request;
      request.isCancelled = &stream->isCancelled;
      if (const std::string *path = rpc::find(stream->headers, ":path"))
        request.path = *path;
      Reply reply;
      if (readMessage(stream->body, request.bytes))
        reply = handler(request);
      else
        reply = {Outcome::Unimplemented, "expects one message that is not compressed", ""};
      answer(id, *stream, reply);
      std::lock_guard lock(mutex);
      streams.erase(id);
      caller.isOver = true;
    });
    return true;
  }

  void answer(uint32_t id, Stream &stream, const Reply &reply) {
    std::string head, tail;
    encodeHeader(head, ":status", "200");
    encodeHeader(head, "content-type", "application/grpc");
    encodeHeader(tail, "grpc-status", std::to_string(int(reply.outcome)));
    if (reply.outcome != Outcome::Ok) {
      encodeHeader(tail, "grpc-message", percentEncoded(reply.message).substr(0, 4096));
      if (!stream.isCancelled)
        send(frame(HeadersFrame, EndHeaders | EndStream, id, head + tail));
      return;
    }
    if (stream.isCancelled || !send(frame(HeadersFrame, EndHeaders, id, head)))
      return;
    const std::string bytes = message(reply.bytes);
    for (std::string_view rest = bytes; !rest.empty();) {
      size_t size;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return (window > 0 && stream.window > 0) || stream.isCancelled || isClosed; });
        if (stream.isCancelled || isClosed)
          return;
        size = std::min({rest.size(), size_t(window), size_t(stream.window), size_t(frameBytes)});
        window -= int64_t(size);
        stream.window -= int64_t(size);
      }
      if (!send(frame(Data, 0, id, rest.substr(0, size))))
        return;
      rest.remove_prefix(size);
    }
    send(frame(HeadersFrame, EndHeaders | EndStream, id, tail));
  }

  Connected socket;
  const Server::Handler &handler;
  HpackDecoder decoder; ///< of the reader
  std::mutex writing;
  std::mutex mutex; ///< guards the next
  std::condition_variable changed;
  std::map<uint32_t, StreamPtr> streams;
  int64_t window = kWindow, initialWindow = kWindow; ///< of the connection; of new streams
  uint32_t frameBytes = kFrameBytes;
  bool isClosed = false;
  std::list<Caller> callers; ///< of the reader, until it has ended
  uint32_t lastStream = 0;   ///< that the client has opened; of the reader
  std::thread reader;
};

} // namespace

struct Server::State {
  int listener = -1, wake = -1;
  uint16_t port = 0;
  const pid_t owner = ::getpid(); ///< the process that has the thread
  Handler handler;
  std::atomic<bool> stopping{false};
  std::thread acceptor;

  ~State() {
    stopping = true;
    if (acceptor.joinable()) {
      uint64_t one = 1;
      [[maybe_unused]] ssize_t put = ::write(wake, &one, sizeof one);
      acceptor.join();
    }
    OwnDescriptors::get().close(wake);
    OwnDescriptors::get().close(listener);
  }

  void accept() {
    std::list<Connection> connections;
    while (!stopping) {
      pollfd polled[2] = {{listener, POLLIN, 0}, {wake, POLLIN, 0}};
      if (::poll(polled, 2, -1) < 0 && errno != EINTR)
        return;
      connections.remove_if([](const Connection &each) { return each.isOver.load(); });
      if (stopping || !(polled[0].revents & POLLIN))
        continue;
      int client = OwnDescriptors::get().open([&] { return ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC); });
      if (client < 0 && errno == EAGAIN) // the client has gone meanwhile
        continue;
      if (client < 0) { // no descriptor is left, for one: whoever waits goes on waiting
        polled[1].revents = 0;
        ::poll(polled + 1, 1, kPauseMs);
        continue;
      }
      if (connections.size() >= kMostConnections)
        if (auto idle = std::find_if(connections.begin(), connections.end(), [](Connection &each) { return !each.hasCalls(); });
            idle != connections.end())
          connections.erase(idle);
      if (connections.size() < kMostConnections)
        connections.emplace_back(client, handler);
      else
        OwnDescriptors::get().close(client);
    }
  }
};

Server::Server(std::unique_ptr<State> state) : state(std::move(state)) {}
Server::~Server() {
  if (state->owner != ::getpid())
    (void)state.release(); // of the parent of a forked child, where there is no thread to wait for
}
uint16_t Server::port() const { return state->port; }

StatusOr<std::unique_ptr<Server>> Server::start(uint16_t port, Handler handler) {
  auto state = std::make_unique<State>();
  state->handler = std::move(handler);
  auto failed = [&](const char *what) {
    return Status(Code::Unavailable, std::string(what) + " port " + std::to_string(port) + ": " + std::strerror(errno));
  };
  // Whoever reaches the port may ask for recordings and name the folder, so others than this machine's programs do not, unless the user says so.
  const std::string asked = environment::text("MILLRACE_PROFILER_ADDRESS"), text = asked.empty() ? "127.0.0.1" : asked;
  sockaddr_in6 six{};
  sockaddr_in four{};
  const bool hasSix = ::inet_pton(AF_INET6, text.c_str(), &six.sin6_addr) == 1;
  if (!hasSix && ::inet_pton(AF_INET, text.c_str(), &four.sin_addr) != 1)
    return invalidArgument("MILLRACE_PROFILER_ADDRESS expects an address to listen at, 0.0.0.0 or :: for all of this machine's, but got '" +
                           text + "'");
  int yes = 1, no = 0;
  auto makeListener = [&] { return ::socket(hasSix ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); };
  state->listener = OwnDescriptors::get().open(makeListener);
  if (state->listener < 0)
    return failed("cannot make a socket for");
  setsockopt(state->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  socklen_t size = hasSix ? sizeof six : sizeof four;
  sockaddr *address = hasSix ? reinterpret_cast<sockaddr *>(&six) : reinterpret_cast<sockaddr *>(&four);
  if (hasSix) {
    setsockopt(state->listener, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
  } else {
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
  }
  if (::bind(state->listener, address, size) || ::listen(state->listener, 16))
    return failed("cannot listen at");
  if (::getsockname(state->listener, address, &size))
    return failed("cannot listen at");
  state->port = ntohs(hasSix ? six.sin6_port : four.sin_port);
  state->wake = OwnDescriptors::get().open([] { return ::eventfd(0, EFD_CLOEXEC); });
  if (state->wake < 0)
    return failed("cannot make an event for");
  state->acceptor = std::thread([self = state.get()] { self->accept(); });
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

//===--- The client --------------------------------------------------------===//

/// The host and the port of "host:port". False: `address` is none, or the port is no number of one.
static bool splitAddress(const std::string &address, std::string &host, std::string &port) {
  size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0)
    return false;
  host = address.substr(0, colon), port = address.substr(colon + 1);
  uint16_t number = 0;
  auto [end, failure] = std::from_chars(port.data(), port.data() + port.size(), number);
  return failure == std::errc() && end == port.data() + port.size() && number != 0;
}

static int connectTo(const std::string &address, std::string host, const std::string &port, Clock::time_point deadline, std::string &error) {
  if (host.size() > 1 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (int failed = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found)) {
    error = address + ": " + ::gai_strerror(failed);
    return -1;
  }
  int connected = -1;
  for (addrinfo *each = found; each && connected < 0; each = each->ai_next) {
    int fd = ::socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, each->ai_protocol);
    if (fd < 0)
      continue;
    int failure = ::connect(fd, each->ai_addr, each->ai_addrlen) ? errno : 0;
    if (failure == EINPROGRESS) {
      pollfd polled{fd, POLLOUT, 0};
      auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      socklen_t size = sizeof failure;
      failure = ETIMEDOUT;
      if (::poll(&polled, 1, int(std::clamp<int64_t>(left, 0, 1'000'000))) > 0)
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size);
    }
    if (failure) {
      error = address + ": " + std::strerror(failure);
      ::close(fd);
      continue;
    }
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    connected = fd;
  }
  ::freeaddrinfo(found);
  return connected;
}

Reply call(const std::string &address, const std::string &path, const std::string &request, double timeoutSeconds) {
  const Clock::time_point deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeoutSeconds));
  const std::string body = message(request);
  if (body.size() > kFrameBytes)
    return {Outcome::InvalidArgument, "a request of " + std::to_string(request.size()) + " bytes is too long", ""};
  std::string error, host, port;
  if (!splitAddress(address, host, port))
    return {Outcome::InvalidArgument, "expects an address host:port, but got '" + address + "'", ""};
  int fd = connectTo(address, std::move(host), port, deadline, error);
  if (fd < 0)
    return {Outcome::Unavailable, error, ""};
  Connected socket(fd);
  std::string headers;
  encodeHeader(headers, ":method", "POST");
  encodeHeader(headers, ":scheme", "http");
  encodeHeader(headers, ":path", path);
  encodeHeader(headers, ":authority", address);
  encodeHeader(headers, "content-type", "application/grpc");
  encodeHeader(headers, "te", "trailers");
  // The reply may be long: it need not wait for us.
  const std::string settings = std::string("\0\4", 2) + bigEndian(uint32_t(kMostWindow));
  if (!socket.write(std::string(kPreface) + frame(Settings, 0, 0, settings) + frame(WindowUpdate, 0, 0, bigEndian(uint32_t(kMostWindow - kWindow))) +
                    frame(HeadersFrame, EndHeaders, 1, headers) + frame(Data, EndStream, 1, body)))
    return {Outcome::Unavailable, address + ": the connection was closed", ""};
  HpackDecoder decoder;
  FrameHead head;
  std::string payload, block, data;
  Headers received;
  uint64_t taken = 0; ///< of both windows
  bool isEnd = false, isOpen = false;
  while (!isEnd || isOpen) {
    if (!readFrame(socket, head, payload, &deadline)) {
      if (Clock::now() >= deadline)
        return {Outcome::DeadlineExceeded, address + ": no reply within " + std::to_string(int64_t(timeoutSeconds)) + " s", ""};
      return {Outcome::Unavailable, address + ": the connection was closed", ""};
    }
    switch (head.type) {
    case HeadersFrame:
    case Continuation:
      if (!strip(head, payload))
        return {Outcome::Internal, address + ": a damaged frame", ""};
      block += payload;
      isEnd = isEnd || (head.type == HeadersFrame && (head.flags & EndStream));
      isOpen = !(head.flags & EndHeaders);
      if (!isOpen && !decoder.decode(block, received))
        return {Outcome::Internal, address + ": damaged headers", ""};
      if (!isOpen)
        block.clear();
      break;
    case Data:
      if (!strip(head, payload))
        return {Outcome::Internal, address + ": a damaged frame", ""};
      data += payload;
      isEnd = isEnd || (head.flags & EndStream);
      taken += head.size;
      if (taken > uint64_t(1) << 30) {
        if (!socket.write(frame(WindowUpdate, 0, 0, bigEndian(uint32_t(taken))) + frame(WindowUpdate, 0, 1, bigEndian(uint32_t(taken)))))
          return {Outcome::Unavailable, address + ": the connection was closed", ""};
        taken = 0;
      }
      break;
    case Settings:
      if (!(head.flags & Ack))
        socket.write(frame(Settings, Ack, 0, ""));
      break;
    case Ping:
      if (!(head.flags & Ack))
        socket.write(frame(Ping, Ack, 0, payload));
      break;
    case Reset:
      return {Outcome::Unavailable, address + ": the call was given up there", ""};
    case GoAway:
      if (payload.size() >= 4 && (readBigEndian(payload) & 0x7FFFFFFF) < 1)
        return {Outcome::Unavailable, address + ": the connection was given up there", ""};
      break;
    default: break;
    }
  }
  Reply reply;
  const std::string *outcome = find(received, "grpc-status"), *text = find(received, "grpc-message");
  if (!outcome)
    return {Outcome::Unknown, address + " is no server of gRPC", ""};
  reply.outcome = Outcome(std::atoi(outcome->c_str()));
  reply.message = text ? percentDecoded(*text) : "";
  if (reply.outcome == Outcome::Ok && !readMessage(data, reply.bytes))
    return {Outcome::Internal, address + ": the reply is compressed, or not whole", ""};
  return reply;
}

} // namespace millrace::runtime::profile::rpc
