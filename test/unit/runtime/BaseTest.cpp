// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BaseTest.cpp - Status, events, threads, files, hashes, memory, floats -===//
#include "runtime/base/Cpu.h"
#include "runtime/base/DType.h"
#include "runtime/base/Environment.h"
#include "runtime/base/Event.h"
#include "runtime/base/File.h"
#include "runtime/base/Hash.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/buffer/Memory.h"
#include "runtime/collective/Collective.h"
#include "runtime/kernels/SmallFloat.h"

#include <chrono>
#include <ctime>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <mutex>
#include <numeric>
#include <set>
#include <sys/stat.h>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <utility>

using namespace millrace::runtime;

namespace {

TEST(Status, CarriesCodeAndContext) {
  EXPECT_TRUE(Status().ok());
  Status error = notFound("no file").withContext("load");
  EXPECT_EQ(error.toString(), "NOT_FOUND: load: no file");
  StatusOr<int> value = 3;
  EXPECT_EQ(*value, 3);
  EXPECT_EQ(StatusOr<int>(error).status().code(), Code::NotFound);
}

TEST(DType, NamesRoundTrip) {
  for (int i = 1; i <= int(DType::Last); ++i)
    EXPECT_EQ(dtypeFromName(name(DType(i))), DType(i));
  EXPECT_EQ(dtypeFromName("si8"), DType::I8);
  EXPECT_EQ(dtypeFromName("f7"), DType::Invalid);
  EXPECT_EQ(byteSize(DType::I4), 1u);
}

TEST(Event, CallbacksRunOnceBeforeOrAfter) {
  EventSource source;
  int calls = 0;
  source.event().onReady([&](const Status &s) { calls += s.ok(); });
  EXPECT_FALSE(source.event().isReady());
  EXPECT_FALSE(source.event().awaitFor(0.001));
  source.set();
  source.event().onReady([&](const Status &s) { calls += s.ok(); });
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(source.event().await().ok());
}

TEST(Event, DroppedSourceCancels) {
  Event event;
  {
    EventSource source;
    event = source.event();
  }
  EXPECT_EQ(event.await().code(), Code::Cancelled);
}

TEST(Event, WhenAllReportsTheFirstErrorInTheList) {
  EventSource a, b;
  Event all = whenAll({a.event(), b.event(), Event()});
  std::thread other([&] { b.set(internalError("b")); });
  other.join();
  EXPECT_FALSE(all.isReady());
  a.set();
  EXPECT_EQ(all.await().message(), "b");
}

/// Three pieces of work, each of which sets an event. Without somebody who waits nothing happens.
struct Pieces : Event::Worker {
  std::vector<EventSource> sources;
  size_t next = 0;
  bool workOnce() override {
    if (next == sources.size())
      return false;
    sources[next++].set();
    return true;
  }
};

TEST(Event, WhoWaitsDoesTheWorkBeforeIt) {
  auto worker = std::make_shared<Pieces>();
  for (int i = 0; i < 3; ++i)
    worker->sources.emplace_back(worker);
  EXPECT_TRUE(worker->sources[1].event().await().ok());
  EXPECT_EQ(worker->next, 2u);
  EXPECT_FALSE(worker->sources[2].event().isReady());
  EXPECT_FALSE(worker->sources[2].event().awaitFor(0)); // works for nobody
  worker->sources.clear(); // they hold the worker
}

TEST(Event, WhoWaitsForAllWorksForEach) {
  auto first = std::make_shared<Pieces>(), second = std::make_shared<Pieces>();
  for (const std::shared_ptr<Pieces> &worker : {first, second})
    for (int i = 0; i < 2; ++i)
      worker->sources.emplace_back(worker);
  EXPECT_TRUE(whenAll({first->sources[0].event(), Event(), second->sources[0].event()}).await().ok());
  EXPECT_EQ(first->next, 1u); // its second piece is nobody's business
  EXPECT_EQ(second->next, 1u);
  first->sources.clear();
  second->sources.clear();
}

/// Two pieces of work; counts how often somebody asks for them without waiting.
struct Counting : Pieces {
  void begin() override { ++begun; }
  int begun = 0;
};

TEST(Event, ObserversAndJoinsOfOneWorkerStartNothing) {
  auto worker = std::make_shared<Counting>();
  for (int i = 0; i < 2; ++i)
    worker->sources.emplace_back(worker);
  int seen = 0;
  const Event event = worker->sources[0].event();
  event.observe([&](const Status &) { ++seen; });
  EXPECT_FALSE(event.isSet());
  const Event all = whenAll({event, worker->sources[1].event()});
  EXPECT_EQ(worker->begun, 0);
  EXPECT_FALSE(all.isReady()); // who polls wants it to begin
  EXPECT_GT(worker->begun, 0);
  EXPECT_TRUE(all.await().ok());
  EXPECT_EQ(worker->next, 2u);
  EXPECT_EQ(seen, 1);
  event.observe([&](const Status &) { ++seen; }); // set already
  EXPECT_EQ(seen, 2);
  worker->sources.clear();
}

TEST(Event, JoinsOfSeveralWorkersBeginThemSideBySide) {
  auto first = std::make_shared<Counting>(), second = std::make_shared<Counting>();
  for (const std::shared_ptr<Counting> &worker : {first, second})
    worker->sources.emplace_back(worker);
  const Event all = whenAll({first->sources[0].event(), second->sources[0].event()});
  EXPECT_GT(first->begun, 0);
  EXPECT_GT(second->begun, 0);
  EXPECT_TRUE(all.await().ok());
  first->sources.clear();
  second->sources.clear();
}

TEST(Event, SetFromAnotherThread) {
  for (int i = 0; i < 200; ++i) {
    EventSource source;
    int value = 0;
    std::thread setter([&] {
      value = 42;
      source.set();
    });
    EXPECT_TRUE(source.event().await().ok());
    EXPECT_EQ(value, 42);
    setter.join();
  }
}

/// Sets its event as soon as somebody looks at it.
struct Eager : Event::Worker {
  explicit Eager(bool &isGone) : isGone(isGone) {}
  ~Eager() override { isGone = true; }
  bool workOnce() override { return false; }
  void begin() override {
    std::unique_ptr<EventSource> last = std::move(source);
    last->set();
    last.reset();
    if (later)
      std::exchange(later, nullptr)();
    wasAliveAfterSet = !isGone;
  }
  bool &isGone;
  std::function<void()> later; ///< what a callback on another thread does
  std::unique_ptr<EventSource> source;
  inline static bool wasAliveAfterSet;
};

TEST(Event, CallbacksMayDestroyTheEvent) {
  bool isGone = false;
  auto worker = std::make_shared<Eager>(isGone);
  worker->source = std::make_unique<EventSource>(worker);
  auto *event = new Event(worker->source->event());
  worker.reset(); // the event's state holds it
  event->onReady([&](const Status &) { delete event; });
  EXPECT_TRUE(Eager::wasAliveAfterSet);
  EXPECT_TRUE(isGone);

  event = new Event(Event::ready(internalError("a message that is too long to lie inside of a string")));
  event->onReady([&](const Status &status) {
    delete event;
    EXPECT_EQ(status.message(), "a message that is too long to lie inside of a string");
  });
}

/// Sets its event while somebody waits for it.
struct Helpful : Event::Worker {
  explicit Helpful(bool &isGone) : isGone(isGone) {}
  ~Helpful() override { isGone = true; }
  bool workOnce() override {
    std::unique_ptr<EventSource> last = std::move(source);
    last->set(internalError("a message that is too long to lie inside of a string"));
    last.reset();
    wasAliveAfterSet = !isGone;
    return true;
  }
  bool &isGone;
  std::unique_ptr<EventSource> source;
  inline static bool wasAliveAfterSet;
};

TEST(Event, CallbacksMayDestroyTheEventThatTheirThreadWaitsFor) {
  bool isGone = false;
  auto worker = std::make_shared<Helpful>(isGone);
  worker->source = std::make_unique<EventSource>(worker);
  auto *event = new Event(worker->source->event());
  worker.reset();
  event->onReady([&](const Status &) { delete event; });
  EXPECT_EQ(event->await().message(), "a message that is too long to lie inside of a string");
  EXPECT_TRUE(Helpful::wasAliveAfterSet);
  EXPECT_TRUE(isGone);

  // Whoever only looks lets the work begin.
  for (bool isTimed : {false, true}) {
    isGone = false;
    auto eager = std::make_shared<Eager>(isGone);
    eager->source = std::make_unique<EventSource>(eager);
    Event kept = eager->source->event();
    event = new Event(kept);
    eager->later = [&] { delete event, kept = Event(); };
    eager.reset();
    isTimed ? event->awaitFor(60) : event->isReady();
    EXPECT_TRUE(Eager::wasAliveAfterSet);
    EXPECT_TRUE(isGone);
  }
}

TEST(Event, CallbacksMayDestroyTheSource) {
  auto *source = new EventSource();
  std::string messages;
  for (int i = 0; i < 2; ++i)
    source->event().onReady([&](const Status &status) {
      delete std::exchange(source, nullptr);
      messages += status.message();
    });
  source->set(internalError("a message that is too long to lie inside of a string;"));
  EXPECT_EQ(messages.size(), 2 * std::strlen("a message that is too long to lie inside of a string;"));
}

TEST(Event, DestroyedByItsCallbackOnAnotherThread) {
  for (int i = 0; i < 2000; ++i) {
    EventSource source;
    auto *event = new Event(source.event());
    std::thread setter([&] { source.set(); });
    event->onReady([event](const Status &) { delete event; });
    setter.join();
  }
}

TEST(ThreadPool, CoversTheRangeOnce) {
  ThreadPool pool(4);
  for (int64_t end : {1, 7, 1000, 12345})
    for (int64_t piece : {1, 3, 100, 20000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(end));
      auto body = [](void *context, int64_t begin, int64_t end) -> int32_t {
        auto &seen = *static_cast<std::vector<std::atomic<int>> *>(context);
        for (int64_t i = begin; i < end; ++i)
          ++seen[size_t(i)];
        return 0;
      };
      EXPECT_EQ(pool.run(end, piece, body, &seen), 0);
      EXPECT_EQ(pool.run(end, piece, body, &seen, /*isBackward=*/true), 0);
      for (auto &count : seen)
        ASSERT_EQ(count, 2);
    }
}

TEST(ThreadPool, BackwardBeginsWithTheLastPiece) {
  ThreadPool pool(2);
  // Each of the two waits for the other with the first piece that it takes: of 10 iterations, by 2, the shares are [0, 6) and [6, 10).
  struct Begins {
    std::atomic<int> count{0};
    std::atomic<int64_t> first[2];
  } begins;
  auto body = [](void *context, int64_t begin, int64_t) -> int32_t {
    auto &begins = *static_cast<Begins *>(context);
    int number = begins.count++;
    if (number >= 2)
      return 0;
    begins.first[number] = begin;
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (begins.count < 2)
      if (std::chrono::steady_clock::now() > end)
        return 9;
    return 0;
  };
  ASSERT_EQ(pool.run(10, 2, body, &begins, /*isBackward=*/true), 0);
  EXPECT_EQ(begins.first[0] + begins.first[1], 4 + 8);
  EXPECT_EQ(begins.count, 5);
}

TEST(ThreadPool, TakesFromTheSharesOfOthers) {
  ThreadPool pool(2);
  std::atomic<int> rest{0};
  // Whoever begins with the first iteration waits for all others, half of which are its own share.
  auto body = [](void *context, int64_t begin, int64_t) -> int32_t {
    auto &rest = *static_cast<std::atomic<int> *>(context);
    if (begin != 0)
      return ++rest, 0;
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (rest != 7)
      if (std::chrono::steady_clock::now() > end)
        return 9;
    return 0;
  };
  EXPECT_EQ(pool.run(8, 1, body, &rest), 0);
}

// 22 iterations by threes are eight pieces, four of each thread: both have 11 iterations, not one 12 and the other one 10.
TEST(ThreadPool, SharesAreEven) {
  ThreadPool pool(2);
  for (bool isBackward : {false, true}) {
    std::mutex mutex;
    std::set<std::pair<int64_t, int64_t>> pieces;
    auto context = std::tie(mutex, pieces);
    auto body = [](void *context, int64_t begin, int64_t end) -> int32_t {
      auto &[mutex, pieces] = *static_cast<std::tuple<std::mutex &, std::set<std::pair<int64_t, int64_t>> &> *>(context);
      std::lock_guard lock(mutex);
      pieces.emplace(begin, end);
      return 0;
    };
    ASSERT_EQ(pool.run(22, 3, body, &context, isBackward, /*granularity=*/1), 0);
    EXPECT_EQ(pieces, (std::set<std::pair<int64_t, int64_t>>{{0, 3}, {3, 6}, {6, 9}, {9, 11}, {11, 14}, {14, 17}, {17, 20}, {20, 22}}));
  }
}

TEST(ThreadPool, SharesOfThreads) {
  using Share = std::pair<int64_t, int64_t>;
  EXPECT_EQ(shareOfThread(22, 1, 2, 1), Share(11, 22));
  EXPECT_EQ(shareOfThread(23, 1, 2, 0), Share(0, 12));
  EXPECT_EQ(shareOfThread(1000, 64, 2, 0), Share(0, 512)); // whole tiles
  EXPECT_EQ(shareOfThread(1000, 64, 2, 1), Share(512, 1000));
  for (int64_t end : {1, 5, 64, 1001})
    for (int64_t granularity : {1, 3, 64})
      for (unsigned shares = 1; shares <= (end - 1) / granularity + 1; ++shares) {
        int64_t begin = 0;
        for (unsigned i = 0; i < shares; ++i) {
          const auto [first, last] = shareOfThread(end, granularity, shares, i);
          EXPECT_EQ(first, begin);
          EXPECT_LT(first, last);
          EXPECT_EQ(first % granularity, 0);
          begin = last;
        }
        EXPECT_EQ(begin, end);
      }
}

TEST(ThreadPool, ManyCallersAtOnce) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<int64_t> total{0};
  for (int c = 0; c < 6; ++c)
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        int64_t sum[64] = {};
        pool.run(64, 1, [](void *s, int64_t b, int64_t e) -> int32_t {
          for (; b < e; ++b)
            static_cast<int64_t *>(s)[b] = b;
          return 0;
        }, sum);
        total += std::accumulate(sum, sum + 64, int64_t(0));
      }
    });
  for (auto &caller : callers)
    caller.join();
  EXPECT_EQ(total, 6 * 200 * 64 * 63 / 2);
}

