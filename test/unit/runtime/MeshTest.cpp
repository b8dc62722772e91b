// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MeshTest.cpp - Processes that send each other messages, and die -----===//
#include "runtime/base/Hash.h"
#include "runtime/transport/Mesh.h"
#include "runtime/transport/Wire.h"

#include <arpa/inet.h>
#include <array>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <numeric>
#include <random>
#include <set>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <tuple>
#include <unistd.h>

using namespace millrace::runtime;
using namespace millrace::runtime::transport;

namespace {

double secondsSince(Deadline begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// What one process has received, and whom it has lost.
struct Inbox {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::pair<uint32_t, Message>> messages;
  std::map<uint32_t, Status> lost;

  void attach(Mesh &mesh) {
    mesh.start(
        [this](uint32_t from, Message message) {
          std::lock_guard lock(mutex);
          messages.emplace_back(from, std::move(message));
          changed.notify_all();
        },
        [this](uint32_t rank, const Status &status) {
          std::lock_guard lock(mutex);
          lost.emplace(rank, status);
          changed.notify_all();
        });
  }
  bool await(const std::function<bool()> &isThere, double seconds = 20) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::duration<double>(seconds), isThere);
  }
};

/// The meshes of one job whose processes are threads of this one.
std::vector<std::unique_ptr<Mesh>> connectAll(uint32_t size, const MeshOptions &like = {}) {
  MemoryStore store;
  std::vector<std::unique_ptr<Mesh>> meshes(size);
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      MeshOptions options = like;
      options.rank = rank, options.size = size;
      auto mesh = Mesh::connect(store, options, "note " + std::to_string(rank));
      EXPECT_TRUE(mesh.ok()) << mesh.status().toString();
      if (mesh)
        meshes[rank] = std::move(*mesh);
    });
  for (std::thread &thread : threads)
    thread.join();
  return meshes;
}

enum class Way { Memory, Unix, Tcp, OneConnection };
class MeshMessages : public testing::TestWithParam<Way> {};

