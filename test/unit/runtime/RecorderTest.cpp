// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RecorderTest.cpp - What is recorded, kept, lost and counted ---------===//
#include "TestPrograms.h"

#include "runtime/base/Background.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/profile/Environment.h"
#include "runtime/profile/ProgramInfo.h"
#include "runtime/profile/Recorder.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace millrace::runtime;
using namespace millrace::runtime::profile;

namespace {

Record recordOf(uint64_t number) {
  static const Name *name = intern("test record");
  Record record;
  record.kind = Kind::Region;
  record.what = name;
  record.b = number;
  record.start = record.end = ticks();
  return record;
}

/// Numbers of the test's own records.
std::vector<uint64_t> numbersIn(const Recording &recording) {
  std::vector<uint64_t> numbers;
  for (const Recording::Thread &thread : recording.threads)
    for (const Record &record : thread.records)
      if (record.kind == Kind::Region && record.what == intern("test record"))
        numbers.push_back(record.b);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

TEST(Recorder, NothingIsKeptWhileItIsOff) {
  append(recordOf(1));
  EXPECT_FALSE(isOn());
  Session session;
  EXPECT_TRUE(isOn());
  append(recordOf(2));
  EXPECT_EQ(numbersIn(session.stop()), std::vector<uint64_t>{2});
  EXPECT_FALSE(isOn());
  append(recordOf(3));
  EXPECT_EQ(session.stop().numRecords(), 0u); // it has ended
  Session other;
  EXPECT_EQ(other.stop().numRecords(), 0u);
}

TEST(Recorder, ThreadsThatEndedLeaveTheirRecords) {
  constexpr uint64_t kThreads = 8, kEach = 5000; // several chunks
  Session session;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t)
    threads.emplace_back([t] {
      for (uint64_t i = 0; i < kEach; ++i)
        append(recordOf(t * kEach + i));
    });
  for (std::thread &thread : threads)
    thread.join();
  Recording recording = session.stop();
  std::vector<uint64_t> numbers = numbersIn(recording);
  ASSERT_EQ(numbers.size(), kThreads * kEach);
  for (uint64_t i = 0; i < numbers.size(); ++i)
    ASSERT_EQ(numbers[i], i);
  EXPECT_EQ(recording.lost, 0u);
  EXPECT_GE(recording.threads.size(), kThreads);
}

// A program that begins a thread per task: what one has left of its memory, the next ones use, and each keeps its own records.
TEST(Recorder, ShortThreadsShareTheMemory) {
  constexpr uint64_t kRounds = 1500, kAtOnce = 4, kEach = 10;
  Session session(uint64_t(8) << 20); // a chunk for each of the 6000 threads takes forty times as much
  for (uint64_t round = 0; round < kRounds; ++round) {
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < kAtOnce; ++t)
      threads.emplace_back([first = (round * kAtOnce + t) * kEach] {
        for (uint64_t i = 0; i < kEach; ++i)
          append(recordOf(first + i));
      });
    for (std::thread &thread : threads)
      thread.join();
  }
  Recording recording = session.stop();
  EXPECT_EQ(recording.lost, 0u);
  const std::vector<uint64_t> numbers = numbersIn(recording);
  ASSERT_EQ(numbers.size(), kRounds * kAtOnce * kEach);
  for (uint64_t i = 0; i < numbers.size(); ++i)
    ASSERT_EQ(numbers[i], i);
  uint64_t owners = 0;
  for (const Recording::Thread &thread : recording.threads) {
    std::vector<uint64_t> own;
    for (const Record &record : thread.records)
      if (record.kind == Kind::Region && record.what == intern("test record"))
        own.push_back(record.b);
    if (own.empty())
      continue;
    ++owners;
    ASSERT_EQ(own.size(), kEach);
    ASSERT_EQ(own.front() % kEach, 0u);
    ASSERT_EQ(own.back(), own.front() + kEach - 1);
  }
  EXPECT_EQ(owners, kRounds * kAtOnce);
}