TEST(ThreadPool, MoreThreadsThanProcessors) {
  for (unsigned threads : {3u, 16u, 100u, 1024u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (int run = 0; run < 200; ++run) {
      std::atomic<int64_t> sum{0};
      auto add = [](void *context, int64_t begin, int64_t end) -> int32_t {
        for (; begin < end; ++begin)
          *static_cast<std::atomic<int64_t> *>(context) += begin;
        return 0;
      };
      ASSERT_EQ(pool.run(3 * int64_t(threads), 1, add, &sum), 0);
      ASSERT_EQ(sum, 3 * int64_t(threads) * (3 * int64_t(threads) - 1) / 2);
    }
  }
}

// A thread without work sleeps: processor time passes for what is computed alone.
TEST(ThreadPool, IdleWorkersTakeNoTime) {
  ThreadPool pool(16);
  auto nothing = [](void *, int64_t, int64_t) -> int32_t { return 0; };
  pool.run(64, 1, nothing, nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(50)); // all have gone to sleep
  auto before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(double(std::clock() - before) / CLOCKS_PER_SEC, 0.05);
}

// A callback of the user may run a program within a piece.
TEST(ThreadPool, PieceThatStartsARange) {
  static ThreadPool pool(4);
  std::atomic<int64_t> count{0};
  auto outer = [](void *context, int64_t begin, int64_t end) -> int32_t {
    auto inner = [](void *context, int64_t begin, int64_t end) -> int32_t {
      *static_cast<std::atomic<int64_t> *>(context) += end - begin;
      return 0;
    };
    for (; begin < end; ++begin)
      pool.run(100, 7, inner, context);
    return 0;
  };
  EXPECT_EQ(pool.run(40, 1, outer, &count), 0);
  EXPECT_EQ(count, 4000);
}

// Whoever is woken wakes others: all come, although the caller wakes two.
TEST(ThreadPool, AllAreWoken) {
  ThreadPool pool(std::max(2u, availableCpus()));
  for (int run = 0; run < 20; ++run) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2)); // workers are asleep
    struct Meeting {
      std::atomic<unsigned> here{0};
      unsigned all;
    } meeting;
    meeting.all = pool.size();
    auto meet = [](void *context, int64_t, int64_t) -> int32_t {
      auto &meeting = *static_cast<Meeting *>(context);
      ++meeting.here;
      auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (meeting.here < meeting.all)
        if (std::chrono::steady_clock::now() > end)
          return 9;
      return 0;
    };
    ASSERT_EQ(pool.run(pool.size(), 1, meet, &meeting), 0);
  }
}