TEST_P(MeshMessages, ArriveInOrderAndWhole) {
  MeshOptions options;
  options.usesUnixSockets = GetParam() == Way::Memory || GetParam() == Way::Unix, options.usesSharedMemory = GetParam() == Way::Memory;
  if (GetParam() == Way::OneConnection)
    options.lanes = 0;
  constexpr uint32_t size = 4;
  std::vector<Inbox> inboxes(size);
  auto meshes = connectAll(size, options);
  for (uint32_t rank = 0; rank < size; ++rank)
    inboxes[rank].attach(*meshes[rank]);
  EXPECT_EQ(meshes[2]->noteOf(3), "note 3");
  EXPECT_EQ(meshes[2]->hostOf(3), meshes[2]->hostOf(2));
  const std::vector<size_t> sizes = {0, 1, 100, 70'000, 9'000'001, 3, 1 << 20, 2'000'000, 5};
  const std::vector<size_t> heads = {0, 1, 2, 3, 4 << 20, 5, 0, 5'000'000, 8}; // some take a turn of the reader, or more
  std::vector<std::thread> threads;
  for (uint32_t from = 0; from < size; ++from)
    threads.emplace_back([&, from] {
      for (uint32_t number = 0; number < sizes.size(); ++number)
        for (uint32_t to = 0; to < size; ++to) {
          if (to == from)
            continue;
          std::vector<uint8_t> bytes(sizes[number]);
          std::iota(bytes.begin(), bytes.end(), uint8_t(from * 16 + number));
          size_t half = bytes.size() / 2;
          Status status = meshes[from]->send(to, number, std::string(heads[number], 'h'),
                                             {{bytes.data(), half}, {bytes.data() + half, bytes.size() - half}});
          EXPECT_TRUE(status.ok()) << status.toString();
        }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (uint32_t rank = 0; rank < size; ++rank) {
    Inbox &inbox = inboxes[rank];
    ASSERT_TRUE(inbox.await([&] { return inbox.messages.size() == (size - 1) * sizes.size(); }));
    std::map<uint32_t, uint32_t> next;
    for (auto &[from, message] : inbox.messages) {
      uint32_t number = next[from]++;
      ASSERT_EQ(message.kind, number);
      EXPECT_TRUE(message.head == std::string(heads[number], 'h'));
      ASSERT_EQ(message.payloadBytes, sizes[number]);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(message.payload.get()) % 64, 0u);
      for (size_t i = 0; i < sizes[number]; ++i)
        ASSERT_EQ(uint8_t(message.payload.get()[i]), uint8_t(from * 16 + number + i));
    }
    EXPECT_TRUE(inbox.lost.empty());
  }
}

std::string nameOf(const testing::TestParamInfo<Way> &info) {
  return std::vector<std::string>{"Memory", "UnixSockets", "Tcp", "OneTcpConnection"}[size_t(info.param)];
}
INSTANTIATE_TEST_SUITE_P(Mesh, MeshMessages, testing::Values(Way::Memory, Way::Unix, Way::Tcp, Way::OneConnection), nameOf);

TEST(Mesh, WhoLeavesInOrderIsNotMissed) {
  std::vector<Inbox> inboxes(2);
  auto meshes = connectAll(2);
  inboxes[0].attach(*meshes[0]);
  inboxes[1].attach(*meshes[1]);
  ASSERT_TRUE(meshes[1]->send(0, 7, "last words").ok());
  meshes[1].reset();
  ASSERT_TRUE(inboxes[0].await([&] { return !inboxes[0].lost.empty(); }));
  ASSERT_EQ(inboxes[0].messages.size(), 1u) << "what was sent before the goodbye comes before it";
  EXPECT_EQ(inboxes[0].lost[1].code(), Code::FailedPrecondition);
  EXPECT_EQ(inboxes[0].lost[1].message(), meshes[0]->describe(1) + " has left");
  EXPECT_EQ(meshes[0]->send(1, 7, "too late").message(), meshes[0]->describe(1) + " has left");
}

TEST(Mesh, WhoDoesNotComeIsNamed) {
  MemoryStore store;
  MeshOptions options;
  options.rank = 0, options.size = 3, options.connectSeconds = 0.3;
  EXPECT_EQ(Mesh::connect(store, options).status().message(), "processes 1, 2 of 3 have not come within 0 s");
  options.rank = 2;
  options.size = 4;
  MemoryStore empty;
  EXPECT_EQ(Mesh::connect(empty, options).status().message(),
            "process 0 of 4 has not come within 0 s: nobody has put key 'millrace/process/0'");
}

TEST(Mesh, WhoHasEndedIsNotWaitedFor) {
  for (uint32_t gone : {0u, 2u}) {
    MemoryStore store;
    ASSERT_TRUE(store.put(keyOf(gone), leftMark).ok());
    auto begin = Clock::now();
    MeshOptions options;
    options.rank = 1, options.size = 3;
    std::thread other([&] {
      MeshOptions third = options;
      third.rank = 2 - gone;
      (void)Mesh::connect(store, third).status().ok();
    });
    EXPECT_EQ(Mesh::connect(store, options).status().message(), "process " + std::to_string(gone) + " of 3 has ended without joining the others");
    EXPECT_LT(secondsSince(begin), 5);
    other.join();
  }
}

TEST(Mesh, InterfacesAreNamed) {
  MemoryStore store;
  MeshOptions options;
  options.interface = "nosuch0";
  EXPECT_NE(Mesh::connect(store, options).status().message().find("MILLRACE_INTERFACE: there is no network interface 'nosuch0' with an address; "
                                                                  "there are lo (127.0.0.1)"),
            std::string_view::npos);
  options.interface = "lo";
  MemoryStore other;
  EXPECT_TRUE(Mesh::connect(other, options).ok());
}

/// Files of a folder, for processes that are really some.
class FileStore final : public Store {
public:
  explicit FileStore(std::string folder) : folder(std::move(folder)) {}
  Status put(const std::string &key, std::string_view value) override {
    std::string path = pathOf(key), half = path + ".half";
    std::ofstream(half) << value;
    std::filesystem::rename(half, path);
    return Status();
  }
  StatusOr<std::string> get(const std::string &key, double seconds) override {
    for (Deadline until = after(seconds); Clock::now() < until; ::usleep(1000))
      if (std::ifstream file(pathOf(key)); file)
        return std::string(std::istreambuf_iterator<char>(file), {});
    return deadlineExceeded("nobody has put key '" + key + "'");
  }

private:
  std::string pathOf(std::string key) const {
    std::replace(key.begin(), key.end(), '/', '_');
    return folder + "/" + key;
  }
  const std::string folder;
};

/// A job of this process, rank 0, and children that join it and then do `last`.
struct Family {
  std::string folder = std::filesystem::temp_directory_path() / ("millrace-mesh-" + std::to_string(::getpid()));
  std::vector<pid_t> children;
  Inbox inbox; ///< outlives the mesh, whose thread writes to it
  std::unique_ptr<Mesh> mesh;

  Family(uint32_t size, const std::function<void(uint32_t rank, Mesh &)> &last, MeshOptions options = {}) {
    std::filesystem::create_directories(folder);
    options.size = size;
    for (uint32_t rank = 1; rank < size; ++rank) {
      pid_t child = ::fork();
      if (child == 0) {
        FileStore store(folder);
        options.rank = rank;
        auto joined = Mesh::connect(store, options);
        Inbox own;
        if (!joined)
          ::_exit(3);
        own.attach(**joined);
        if (!(*joined)->send(0, 0, "connected with all").ok())
          ::_exit(4);
        last(rank, **joined);
        joined->reset();
        ::_exit(0);
      }
      children.push_back(child);
    }
    FileStore store(folder);
    auto joined = Mesh::connect(store, options);
    EXPECT_TRUE(joined.ok()) << joined.status().toString();
    mesh = std::move(*joined);
    inbox.attach(*mesh);
    EXPECT_TRUE(inbox.await([&] { return inbox.messages.size() == size - 1; }));
  }
  ~Family() {
    for (pid_t child : children) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
    std::filesystem::remove_all(folder);
  }
  std::string lossOf(uint32_t rank) {
    if (!inbox.await([&] { return inbox.lost.count(rank) != 0; }, 10))
      return "nothing";
    std::lock_guard lock(inbox.mutex);
    return std::string(inbox.lost[rank].message());
  }
};

void waitForever(uint32_t, Mesh &) {
  while (true)
    ::pause();
}

class MeshDeaths : public testing::TestWithParam<bool> {
protected:
  MeshOptions options() const {
    MeshOptions made;
    made.usesUnixSockets = GetParam();
    return made;
  }
};

TEST_P(MeshDeaths, AKilledProcessIsNamedAtOnce) {
  Family family(3, waitForever, options());
  auto begin = Clock::now();
  ::kill(family.children[0], SIGKILL);
  std::string text = family.lossOf(1);
  EXPECT_EQ(text.find(family.mesh->describe(1)), 0u) << text;
  EXPECT_NE(text.find("without a word: it was killed, crashed or left by exit"), std::string::npos) << text;
  EXPECT_LT(secondsSince(begin), 1);
  EXPECT_TRUE(family.mesh->statusOf(2).ok());
}

TEST_P(MeshDeaths, AStoppedProcessIsNamed) {
  Family family(3, waitForever, options());
  auto begin = Clock::now();
  ::kill(family.children[1], SIGSTOP);
  std::string text = family.lossOf(2);
  EXPECT_EQ(text.find(family.mesh->describe(2)), 0u) << text;
  EXPECT_NE(text.find(GetParam() ? "is stopped (SIGSTOP or a debugger" : "cannot be reached: it has been silent for 4"), std::string::npos) << text;
  EXPECT_LT(secondsSince(begin), 5);
  EXPECT_TRUE(family.mesh->statusOf(1).ok());
}

TEST_P(MeshDeaths, ASendToAStoppedProcessEnds) {
  MeshOptions inSocket = options(); // memory takes what nobody reads
  inSocket.usesSharedMemory = false;
  Family family(2, waitForever, inSocket);
  ::kill(family.children[0], SIGSTOP);
  auto begin = Clock::now();
  std::vector<char> much(100 << 20);
  Status status = family.mesh->send(1, 0, "", {{much.data(), much.size()}});
  EXPECT_EQ(status.code(), Code::Unavailable) << status.toString();
  EXPECT_LT(secondsSince(begin), 6);
}

TEST_P(MeshDeaths, WithoutWatchingAStoppedProcessIsWaitedFor) {
  MeshOptions patient = options();
  patient.watches = false, patient.stoppedSeconds = patient.unreachableSeconds = 0.5;
  Family family(2, waitForever, patient);
  ::kill(family.children[0], SIGSTOP);
  EXPECT_FALSE(family.inbox.await([&] { return !family.inbox.lost.empty(); }, 2));
  ::kill(family.children[0], SIGCONT);
  EXPECT_TRUE(family.mesh->statusOf(1).ok());
}

TEST_P(MeshDeaths, ALateProcessIsTheSameForAll) {
  // The last child reports, by its exit status, whether it got to know the same cause as we.
  Family family(3, [](uint32_t rank, Mesh &mesh) {
    while (rank == 1 || mesh.statusOf(1).ok())
      ::usleep(1000);
    ::_exit(std::string(mesh.statusOf(1).message()).find("without a word") != std::string::npos ? 42 : 1);
  }, options());
  ::kill(family.children[0], SIGKILL);
  int status = 0;
  ::waitpid(family.children[1], &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 42);
  family.children.pop_back();
}

INSTANTIATE_TEST_SUITE_P(Mesh, MeshDeaths, testing::Values(true, false),
                         [](const auto &info) { return info.param ? "UnixSockets" : "Tcp"; });

/// Reads the port that a process listens at off the store, as an attacker would have to guess.
uint16_t portFrom(const std::string &hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += char(std::stoi(hex.substr(i, 2), nullptr, 16));
  Reader reader(bytes);
  reader.number<uint32_t>();
  for (int i = 0; i < 6; ++i)
    reader.text();
  reader.number<uint32_t>();
  return reader.number<uint16_t>();
}

TEST(Mesh, StrangersAreSentAway) {
  MemoryStore store;
  MeshOptions options;
  options.size = 2, options.usesUnixSockets = false;
  StatusOr<std::unique_ptr<Mesh>> first = internalError("not yet"), second = internalError("not yet");
  std::thread listener([&] { first = Mesh::connect(store, options); });
  uint16_t port = portFrom(*store.get("millrace/process/0", 10));
  std::mt19937 random(1);
  std::vector<Socket> silent;
  for (int i = 0; i < 300; ++i) {
    auto socket = Socket::connectTcp("127.0.0.1", port, after(5));
    ASSERT_TRUE(socket.ok()) << socket.status().toString();
    std::string garbage(random() % 200, '\0');
    for (char &c : garbage)
      c = char(random());
    if (i % 3 == 0) // the right beginning, with another secret
      for (size_t k = 0; k < 4 && k < garbage.size(); ++k)
        garbage[k] = "1HRM"[k];
    (void)socket->write(garbage.data(), garbage.size(), after(1)).ok();
    if (i % 10 == 0)
      silent.push_back(std::move(*socket)); // stays connected and says nothing more
  }
  MeshOptions other = options;
  other.rank = 1;
  second = Mesh::connect(store, other);
  listener.join();
  ASSERT_TRUE(first.ok()) << first.status().toString();
  ASSERT_TRUE(second.ok()) << second.status().toString();
  // Nobody listens any more.
  EXPECT_FALSE(Socket::connectTcp("127.0.0.1", port, after(1)).ok());
}

/// What processes 0 and 1 say when they connect with these secrets of the job, and how long it took.
std::pair<std::array<std::string, 2>, double> connectWith(const std::array<std::string, 2> &secrets) {
  MemoryStore store;
  std::array<std::string, 2> said;
  const Deadline begin = Clock::now();
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      MeshOptions options;
      options.rank = rank, options.size = 2, options.secret = secrets[rank];
      said[rank] = Mesh::connect(store, options).status().message();
    });
  for (std::thread &thread : threads)
    thread.join();
  return {said, secondsSince(begin)};
}

