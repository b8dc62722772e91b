// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProfilerServiceTest.cpp - Calls over HTTP/2, and recordings by them --===//
#include "runtime/base/File.h"
#include "runtime/base/Proto.h"
#include "runtime/profile/Recorder.h"
#include "runtime/profile/XSpace.h"
#include "runtime/profile/rpc/Hpack.h"
#include "runtime/profile/rpc/ProfilerService.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <netinet/in.h>
#include <random>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace millrace::runtime;
using namespace millrace::runtime::profile;
using namespace millrace::runtime::profile::rpc;
using namespace std::chrono_literals;

namespace {

std::string hex(std::string_view digits) {
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2)
    bytes += char(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  return bytes;
}

// The examples of RFC 7541, C.4: three requests of one connection, with Huffman's code.
TEST(Hpack, ReadsTheExamplesOfItsStandard) {
  HpackDecoder decoder;
  Headers headers;
  ASSERT_TRUE(decoder.decode(hex("828684418cf1e3c2e5f23a6ba0ab90f4ff"), headers));
  EXPECT_EQ(headers, (Headers{{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {":authority", "www.example.com"}}));
  headers.clear();
  ASSERT_TRUE(decoder.decode(hex("828684be5886a8eb10649cbf"), headers));
  EXPECT_EQ(headers, (Headers{{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {":authority", "www.example.com"},
                              {"cache-control", "no-cache"}}));
  headers.clear();
  ASSERT_TRUE(decoder.decode(hex("828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf"), headers));
  EXPECT_EQ(headers, (Headers{{":method", "GET"}, {":scheme", "https"}, {":path", "/index.html"}, {":authority", "www.example.com"},
                              {"custom-key", "custom-value"}}));
}

TEST(Hpack, WritesWhatItReadsAndRefusesDamage) {
  std::string block, longText(70000, 'x');
  encodeHeader(block, ":path", "/tensorflow.ProfilerService/Profile");
  encodeHeader(block, "long", longText);
  Headers headers;
  ASSERT_TRUE(HpackDecoder().decode(block, headers));
  EXPECT_EQ(headers, (Headers{{":path", "/tensorflow.ProfilerService/Profile"}, {"long", longText}}));
  for (const char *damaged : {"80", "ff", "ffffffffffff7f", "c0", "4085", "0085ffffffffff", "3fe21f"})
    EXPECT_FALSE(HpackDecoder().decode(hex(damaged), headers)) << damaged;
}

TEST(Grpc, CallsHaveRepliesAndErrors) {
  auto server = Server::start(0, [](const Request &request) -> Reply {
    if (request.path == "/s/Echo")
      return {Outcome::Ok, "", request.bytes};
    if (request.path == "/s/Large")
      return {Outcome::Ok, "", std::string(3'000'000, 'y')}; // far beyond the first window
    if (request.path == "/s/Wait")
      while (!request.isCancelled->load())
        std::this_thread::sleep_for(1ms);
    return {Outcome::Internal, "100 % wrong: \xC3\xBC\n", ""};
  });
  ASSERT_TRUE(server.ok()) << server.status().toString();
  const std::string address = "localhost:" + std::to_string((*server)->port());
  Reply reply = call(address, "/s/Echo", "hello", 20);
  EXPECT_EQ(reply.outcome, Outcome::Ok) << reply.message;
  EXPECT_EQ(reply.bytes, "hello");
  EXPECT_EQ(call(address, "/s/Echo", "", 20).bytes, "");
  EXPECT_EQ(call(address, "/s/Large", "", 20).bytes.size(), 3'000'000u);
  reply = call(address, "/s/Fail", "", 20);
  EXPECT_EQ(reply.outcome, Outcome::Internal);
  EXPECT_EQ(reply.message, "100 % wrong: \xC3\xBC\n");
  reply = call(address, "/s/Wait", "", 0.2); // the client goes, and the server's thread hears of it
  EXPECT_EQ(reply.outcome, Outcome::DeadlineExceeded) << reply.message;
  std::thread waits([&] { EXPECT_EQ(call(address, "/s/Wait", "", 20).outcome, Outcome::Unavailable); });
  std::this_thread::sleep_for(50ms);
  auto again = Server::start((*server)->port(), [](const Request &) { return Reply(); });
  EXPECT_FALSE(again.ok());
  EXPECT_NE(again.status().toString().find("cannot listen at port"), std::string::npos) << again.status().toString();
  *server = nullptr; // while a call goes on
  waits.join();
  EXPECT_EQ(call(address, "/s/Echo", "", 5).outcome, Outcome::Unavailable);
  for (const char *address : {"nowhere", "", ":9012", "localhost:", "localhost:http", "localhost:70000", "localhost:0"})
    EXPECT_EQ(call(address, "/s/Echo", "", 5).outcome, Outcome::InvalidArgument) << address;
}

// As a DataLoader's worker, which lives on when its parent serves no more.
#if !defined(__SANITIZE_THREAD__) && !(defined(__has_feature) && __has_feature(thread_sanitizer))
TEST(Grpc, AForkedChildHoldsNoPort) {
  auto echo = [](const Request &request) -> Reply { return {Outcome::Ok, "", request.bytes}; };
  auto server = Server::start(0, echo);
  ASSERT_TRUE(server.ok()) << server.status().toString();
  const uint16_t port = (*server)->port();
  int lives[2], runs[2];
  ASSERT_EQ(::pipe(lives), 0);
  ASSERT_EQ(::pipe(runs), 0);
  pid_t child = ::fork();
  if (child == 0) {
    ::close(lives[1]);
    ::close(runs[1]); // fork() has returned, so the child has closed the server's sockets
    char none;
    bool isFine = ::read(lives[0], &none, 1) == 0; // until the parent has looked
    *server = nullptr;                            // does not wait for a thread of the parent
    auto own = Server::start(0, echo);
    isFine = isFine && own.ok() && call("localhost:" + std::to_string((*own)->port()), "/s/Echo", "own", 20).bytes == "own";
    _exit(isFine ? 0 : 1);
  }
  ::close(lives[0]);
  ::close(runs[1]);
  char none;
  ASSERT_EQ(::read(runs[0], &none, 1), 0); // until the child runs: the parent may come first
  ::close(runs[0]);
  EXPECT_EQ(call("localhost:" + std::to_string(port), "/s/Echo", "hello", 20).bytes, "hello"); // the parent goes on
  *server = nullptr;
  auto again = Server::start(port, echo);
  EXPECT_TRUE(again.ok()) << again.status().toString();
  ::close(lives[1]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
#endif

/// A connection that sends `bytes` and reads until the server closes it, or stops answering for a while.
void sendTo(uint16_t port, const std::string &bytes) {
  int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(fd, 0);
  timeval patience{0, 20'000};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  ASSERT_EQ(::connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
  [[maybe_unused]] ssize_t put = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  char answer[4096];
  while (::recv(fd, answer, sizeof answer, 0) > 0) {
  }
  ::close(fd);
}

TEST(Grpc, DamagedConnectionsHarmNobody) {
  auto server = Server::start(0, [](const Request &request) -> Reply { return {Outcome::Ok, "", request.bytes}; });
  ASSERT_TRUE(server.ok()) << server.status().toString();
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  sendTo((*server)->port(), "");
  sendTo((*server)->port(), "GET / HTTP/1.1\r\n\r\n");
  std::mt19937 random(7);
  for (int turn = 0; turn < 100; ++turn) {
    std::string bytes = preface;
    for (int frames = 0; frames < 6; ++frames) {
      const size_t size = random() % 40;
      std::string payload;
      for (size_t i = 0; i < size; ++i)
        payload += char(random());
      const uint8_t type = random() % 11, flags = uint8_t(random()), stream = uint8_t(random() % 4);
      bytes += {0, 0, char(size), char(type), char(flags), 0, 0, 0, char(stream)};
      bytes += payload;
    }
    sendTo((*server)->port(), bytes);
  }
  EXPECT_EQ(call("localhost:" + std::to_string((*server)->port()), "/s/Echo", "still there", 20).bytes, "still there");
}

TEST(Hpack, AShortBlockIsNoLongList) {
  std::string block = hex("4001617f") + std::string("\xBD\x1D", 2) + std::string(3900, 'b'); // remembered: "a" with 3900 bytes
  Headers headers;
  HpackDecoder decoder;
  ASSERT_TRUE(decoder.decode(block + std::string(20, '\xBE'), headers));
  EXPECT_EQ(headers.size(), 21u);
  headers.clear();
  EXPECT_FALSE(decoder.decode(std::string(16000, '\xBE'), headers)); // 62 MB
  EXPECT_LT(headers.size(), 100u);
}

std::string frameOf(uint8_t type, uint8_t flags, uint32_t stream, const std::string &payload) {
  std::string bytes = {0, char(payload.size() >> 8), char(payload.size()), char(type), char(flags), 0, 0, char(stream >> 8), char(stream)};
  return bytes + payload;
}
std::string request(const char *path, uint32_t stream) {
  std::string headers;
  encodeHeader(headers, ":path", path);
  return frameOf(1, 4, stream, headers) + frameOf(0, 1, stream, std::string(5, '\0'));
}

/// A connection whose frames are chosen freely.
struct RawClient {
  int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  explicit RawClient(uint16_t port) {
    timeval patience{10, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
    send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frameOf(4, 0, 0, ""));
  }
  ~RawClient() { ::close(fd); }
  void send(const std::string &bytes) const { EXPECT_EQ(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), ssize_t(bytes.size())); }
  bool read(char *to, size_t size) const {
    for (ssize_t got; size; to += got, size -= size_t(got))
      if ((got = ::recv(fd, to, size, 0)) <= 0) {
        EXPECT_FALSE(got < 0 && errno == EAGAIN) << "the server neither answers nor closes the connection";
        return false;
      }
    return true;
  }
  /// The type of the next frame, or -1: the server has closed the connection.
  int next(uint8_t &flags) const {
    char head[9];
    if (!read(head, sizeof head))
      return -1;
    std::string payload(size_t(uint8_t(head[1])) << 8 | uint8_t(head[2]), ' ');
    flags = uint8_t(head[4]);
    return read(payload.data(), payload.size()) ? head[3] : -1;
  }
  /// How many frames of `type` come before `last` has, or the end.
  int count(int type, int last, int mostOfLast = 1) const {
    uint8_t flags = 0;
    for (int found = 0, seen = 0;;) {
      const int each = next(flags);
      found += each == type;
      if (each < 0 || (each == last && ++seen == mostOfLast))
        return found;
    }
  }
};

size_t numMappings() {
  std::ifstream maps("/proc/self/maps");
  return size_t(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
}

TEST(Grpc, CallsThatHaveEndedLeaveNoThreads) {
  auto server = Server::start(0, [](const Request &) { return Reply{Outcome::Internal, "no", ""}; });
  ASSERT_TRUE(server.ok()) << server.status().toString();
  RawClient client((*server)->port());
  auto callMany = [&](uint32_t first, uint32_t last) {
    for (uint32_t stream = first; stream < last; stream += 2) {
      client.send(request("/s/Fail", stream));
      ASSERT_EQ(client.count(1, 1), 1) << stream;
    }
  };
  callMany(1, 101);
  const size_t before = numMappings();
  callMany(101, 1001);
  EXPECT_LT(numMappings(), before + 150); // a stack is two of them
}

TEST(Grpc, WhoAsksForTooMuchIsRefused) {
  std::atomic<int> running{0};
  auto server = Server::start(0, [&](const Request &request) -> Reply {
    ++running;
    while (request.path == "/s/Wait" && !request.isCancelled->load())
      std::this_thread::sleep_for(1ms);
    return {Outcome::Internal, "no", ""};
  });
  ASSERT_TRUE(server.ok()) << server.status().toString();
  const uint16_t port = (*server)->port();
  {
    RawClient client(port);
    std::string bytes;
    for (uint32_t stream = 1; stream < 81; stream += 2)
      bytes += request("/s/Wait", stream);
    client.send(bytes + frameOf(6, 0, 0, "12345678"));
    EXPECT_EQ(client.count(/*reset*/ 3, /*ping*/ 6), 40 - 16);
  }
  for (const std::string &more : {frameOf(0, 1, 1, std::string(5, '\0')), request("/s/Wait", 1)}) { // a request goes on behind its end
    RawClient client(port);
    client.send(request("/s/Wait", 1) + more);
    EXPECT_EQ(client.count(1, -1), 0);
  }
  { // a request of some MB, which never ends
    RawClient client(port);
    std::string headers;
    encodeHeader(headers, ":path", "/s/Fail");
    std::string bytes = frameOf(1, 4, 1, headers);
    for (int i = 0; i < 100; ++i)
      bytes += frameOf(0, 0, 1, std::string(16384, 'x'));
    [[maybe_unused]] ssize_t put = ::send(client.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    EXPECT_EQ(client.count(1, -1), 0);
  }
  std::deque<RawClient> idle;
  for (int i = 0; i < 100; ++i)
    idle.emplace_back(port);
  EXPECT_EQ(call("localhost:" + std::to_string(port), "/s/Fail", "", 20).outcome, Outcome::Internal);
  EXPECT_EQ(idle.front().count(1, -1), 0); // it has given way
  EXPECT_LE(running, 1 + 16 + 2);
}

TEST(ProfilerService, WritesARecordingWhereTheRequestSays) {
  auto server = serveProfiles(0);
  ASSERT_TRUE(server.ok()) << server.status().toString();
  const std::string address = "localhost:" + std::to_string((*server)->port());
  const std::string root = std::filesystem::temp_directory_path() / ("profiler-service-" + std::to_string(getpid()));
  CaptureRequest request;
  request.repositoryRoot = root;
  request.session = "one";
  request.durationMs = 50;
  Capture empty = capture(address, request);
  EXPECT_EQ(empty.outcome, Outcome::Ok) << empty.message;
  EXPECT_TRUE(empty.isEmpty);
  EXPECT_FALSE(std::filesystem::exists(root));

  std::atomic<bool> isOver{false};
  std::thread works([&] {
    while (!isOver) {
      Scope scope(Kind::Region, "work");
      std::this_thread::sleep_for(1ms);
    }
  });
  Capture whole = capture(address, request);
  EXPECT_EQ(whole.outcome, Outcome::Ok) << whole.message;
  EXPECT_FALSE(whole.isEmpty);
  std::string host = address;
  host[host.find(':')] = '_';
  auto content = readWholeFile(root + "/one/" + host + ".xplane.pb");
  ASSERT_TRUE(content.ok()) << content.status().toString();
  auto space = decodeXSpace(content->bytes);
  ASSERT_TRUE(space.ok()) << space.status().toString();
  EXPECT_GT(space->numEvents(), 5u);
  // The levels of the request count: at 0 there is nothing of the host, in which alone something happens here.
  request.session = "silent";
  request.hostTracerLevel = 0;
  Capture silent = capture(address, request);
  EXPECT_EQ(silent.outcome, Outcome::Ok) << silent.message;
  EXPECT_TRUE(silent.isEmpty);
  EXPECT_FALSE(std::filesystem::exists(root + "/silent"));
  request.hostTracerLevel = 2;

  // One at a time; and the first one ends when it is told to.
  request.durationMs = 20'000;
  request.session = "long";
  auto begin = std::chrono::steady_clock::now();
  std::thread first([&] { EXPECT_EQ(capture(address, request).outcome, Outcome::Ok); });
  std::this_thread::sleep_for(100ms);
  CaptureRequest second = request;
  second.session = "second";
  EXPECT_EQ(capture(address, second).outcome, Outcome::Internal);
  std::string terminate;
  proto::putText(terminate, 1, "long");
  EXPECT_EQ(call(address, "/tensorflow.ProfilerService/Terminate", terminate, 20).outcome, Outcome::Ok);
  first.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_TRUE(std::filesystem::exists(root + "/long"));

  request.session = "../outside";
  EXPECT_EQ(capture(address, request).outcome, Outcome::InvalidArgument);
  EXPECT_EQ(call(address, "/tensorflow.ProfilerService/Monitor", "", 20).outcome, Outcome::Unimplemented);
  EXPECT_EQ(call(address, "/tensorflow.ProfilerService/Profile", "\x0a\xff", 20).outcome, Outcome::InvalidArgument);
  isOver = true;
  works.join();
  std::filesystem::remove_all(root);
}

} // namespace