TEST(ThreadPool, ReportsAnError) {
  ThreadPool pool(2);
  auto body = [](void *, int64_t begin, int64_t) -> int32_t { return begin == 50 ? 7 : 0; };
  EXPECT_EQ(pool.run(100, 10, body, nullptr), 7);
}

TEST(ThreadPool, SmallJobsInARowAreCut) {
  ThreadPool pool(2);
  constexpr uint64_t small = ThreadPool::leastPieceAsleep, large = 2 * ThreadPool::leastPieceAsleep, tiny = ThreadPool::leastPieceAwake;
  EXPECT_EQ(pool.leastPiece(true, small), ThreadPool::leastPieceAwake);
  EXPECT_EQ(pool.leastPiece(false, small), ThreadPool::leastPieceAsleep);
  for (uint64_t other : {tiny, large})
    EXPECT_EQ(pool.leastPiece(false, other), ThreadPool::leastPieceAsleep);
  // The next one follows at once; this test may be interrupted, but not every time.
  bool isCut = false;
  for (int i = 0; i < 100; ++i)
    isCut |= pool.leastPiece(false, small) == ThreadPool::leastPieceAwake;
  EXPECT_TRUE(isCut);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(pool.leastPiece(false, small), ThreadPool::leastPieceAsleep);
}