TEST(Mesh, ProcessesNeedTheSameSecret) {
  const std::string one(16, 'a'), other(16, 'b'), no, same;
  for (const auto &[secrets, first, second] : {std::tuple(std::array{one, one}, same, same),
                                               std::tuple(std::array{one, other}, std::string("has another MILLRACE_SECRET than this process"),
                                                          std::string("has another MILLRACE_SECRET than this process")),
                                               std::tuple(std::array{one, no}, std::string("has no MILLRACE_SECRET, but this process has one"),
                                                          std::string("has a MILLRACE_SECRET, but this process has none"))}) {
    const auto [said, seconds] = connectWith(secrets);
    EXPECT_EQ(said[0].empty(), first.empty()) << said[0];
    EXPECT_NE(said[0].find(first), std::string::npos) << said[0];
    EXPECT_EQ(said[1].empty(), second.empty()) << said[1];
    EXPECT_NE(said[1].find(second), std::string::npos) << said[1];
    EXPECT_LT(seconds, 5);
  }
}

TEST(Mesh, WhoReadsTheStoreNeedsTheSecretOfTheJob) {
  MemoryStore store;
  MeshOptions options;
  options.size = 2, options.usesUnixSockets = false, options.secret = "sixteen letters!";
  StatusOr<std::unique_ptr<Mesh>> first = internalError("not yet"), second = internalError("not yet");
  std::thread listener([&] { first = Mesh::connect(store, options); });
  const std::string card = *store.get("millrace/process/0", 10), mark = *store.get("millrace/secret/0", 10);
  EXPECT_EQ((card + mark).find(toHex(options.secret)), std::string::npos);
  // Another process that puts itself in the place of process 1, or of process 0 for process 1, is told from them.
  MemoryStore forged;
  EXPECT_TRUE(forged.put("millrace/process/1", card).ok()); // with the signature of process 0
  MeshOptions other = options;
  auto refused = Mesh::connect(forged, other);
  EXPECT_NE(refused.status().message().find("has another MILLRACE_SECRET"), std::string::npos) << refused.status().toString();
  other.rank = 1;
  second = Mesh::connect(store, other);
  listener.join();
  EXPECT_TRUE(first.ok()) << first.status().toString();
  EXPECT_TRUE(second.ok()) << second.status().toString();
}