// Threads take over what others left while a session of a short time reads both, and what is left in one session is not used in the next.
TEST(Recorder, SessionsComeAndGoWhileShortThreadsRecord) {
  std::atomic<bool> isOver{false};
  std::vector<std::thread> starters;
  for (int t = 0; t < 2; ++t)
    starters.emplace_back([&] {
      while (!isOver)
        std::thread([] {
          for (uint64_t i = 0; i < 20; ++i)
            append(recordOf(i));
        }).join();
    });
  for (int i = 0; i < 20; ++i) {
    Session session(1 << 20);
    std::thread([] { append(recordOf(20)); }).join();
    const Recording recording = session.stop();
    EXPECT_EQ(recording.lost, 0u);
    for (const Recording::Thread &thread : recording.threads)
      for (size_t r = 1; r < thread.records.size(); ++r)
        ASSERT_EQ(thread.records[r - 1].b + 1, thread.records[r].b); // of one thread, all of them
    const std::vector<uint64_t> numbers = numbersIn(recording);
    EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 20u), 1);
  }
  isOver = true;
  for (std::thread &thread : starters)
    thread.join();
}

// For ThreadSanitizer: threads record while sessions begin and end.
TEST(Recorder, SessionsComeAndGoWhileThreadsRecord) {
  std::atomic<bool> isOver{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (uint64_t i = 0; !isOver; ++i)
        append(recordOf(i));
    });
  for (int i = 0; i < 20; ++i) {
    Session session(1 << 20);
    Recording recording = session.stop();
    for (const Recording::Thread &thread : recording.threads)
      for (size_t r = 1; r < thread.records.size(); ++r)
        ASSERT_LE(thread.records[r - 1].end, thread.records[r].end);
  }
  isOver = true;
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Recorder, WhatHasNoRoomIsCounted) {
  constexpr uint64_t kBytes = 200 * 1024, kRecords = 20000;
  Session session(kBytes);
  for (uint64_t i = 0; i < kRecords; ++i)
    append(recordOf(i));
  Recording recording = session.stop();
  std::vector<uint64_t> numbers = numbersIn(recording);
  EXPECT_LE(numbers.size() * sizeof(Record), kBytes);
  EXPECT_GE(numbers.size(), 1024u);
  EXPECT_EQ(numbers.size() + recording.lost, kRecords);
  EXPECT_EQ(numbers.back(), numbers.size() - 1); // the first ones stay
  EXPECT_GE(recording.othersLostAt, recording.threads.at(0).records.back().end);
  EXPECT_EQ(recording.detailsLostAt, 0u);
  EXPECT_EQ(Session().stop().othersLostAt, 0u) << "the next one has room";
}