TEST(ThreadPool, PieceSizes) {
  EXPECT_EQ(pieceSize(1000, 0, 1, 8), 1000);          // unknown cost
  EXPECT_EQ(pieceSize(1000, 1000, 1, 8), 1000);       // 1 us in all
  EXPECT_EQ(pieceSize(1000, 1'000'000, 1, 1), 1000);  // one thread
  EXPECT_EQ(pieceSize(1000, 1'000'000, 1, 2), 125);   // 1 ms: four pieces per thread
  EXPECT_EQ(pieceSize(1000, 1'000'000, 64, 2), 128);  // whole tiles
  EXPECT_EQ(pieceSize(64, 1'000'000, 1, 2), 32);      // 64 us: no third piece of less than 20 us
  EXPECT_EQ(pieceSize(64, 1'000'000, 1, 16), 6);      // many threads: a piece for each that takes 5 us
  EXPECT_EQ(pieceSize(39, 1'000'000, 1, 16), 39);     // but none if there is no work for two pieces of 20 us
  EXPECT_EQ(pieceSize(6400, 1'000'000, 1, 64), 25);   // four for each of 64
  EXPECT_EQ(pieceSize(110, 1'000'000, 1, 2), 28);     // 110 us: four pieces, two per thread, not five
}

TEST(Cpu, ParsesLimits) {
  EXPECT_EQ(parseCpuMax("max 100000"), 0u);
  EXPECT_EQ(parseCpuMax("150000 100000"), 2u);
  EXPECT_EQ(parseCpuMax(""), 0u);
  EXPECT_EQ(parseThreadCount("4,2"), 4u);
  EXPECT_EQ(parseThreadCount("0"), 0u);
  EXPECT_EQ(parseThreadCount("x"), 0u);
  EXPECT_EQ(parseThreadCount(nullptr), 0u);
  EXPECT_GE(availableCpus(), 1u);
}