/// The beginning of a connection, as Connector.cpp lays it out.
struct Hello {
  uint32_t magic, version, from, channel, lanes;
  char secretOfListener[32], secretOfCaller[32];
};

/// A mesh of two whose other process is this test: it has shown the secrets, and may send anything.
struct ByHand {
  Inbox inbox; ///< outlives the mesh, whose thread writes to it
  std::unique_ptr<Mesh> mesh;
  std::vector<Socket> sockets; ///< for messages, for signs of life

  explicit ByHand(bool usesUnixSockets, uint32_t lanes = 0) {
    MemoryStore store;
    MeshOptions options;
    options.size = 2, options.usesUnixSockets = usesUnixSockets;
    StatusOr<std::unique_ptr<Mesh>> made = internalError("not yet");
    std::thread listener([&] { made = Mesh::connect(store, options); });
    std::string card = *store.get("millrace/process/0", 10);
    EXPECT_TRUE(store.put("millrace/process/1", card).ok()); // with the same secret
    std::string bytes;
    for (size_t i = 0; i + 1 < card.size(); i += 2)
      bytes += char(std::stoi(card.substr(i, 2), nullptr, 16));
    Reader reader(bytes);
    const uint32_t version = reader.number<uint32_t>();
    std::string texts[6]; // of which the third is the name of the UNIX socket and the fifth the secret
    for (std::string &text : texts)
      text = reader.text();
    for (uint32_t channel = 0; channel < 2 + lanes; ++channel) {
      auto socket = usesUnixSockets ? Socket::connectUnix(texts[2]) : Socket::connectTcp("127.0.0.1", portFrom(card), after(5));
      EXPECT_TRUE(socket.ok());
      Hello hello{0x4d524831, version, 1, channel, lanes, {}, {}};
      const std::string proof = hmacSha256(hmacSha256("", texts[4]), "caller"); // that it knows the secrets: no secret of the job, and the same one
      std::memcpy(hello.secretOfListener, proof.data(), proof.size());
      std::memcpy(hello.secretOfCaller, proof.data(), proof.size());
      EXPECT_TRUE(socket->write(&hello, sizeof hello, after(5)).ok());
      char welcome[40];
      EXPECT_TRUE(socket->read(welcome, sizeof welcome, after(5)).ok());
      sockets.push_back(std::move(*socket));
    }
    listener.join();
    EXPECT_TRUE(made.ok()) << made.status().toString();
    mesh = std::move(*made);
    inbox.attach(*mesh);
  }
  /// What the mesh says of the process, after its name.
  std::string reasonOfLoss() {
    EXPECT_TRUE(inbox.await([&] { return !inbox.lost.empty(); }));
    EXPECT_EQ(inbox.lost[1].code(), Code::DataLoss);
    std::string text(inbox.lost[1].message()), name = mesh->describe(1) + " ";
    EXPECT_EQ(text.compare(0, name.size(), name), 0) << text;
    return text.substr(name.size());
  }
};

