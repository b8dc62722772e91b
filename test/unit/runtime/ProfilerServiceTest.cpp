// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProfilerServiceTest.cpp - Calls over HTTP/2, and recordings by them --===//
#include "runtime/base/File.h"
#include "runtime/base/Proto.h"
#include "runtime/profile/Recorder.h"
#include "runtime/profile/XSpace.h"
#include "runtime/profile/rpc/Hpack.h"
#include "runtime/profile/rpc/ProfilerService.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <netinet/in.h>
#include <random>
#include <sys/socket.h>
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
  EXPECT_EQ(call("nowhere", "/s/Echo", "", 5).outcome, Outcome::Unavailable);
}

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