TEST(Hash, Hex) {
  const std::string bytes("\0\x7f\xff a", 5);
  EXPECT_EQ(toHex(bytes), "007fff2061");
  EXPECT_EQ(fromHex("007fff2061"), bytes);
  EXPECT_EQ(fromHex(""), "");
  for (const char *wrong : {"0", "0g", "AB", "00 1"})
    EXPECT_EQ(fromHex(wrong), std::nullopt) << wrong;
}

TEST(Environment, SwitchesAndCounts) {
  namespace environment = millrace::runtime::environment;
  auto set = [](const char *value) { value ? ::setenv("MILLRACE_GDB", value, 1) : ::unsetenv("MILLRACE_GDB"); };
  for (const char *on : {"1", "on", "Yes", "TRUE", "y"})
    EXPECT_EQ((set(on), environment::asSwitch("MILLRACE_GDB")), true) << on;
  for (const char *off : {"0", "off", "No", "FALSE", "n"})
    EXPECT_EQ((set(off), environment::asSwitch("MILLRACE_GDB")), false) << off;
  for (const char *none : {static_cast<const char *>(nullptr), ""}) {
    set(none);
    EXPECT_EQ(environment::asSwitch("MILLRACE_GDB"), std::nullopt);
    EXPECT_FALSE(environment::isOn("MILLRACE_GDB"));
    EXPECT_FALSE(environment::isOff("MILLRACE_GDB"));
  }
  ::setenv("XLA_METRICS_SAMPLES", "12", 1);
  EXPECT_EQ(environment::count("XLA_METRICS_SAMPLES"), 12u);
  ::unsetenv("XLA_METRICS_SAMPLES");
  EXPECT_EQ(environment::count("XLA_METRICS_SAMPLES"), std::nullopt);
}