TEST(Mesh, BrokenPeersAreLostByName) {
  for (uint32_t channel : {0u, 1u}) {
    ByHand peer(/*usesUnixSockets=*/false);
    std::string garbage(1000, 'x');
    (void)peer.sockets[channel].write(garbage.data(), garbage.size(), after(5)).ok();
    EXPECT_EQ(peer.reasonOfLoss(), channel ? "sent a sign of life that cannot be read"
                                           : "sent a message that cannot be read: its first bytes are damaged");
  }
}

/// The beginning of a message, as MeshFrames.h lays it out.
struct DataHeader {
  uint32_t magic = 0x4d524431, kind = 7, headBytes = 0, block = 0;
  uint64_t payloadBytes = 0;
};

/// The kinds of the signs of life that have come.
std::vector<uint32_t> controlKinds(const Socket &socket) {
  struct {
    uint32_t magic, kind, bytes;
  } header;
  std::vector<uint32_t> kinds;
  while (socket.read(&header, sizeof header, after(0.05)).ok()) {
    std::string body(header.bytes, '\0');
    EXPECT_TRUE(body.empty() || socket.read(body.data(), body.size(), after(5)).ok());
    kinds.push_back(header.kind);
  }
  return kinds;
}

TEST(Mesh, TheGoodbyeComesAfterTheMessages) {
  constexpr uint32_t goodbye = 2;
  ByHand peer(/*usesUnixSockets=*/false);
  std::string payload(900'000, 'x'); // more than waits at the receiver's end, which reads nothing yet
  ASSERT_TRUE(peer.mesh->send(1, 7, "", {{payload.data(), payload.size()}}).ok());
  std::thread leaving([&] { peer.mesh->stop(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  std::vector<uint32_t> kinds = controlKinds(peer.sockets[1]);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), goodbye), 0);
  std::string whole(sizeof(DataHeader) + payload.size(), '\0');
  ASSERT_TRUE(peer.sockets[0].read(whole.data(), whole.size(), after(5)).ok());
  leaving.join();
  kinds = controlKinds(peer.sockets[1]);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), goodbye), 1);
}