TEST(Recorder, ExecutionsFitWhereDetailsDoNot) {
  constexpr uint64_t kBytes = 16 * 1025 * sizeof(Record), kExecutions = 3000, kKernels = 20;
  Session session(kBytes);
  for (uint64_t i = 0; i < kExecutions; ++i) {
    for (uint64_t kernel = 0; kernel < kKernels; ++kernel) {
      Record record = recordOf(i);
      record.kind = Kind::Wait;
      append(record);
    }
    append(recordOf(i));
  }
  const Recording recording = session.stop();
  uint64_t executions = 0, details = 0;
  for (const Recording::Thread &thread : recording.threads)
    for (const Record &record : thread.records)
      ++(record.kind == Kind::Wait ? details : executions);
  EXPECT_EQ(executions, kExecutions);
  EXPECT_GT(details, 10'000u);
  EXPECT_EQ(details + recording.lost, kExecutions * kKernels);
  EXPECT_GT(recording.detailsLostAt, recording.timeline.startTicks);
  EXPECT_EQ(recording.othersLostAt, 0u);
}

TEST(Recorder, EachSessionHasItsOwnTime) {
  Session outer;
  append(recordOf(1));
  {
    Session inner;
    append(recordOf(2));
    EXPECT_EQ(numbersIn(inner.stop()), std::vector<uint64_t>{2});
  }
  EXPECT_TRUE(isOn());
  append(recordOf(3));
  EXPECT_EQ(numbersIn(outer.stop()), (std::vector<uint64_t>{1, 2, 3}));
}

TEST(Recorder, TicksAreNanosecondsOfTheRealClock) {
  auto realNs = [] {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  };
  Session session;
  int64_t before = realNs();
  Record record = recordOf(1);
  auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  record.end = ticks();
  double expected = double(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
  append(record);
  Recording recording = session.stop();
  double found = double(recording.timeline.picoseconds(record.end) - recording.timeline.picoseconds(record.start)) / 1000;
  EXPECT_NEAR(found, expected, 2e6);
  EXPECT_NEAR(double(recording.timeline.startNs + recording.timeline.picoseconds(record.start) / 1000 - before), 0, 2e6);
}

// A job of the background that records goes on while another thread forks, which waits for it.
#if !defined(__SANITIZE_THREAD__) && !(defined(__has_feature) && __has_feature(thread_sanitizer))
TEST(Recorder, AForkWaitsForTheBackgroundWithoutTheRecorder) {
  Background &background = Background::ofProcess(); // before the first session, where this test runs alone
  Session session;
  std::atomic<bool> hasBegun{false};
  background.add([&](bool) {
    hasBegun = true;
    for (int i = 0; i < 200; ++i) {
      Scope scope(Kind::Compile, "job " + std::to_string(i));
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return false;
  });
  while (!hasBegun)
    std::this_thread::yield();
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(session.stop().numRecords(), 200u);
}
#endif

#if !defined(__SANITIZE_THREAD__) && !(defined(__has_feature) && __has_feature(thread_sanitizer))
TEST(Recorder, AForkBeginsEmpty) {
  Session session;
  append(recordOf(1));
  pid_t child = fork();
  if (child == 0) {
    bool isFine = !isOn() && session.stop().numRecords() == 0;
    append(recordOf(2));
    Session own;
    append(recordOf(3));
    isFine = isFine && numbersIn(own.stop()) == std::vector<uint64_t>{3};
    _exit(isFine ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(numbersIn(session.stop()), std::vector<uint64_t>{1});
}

TEST(Recorder, AForkNeverWaitsForItsParentsRecording) {
  const std::string folder = ::testing::TempDir() + "/millrace-recording-" + std::to_string(::getpid());
  pid_t parent = fork(); // the recording of MILLRACE_PROFILE is that of a whole process
  if (parent == 0) {
    ::setenv("MILLRACE_PROFILE", folder.c_str(), 1);
    if (!startFromEnvironment(0).ok())
      _exit(2);
    std::atomic<bool> isDone{false};
    std::thread other([&] {
      while (!isDone) // holds the lock a part of the time
        (void)startFromEnvironment(0).ok();
    });
    bool isFine = true;
    for (int i = 0; i < 150 && isFine; ++i) {
      pid_t child = fork();
      if (child == 0) {
        ::alarm(20);
        endFromEnvironment();
        _exit(0);
      }
      int status = 0;
      isFine = waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    isDone = true;
    other.join();
    _exit(isFine ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(parent, &status, 0), parent);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "a fork has waited for a lock that nobody releases";
  ::rmdir(folder.c_str());
}
#endif

TEST(Recorder, ScopesNest) {
  Session session;
  {
    Scope outer(Kind::Region, "outer", "step_num=3");
    Scope inner(Kind::Compile, "inner");
    inner.rename("renamed");
  }
  Recording recording = session.stop();
  ASSERT_EQ(recording.threads.size(), 1u);
  const std::vector<Record> &records = recording.threads[0].records;
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].what, intern("renamed"));
  EXPECT_EQ(records[1].what, intern("outer"));
  EXPECT_EQ(reinterpret_cast<const Name *>(uintptr_t(records[1].a)), intern("step_num=3"));
  EXPECT_LE(records[1].start, records[0].start);
  EXPECT_GE(records[1].end, records[0].end);
}

/// What a recording has of each kind.
std::map<Kind, std::vector<Record>> byKind(const Recording &recording) {
  std::map<Kind, std::vector<Record>> found;
  for (const Recording::Thread &thread : recording.threads)
    for (const Record &record : thread.records)
      found[record.kind].push_back(record);
  // Another thread may give memory back than the one that took it.
  std::ranges::stable_sort(found[Kind::Memory], {}, &Record::start);
  return found;
}

TEST(Recorder, ExecutionsHaveTheirStepsTransfersAndMemory) {
  test::Builder b;
  SlotId x = b.argument(DType::F32, {}), y = b.result(DType::F32, {});
  b.code(test::floatKernels, {"add"});
  Step add = test::Builder::kernel(0, {x, x}, {y}, 1);
  add.location = b.location("model.py:7:3");
  b.push(add);
  b.program.name = "doubling";
  auto client = test::makeClient();
  auto executable = client->load(b.program);
  ASSERT_TRUE(executable.ok()) << executable.status().toString();
  Session session;
  BufferPtr argument = test::toDevice<float>(*client, DType::F32, {}, {21});
  for (int i = 0; i < 3; ++i) {
    auto result = (*executable)->execute({{argument}});
    ASSERT_TRUE(result.ok()) << result.status().toString();
    EXPECT_EQ(test::toHost<float>(result->results[0][0]), std::vector<float>{42});
  }
  Recording recording = session.stop();
  auto found = byKind(recording);
  ASSERT_EQ(found[Kind::Launch].size(), 3u);
  ASSERT_EQ(found[Kind::Execution].size(), 3u);
  ASSERT_EQ(found[Kind::Kernel].size(), 3u);
  for (Kind kind : {Kind::Launch, Kind::Execution, Kind::Kernel}) // one thread may execute the first, another one the next
    std::ranges::stable_sort(found[kind], {}, &Record::a);
  EXPECT_EQ(found[Kind::Transfer].size(), 4u); // one there, three back
  for (const Record &transfer : found[Kind::Transfer])
    EXPECT_EQ(transfer.a, sizeof(float));
  for (int i = 0; i < 3; ++i) {
    const Record &kernel = found[Kind::Kernel][i], &execution = found[Kind::Execution][i], &launch = found[Kind::Launch][i];
    EXPECT_EQ(kernel.a, execution.a);
    EXPECT_EQ(launch.a, execution.a);
    EXPECT_LE(launch.start, execution.b); // launched, then queued, then run
    EXPECT_LE(execution.b, execution.start);
    EXPECT_LE(execution.start, kernel.start);
    EXPECT_LE(kernel.end, execution.end);
    const auto &info = *static_cast<const ProgramInfo *>(kernel.what);
    EXPECT_EQ(info.name, "doubling");
    EXPECT_EQ(info.kernels[kernel.index].name, "add");
    EXPECT_EQ(info.locations[kernel.b], "model.py:7:3");
    EXPECT_EQ(execution.what, kernel.what);
  }
  // Every allocation is in the count of its device, whose last word is what it has in use now.
  ASSERT_FALSE(found[Kind::Memory].empty());
  for (const Record &memory : found[Kind::Memory])
    EXPECT_EQ(recording.devices.at(memory.what), 0u);
  EXPECT_EQ(found[Kind::Memory][0].b, sizeof(float));
  // What it is for, and which line asked; what is given back has the address of what was taken.
  std::map<Purpose, std::vector<Record>> taken;
  std::map<uint64_t, int64_t> atAddress;
  for (const Record &memory : found[Kind::Memory]) {
    if (int64_t(memory.a) > 0)
      taken[Purpose(memory.index)].push_back(memory);
    EXPECT_GE(atAddress[memory.c] += int64_t(memory.a), 0);
  }
  ASSERT_EQ(taken[Purpose::Upload].size(), 1u);
  ASSERT_EQ(taken[Purpose::Result].size(), 3u);
  for (const Record &memory : taken[Purpose::Result])
    EXPECT_EQ(*reinterpret_cast<const Name *>(uintptr_t(memory.d)), "model.py:7");
}

TEST(Recorder, ThreadsOfThePoolSayWhatTheyWorkAt) {
  ThreadPool pool(3);
  std::atomic<int> others{0};
  auto work = [&](const Record *step) {
    others = 0;
    struct Context {
      std::atomic<int> &others;
      std::thread::id caller;
    } context{others, std::this_thread::get_id()};
    currentStep = step;
    // The caller goes on until another thread has come, and that one ends last.
    EXPECT_EQ(pool.run(
                  40, 1,
                  [](void *given, int64_t, int64_t) -> int32_t {
                    auto &own = *static_cast<Context *>(given);
                    const bool isCaller = std::this_thread::get_id() == own.caller;
                    own.others += !isCaller;
                    std::this_thread::sleep_for(std::chrono::milliseconds(isCaller ? 1 : 2));
                    return 0;
                  },
                  &context),
              0);
    currentStep = nullptr;
  };
  work(nullptr); // not recorded
  ProgramInfo info;
  Record step;
  step.kind = Kind::Kernel;
  step.what = &info;
  step.index = 5;
  step.a = 17;
  step.device = 2;
  Session session;
  work(&step);
  const int ofStep = others;
  work(nullptr);
  const int ofNone = others;
  auto found = byKind(session.stop());
  uint64_t pieces = 0, piecesOfNone = 0;
  for (const Record &piece : found[Kind::Piece]) {
    EXPECT_LT(piece.start, piece.end);
    (piece.what ? pieces : piecesOfNone) += piece.c;
    if (!piece.what)
      continue;
    EXPECT_EQ(piece.what, &info);
    EXPECT_EQ(piece.index, 5u);
    EXPECT_EQ(piece.a, 17u);
    EXPECT_EQ(piece.b, 1u);
    EXPECT_EQ(piece.device, 2u);
  }
  EXPECT_EQ(pieces, uint64_t(ofStep));
  EXPECT_EQ(piecesOfNone, uint64_t(ofNone));
  EXPECT_GT(pieces + piecesOfNone, 0u);
  for (const Record &wait : found[Kind::Wait])
    EXPECT_LT(wait.start, wait.end);
}

TEST(Recorder, DetailsKeepTheirForm) {
  EXPECT_EQ(asDetail("mesh=2, shape (2, 3)\nnow"), "mesh:2; shape (2; 3) now");
  EXPECT_EQ(currentPlace(), nullptr); // nobody records
}

TEST(Recorder, SmallLoopsStayOneCall) {
  auto client = test::makeClient();
  auto executable = client->load(test::doublingLoop(/*swaps=*/true).program);
  ASSERT_TRUE(executable.ok()) << executable.status().toString();
  BufferPtr argument = test::toDevice<float>(*client, DType::F32, {}, {1});
  Session session;
  auto result = (*executable)->execute({{argument}});
  ASSERT_TRUE(result.ok()) << result.status().toString();
  EXPECT_EQ(test::toHost<float>(result->results[0][0]), std::vector<float>{128});
  auto found = byKind(session.stop());
  std::vector<Record> loops;
  for (const Record &step : found[Kind::Step])
    if (static_cast<const ProgramInfo *>(step.what)->steps[step.index].name == "while")
      loops.push_back(step);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].c, 7u); // turns: 1, 2, ..., 128
  EXPECT_TRUE(found[Kind::Kernel].empty()); // those of its body are not recorded one by one
}

/// `bin/unit-runtime --gtest_filter='RecorderCost*'` prints what a record costs.
TEST(RecorderCost, OffAndOn) {
  constexpr int kCount = 1'000'000;
  static const Name *name = intern("test record");
  auto nsPer = [&](auto body) {
    auto best = std::chrono::nanoseconds::max();
    for (int turn = 0; turn < 3; ++turn) {
      auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < kCount; ++i)
        body(i);
      best = std::min(best, std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start));
    }
    return double(best.count()) / kCount;
  };
  auto measured = [](int i) { // as around a step of a program
    if (!isOn()) {
      asm volatile("" ::: "memory");
      return;
    }
    Record record;
    record.kind = Kind::Region;
    record.what = name;
    record.b = uint64_t(i);
    record.start = ticks();
    asm volatile("" ::: "memory");
    record.end = ticks();
    append(record);
  };
  double off = nsPer(measured), on;
  {
    Session session(uint64_t(512) << 20);
    on = nsPer(measured);
    EXPECT_EQ(session.stop().lost, 0u);
  }
  std::printf("recorder: %.1f ns off, %.1f ns on per record (ticks twice, %zu bytes)\n", off, on, sizeof(Record));
  EXPECT_LT(off, 50);  // far above what it takes: other programs run beside the test
  EXPECT_LT(on, 2000);
}

} // namespace