TEST(Environment, SaysOnceWhatDoesNotParse) {
  namespace environment = millrace::runtime::environment;
  ::setenv("MILLRACE_GDB", "maybe", 1);
  ::setenv("XLA_METRICS_SAMPLES", "12 or so", 1);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(environment::asSwitch("MILLRACE_GDB"), std::nullopt);
    EXPECT_EQ(environment::count("XLA_METRICS_SAMPLES"), std::nullopt);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "millrace: warning: MILLRACE_GDB expects 1 or 0, but got 'maybe'; it counts as not set\n"
            "millrace: warning: XLA_METRICS_SAMPLES expects a whole number, but got '12 or so'; it counts as not set\n");
  ::unsetenv("MILLRACE_GDB");
  ::unsetenv("XLA_METRICS_SAMPLES");
}

TEST(Hash, Sha256Vectors) { // FIPS 180-4 examples
  EXPECT_EQ(Sha256::hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256::hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256::hex(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Hash, HmacVectors) { // RFC 4231, cases 1, 2 and 6
  EXPECT_EQ(toHex(hmacSha256(std::string(20, '\x0b'), "Hi There")), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(toHex(hmacSha256("Jefe", "what do ya want for nothing?")), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(toHex(hmacSha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Hash, EveryBitCounts) {
  std::string text(100, 'x');
  uint64_t original = hash64(text.data(), text.size());
  for (size_t i = 0; i < text.size() * 8; ++i) {
    text[i / 8] ^= char(1 << (i % 8));
    EXPECT_NE(hash64(text.data(), text.size()), original);
    text[i / 8] ^= char(1 << (i % 8));
  }
  EXPECT_NE(hash64(text.data(), 99), original);
}

// -o /dev/null, written by somebody who may replace it, would be the end of it.
TEST(File, WhatIsNoFileIsWrittenToNotReplaced) {
  std::string path = ::testing::TempDir() + "/pipe" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  Status written = writeFileAtomically(path, "abc");
  EXPECT_TRUE(written.ok()) << written.message();
  struct stat info;
  EXPECT_TRUE(::stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode));
  char got[4] = {};
  EXPECT_EQ(::read(reader, got, 3), 3);
  EXPECT_STREQ(got, "abc");
  ::close(reader);
  ::unlink(path.c_str());
}

TEST(Allocator, CountsPoolsAndLimits) {
  Allocator allocator(1 << 20);
  void *first = *allocator.allocate(1000);
  EXPECT_EQ(uintptr_t(first) % 64, 0u);
  EXPECT_EQ(allocator.stats().inUse, 1000u);
  allocator.deallocate(first, 1000);
  EXPECT_EQ(allocator.stats().inUse, 0u);
  EXPECT_EQ(allocator.stats().pooled, 1024u);
  void *again = *allocator.allocate(1001); // same class
  EXPECT_EQ(again, first);
  EXPECT_EQ(allocator.stats().poolHits, 1u);
  EXPECT_EQ(allocator.stats().peak, 1001u);
  auto tooMuch = allocator.allocate(1 << 20);
  ASSERT_FALSE(tooMuch.ok());
  EXPECT_EQ(tooMuch.status().code(), Code::ResourceExhausted);
  allocator.deallocate(again, 1001);
  allocator.trim();
  EXPECT_EQ(allocator.stats().pooled, 0u);
}

TEST(Allocator, EverySizeIsWritable) {
  Allocator allocator;
  std::vector<std::pair<void *, uint64_t>> blocks;
  for (uint64_t size = 0; size < 5000; size += 37) {
    void *data = *allocator.allocate(size);
    std::memset(data, 1, size);
    blocks.emplace_back(data, size);
  }
  for (uint64_t size : {65536u, 1000003u, 5000000u}) {
    void *data = *allocator.allocate(size);
    std::memset(data, 1, size);
    blocks.emplace_back(data, size);
  }
  for (auto [data, size] : blocks)
    allocator.deallocate(data, size);
  EXPECT_EQ(allocator.stats().inUse, 0u);
}

TEST(Storage, ReleasesImportedMemoryOnce) {
  int released = 0, value = 0;
  auto storage = Storage::import(&value, 4, false, [&] { ++released; });
  auto copy = storage;
  storage.reset();
  EXPECT_EQ(released, 0);
  copy.reset();
  EXPECT_EQ(released, 1);
}

TEST(SmallFloat, EncodeInvertsDecode) {
  for (DType type : {DType::F4E2M1FN, DType::F6E2M3FN, DType::F6E3M2FN, DType::F8E3M4, DType::F8E4M3, DType::F8E4M3FN,
                     DType::F8E4M3FNUZ, DType::F8E4M3B11FNUZ, DType::F8E5M2, DType::F8E5M2FNUZ, DType::F8E8M0FNU,
                     DType::BF16, DType::F16})
    for (uint64_t bits = 0; bits < uint64_t(1) << bitWidth(type); ++bits) {
      double value = decodeFloat(type, bits);
      if (std::isnan(value))
        EXPECT_TRUE(isNan(type, encodeFloat(type, value)));
      else
        ASSERT_EQ(encodeFloat(type, value), bits) << name(type) << " " << bits;
    }
}

TEST(SmallFloat, KnownValues) {
  EXPECT_EQ(decodeFloat(DType::F8E4M3FN, 0x7e), 448);
  EXPECT_EQ(decodeFloat(DType::F8E5M2, 0x7b), 57344);
  EXPECT_EQ(decodeFloat(DType::F8E4M3FNUZ, 0x7f), 240);
  EXPECT_EQ(decodeFloat(DType::F8E8M0FNU, 127), 1);
  EXPECT_EQ(decodeFloat(DType::F4E2M1FN, 7), 6);
  EXPECT_EQ(encodeFloat(DType::F4E2M1FN, 100), 7u);
  EXPECT_EQ(encodeFloat(DType::F8E4M3FN, 1e9), 0x7fu);
  EXPECT_EQ(encodeFloat(DType::F8E5M2, 1e9), 0x7cu);
  EXPECT_EQ(encodeFloat(DType::BF16, 1.00390625), 0x3f80u); // tie to even
  EXPECT_EQ(encodeFloat(DType::BF16, 1.01171875), 0x3f82u);
}

// Several operands at a time are added in their order, as two at a time are.
TEST(Reduce, SumsOfManyOperands) {
  const int64_t n = 331; // vectors, and a rest
  std::vector<std::vector<float>> operands(5, std::vector<float>(n));
  for (size_t k = 0; k < operands.size(); ++k)
    for (int64_t i = 0; i < n; ++i)
      operands[k][size_t(i)] = (k % 2 ? 1e7f : -1e7f) + float(i) / float(3 * k + 7);
  std::vector<const void *> pointers;
  for (const std::vector<float> &each : operands)
    pointers.push_back(each.data());
  std::vector<float> wanted = operands[0], got(n);
  for (size_t k = 1; k < operands.size(); ++k)
    ASSERT_TRUE(reduceElements(CollectiveStep::Reduction::Sum, DType::F32, wanted.data(), pointers[k], wanted.data(), n));
  ASSERT_TRUE(sumElements(DType::F32, pointers, got.data(), n));
  EXPECT_EQ(got, wanted);
  EXPECT_FALSE(sumElements(DType::I32, pointers, got.data(), n));
}

// Of 16 bits: with the sum in f32, which is rounded once. (One and seven times a quarter of its last place: each alone is lost.)
TEST(Reduce, SumsOfSixteenBitsAreRoundedOnce) {
  for (DType type : {DType::BF16, DType::F16}) {
    const int64_t n = 131;
    const double place = type == DType::BF16 ? 0.0078125 : 0.0009765625;
    std::vector<std::vector<uint16_t>> operands(8, std::vector<uint16_t>(n, uint16_t(encodeFloat(type, place / 4))));
    for (int64_t i = 0; i < n; ++i)
      operands[0][size_t(i)] = uint16_t(encodeFloat(type, i % 3 ? 1.0 : -0.0));
    std::vector<const void *> pointers;
    for (const std::vector<uint16_t> &each : operands)
      pointers.push_back(each.data());
    std::vector<uint16_t> got(n);
    ASSERT_TRUE(sumElements(type, pointers, got.data(), n));
    for (int64_t i = 0; i < n; ++i)
      EXPECT_EQ(decodeFloat(type, got[size_t(i)]), i % 3 ? 1 + 2 * place : 7 * place / 4) << i;
    std::vector<uint16_t> zero(n, uint16_t(encodeFloat(type, -0.0)));
    ASSERT_TRUE(sumElements(type, {zero.data(), zero.data(), zero.data()}, got.data(), n));
    EXPECT_EQ(got, zero);
  }
}

TEST(Reduce, AllTypes) {
  using R = CollectiveStep::Reduction;
  auto reduce = [](R reduction, DType type, auto a, auto b) {
    auto c = a;
    EXPECT_TRUE(reduceElements(reduction, type, &a, &b, &c, 1));
    return c;
  };
  EXPECT_EQ(reduce(R::Sum, DType::I4, int8_t(7), int8_t(1)), -8);
  EXPECT_EQ(reduce(R::Sum, DType::U4, uint8_t(15), uint8_t(2)), 1);
  EXPECT_EQ(reduce(R::Product, DType::I64, INT64_MAX, int64_t(2)), -2);
  EXPECT_EQ(reduce(R::Max, DType::U8, uint8_t(200), uint8_t(1)), 200);
  EXPECT_TRUE(std::isnan(reduce(R::Max, DType::F32, 1.f, std::nanf(""))));
  EXPECT_TRUE(std::signbit(reduce(R::Min, DType::F64, 0.0, -0.0)));
  EXPECT_EQ(reduce(R::Sum, DType::BF16, uint16_t(0x3f80), uint16_t(0x3f80)), 0x4000);
  EXPECT_EQ(reduce(R::Sum, DType::I1, uint8_t(1), uint8_t(1)), 1);
  // Whole vectors of the 16-bit floats, whose results the slow and obvious conversions give.
  for (DType type : {DType::BF16, DType::F16})
    for (auto [reduction, combine] : {std::pair<R, double (*)(double, double)>{R::Sum, [](double a, double b) { return a + b; }},
                                      {R::Product, [](double a, double b) { return a * b; }}}) {
      std::vector<uint16_t> a(4096), b(a.size()), c(a.size());
      for (size_t i = 0; i < a.size(); ++i)
        a[i] = uint16_t(i * 40503), b[i] = uint16_t(i * 30011 + 77);
      ASSERT_TRUE(reduceElements(reduction, type, a.data(), b.data(), c.data(), int64_t(a.size())));
      for (size_t i = 0; i < a.size(); ++i) {
        double expected = combine(decodeFloat(type, a[i]), decodeFloat(type, b[i]));
        if (std::isnan(expected))
          EXPECT_TRUE(isNan(type, c[i])) << name(type) << " " << a[i] << " " << b[i];
        else
          EXPECT_EQ(c[i], encodeFloat(type, expected)) << name(type) << " " << a[i] << " " << b[i];
      }
    }
  float dummy = 0;
  EXPECT_FALSE(reduceElements(R::Xor, DType::F32, &dummy, &dummy, &dummy, 1));
}

} // namespace