TEST(Mesh, BrokenLanesAreNoticed) {
  DataHeader header;
  header.block = 0x20000000, header.payloadBytes = 2'000'000;
  {
    ByHand peer(/*usesUnixSockets=*/false);
    ASSERT_TRUE(peer.sockets[0].write(&header, sizeof header, after(5)).ok());
    EXPECT_EQ(peer.reasonOfLoss(), "sent a message that cannot be read: it comes over connections that there are not");
  }
  for (bool closesLane : {false, true}) { // or all
    ByHand peer(/*usesUnixSockets=*/false, /*lanes=*/3);
    ASSERT_TRUE(peer.sockets[0].write(&header, sizeof header, after(5)).ok());
    std::string stretch(2'000'000 / 3, 'x');
    ASSERT_TRUE(peer.sockets[3].write(stretch.data(), 1000, after(5)).ok()); // the last one comes first
    ASSERT_TRUE(peer.sockets[2].write(stretch.data(), stretch.size(), after(5)).ok());
    if (closesLane)
      peer.sockets[3] = Socket();
    else
      peer.sockets.clear();
    ASSERT_TRUE(peer.inbox.await([&] { return !peer.inbox.lost.empty(); })); // by the silence of the others, or because it has closed them
    EXPECT_EQ(peer.inbox.lost[1].code(), Code::Unavailable);
    EXPECT_TRUE(peer.inbox.messages.empty());
  }
}

/// Sends a message whose payload is in a block of memory, and with it `file` unless that is negative.
void sendBlock(const Socket &socket, uint32_t block, uint64_t bytes, int file) {
  DataHeader header;
  header.block = block, header.payloadBytes = bytes;
  iovec piece{&header, sizeof header};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &piece, message.msg_iovlen = 1;
  if (file >= 0) {
    message.msg_control = control, message.msg_controllen = sizeof control;
    cmsghdr *about = CMSG_FIRSTHDR(&message);
    about->cmsg_level = SOL_SOCKET, about->cmsg_type = SCM_RIGHTS, about->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(about), &file, sizeof file);
  }
  ASSERT_EQ(::sendmsg(socket.descriptor(), &message, 0), ssize_t(sizeof header));
}

Socket memoryFile(off_t bytes, int seals) {
  Socket file(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::ftruncate(file.descriptor(), bytes), 0);
  EXPECT_EQ(::fcntl(file.descriptor(), F_ADD_SEALS, seals), 0);
  return file;
}

TEST(Mesh, MemoryOfBrokenPeersIsRefused) {
  const uint32_t withFile = 0x80000000;
  const std::string unreadable = "sent a message that cannot be read: ";
  Socket good = memoryFile(8192, F_SEAL_SHRINK), shrinks = memoryFile(8192, 0), small = memoryFile(4096, F_SEAL_SHRINK);
  int pipes[2];
  ASSERT_EQ(::pipe(pipes), 0);
  struct Case {
    uint32_t block;
    uint64_t bytes;
    int file;
    const char *reason;
  };
  for (const Case &each : {Case{3, 100, -1, "the memory that it names is not there"}, Case{withFile | 3, 100, -1, "the memory that it names did not come with it"},
                           Case{withFile | 3, 4097, good.descriptor(), "the memory that it names is not there"},
                           Case{withFile | 3, 100, shrinks.descriptor(), "expects a file of memory that cannot be shrunk"},
                           Case{withFile | 3, 0, small.descriptor(), "expects a file of memory that cannot be shrunk"},
                           Case{withFile | 3, 100, pipes[0], "expects a file of memory that cannot be shrunk"}}) {
    ByHand peer(/*usesUnixSockets=*/true);
    sendBlock(peer.sockets[0], each.block, each.bytes, each.file);
    EXPECT_EQ(peer.reasonOfLoss(), unreadable + each.reason);
  }
  ::close(pipes[0]), ::close(pipes[1]);
  ByHand peer(/*usesUnixSockets=*/true);
  sendBlock(peer.sockets[0], withFile | 3, 4096, good.descriptor());
  sendBlock(peer.sockets[0], 3, 100, -1); // it has the file
  ASSERT_TRUE(peer.inbox.await([&] { return peer.inbox.messages.size() == 2; }));
  sendBlock(peer.sockets[0], withFile | 3, 100, good.descriptor());
  EXPECT_EQ(peer.reasonOfLoss(), unreadable + "the memory that it names did not come with it");
}

TEST(Mesh, MemoryIsUsedAgain) {
  for (bool fits : {true, false}) {
    MeshOptions options;
    options.sharedLimit = fits ? 8 << 20 : 1 << 20;
    std::vector<Inbox> inboxes(3);
    auto meshes = connectAll(3, options);
    for (uint32_t rank = 0; rank < 3; ++rank)
      inboxes[rank].attach(*meshes[rank]);
    std::set<char *> places;
    for (int round = 0; round < 50; ++round) {
      std::vector<uint8_t> bytes(3'000'000, uint8_t(round));
      SharedLease copied;
      for (uint32_t to : {1u, 2u})
        ASSERT_TRUE(meshes[0]->send(to, 1, "", {{bytes.data(), bytes.size()}}, &copied).ok());
      EXPECT_EQ(copied != nullptr, fits);
      copied.reset();
      for (uint32_t to : {1u, 2u}) {
        Inbox &inbox = inboxes[to];
        ASSERT_TRUE(inbox.await([&] { return inbox.messages.size() == 1; }));
        std::lock_guard lock(inbox.mutex);
        Message &message = inbox.messages[0].second;
        ASSERT_EQ(message.payloadBytes, bytes.size());
        EXPECT_EQ(std::memcmp(message.payload.get(), bytes.data(), bytes.size()), 0);
        if (to == 1)
          places.insert(message.payload.get());
        inbox.messages.clear();
      }
    }
    if (fits)
      EXPECT_EQ(places.size(), 1u); // nobody read it any more
  }
}

TEST(Mesh, EnvironmentIsChecked) {
  ::setenv("MILLRACE_TRANSPORT", "pigeon", 1);
  EXPECT_EQ(meshOptionsFromEnvironment().status().message(),
            "MILLRACE_TRANSPORT is 'pigeon'; expects auto (memory and sockets of the host where possible), unix (its sockets alone), tcp, mpi, gloo "
            "or the path of a carrier");
  ::setenv("MILLRACE_TRANSPORT", "tcp", 1);
  for (const char *lanes : {"17", "-1", "two", "3x"}) {
    ::setenv("MILLRACE_TCP_LANES", lanes, 1);
    EXPECT_EQ(meshOptionsFromEnvironment().status().message(), "MILLRACE_TCP_LANES is '" + std::string(lanes) + "'; expects a number from 0 to 16");
  }
  ::setenv("MILLRACE_TCP_LANES", "2", 1);
  ::setenv("MILLRACE_LIVENESS", "maybe", 1);
  EXPECT_EQ(meshOptionsFromEnvironment().status().message(), "MILLRACE_LIVENESS is 'maybe'; expects 0 or 1");
  ::setenv("MILLRACE_LIVENESS", "0", 1);
  ::setenv("GLOO_SOCKET_IFNAME", "lo", 1);
  auto options = meshOptionsFromEnvironment();
  ASSERT_TRUE(options.ok());
  EXPECT_FALSE(options->usesUnixSockets);
  EXPECT_FALSE(options->watches);
  EXPECT_EQ(options->lanes, 2u);
  EXPECT_EQ(options->interface, "lo");
  for (const char *name : {"MILLRACE_TRANSPORT", "MILLRACE_TCP_LANES", "MILLRACE_LIVENESS", "GLOO_SOCKET_IFNAME"})
    ::unsetenv(name);
}

} // namespace
