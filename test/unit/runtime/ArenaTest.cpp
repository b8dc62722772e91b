// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Room for intermediate results: shared by all programs of a device, as large as what runs at a time, given back when it is not needed.
#include "TestPrograms.h"

#include "runtime/base/Background.h"
#include "runtime/buffer/Pages.h"
#include "runtime/client/Executor.h"

#include <cstring>
#include <future>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace millrace::runtime;
using namespace millrace::runtime::test;

namespace {

constexpr uint64_t kMiB = 1 << 20;

/// Bytes of [data, data + size) that take memory now.
uint64_t residentBytes(const void *data, uint64_t size) {
  uint64_t page = uint64_t(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((size + page - 1) / page);
  if (::mincore(const_cast<void *>(data), size, pages.data()) != 0)
    return 0; // no mapping
  uint64_t count = 0;
  for (unsigned char each : pages)
    count += each & 1;
  return count * page;
}

Arena lend(Allocator &allocator, uint64_t bytes) {
  StatusOr<Arena> arena = allocator.lend(bytes);
  EXPECT_TRUE(arena.ok()) << arena.status().toString();
  if (!arena)
    return Arena();
  EXPECT_EQ(uintptr_t(arena->data()) % kAlignment, 0u);
  std::memset(arena->data(), 1, bytes);
  return std::move(*arena);
}

TEST(Arena, OneBlockServesAllSizes) {
  Allocator allocator;
  for (uint64_t size : {1, 8, 3, 5, 2, 7}) {
    Arena arena = lend(allocator, size * kMiB);
    EXPECT_EQ(allocator.stats().inUse, size * kMiB);
    EXPECT_EQ(allocator.stats().arenaBlocks, 1u);
  }
  EXPECT_EQ(allocator.stats().inUse, 0u);
  EXPECT_EQ(allocator.stats().pooled, 8 * kMiB); // the largest, not the sum
  EXPECT_EQ(allocator.stats().peakHeld, 8 * kMiB);
  EXPECT_EQ(allocator.stats().arenaHits, 4u);
}

TEST(Arena, GrowsWithoutTouchingAgain) {
  Allocator allocator;
  uint64_t before = 0;
  { before = uint64_t(uintptr_t(lend(allocator, 5 * kMiB).data())); }
  for (uint64_t size = 5 * kMiB; size <= 8 * kMiB; size += 64 << 10) { // a text that grows, token by token
    StatusOr<Arena> arena = allocator.lend(size);
    ASSERT_TRUE(arena.ok());
    EXPECT_EQ(uint64_t(uintptr_t(arena->data())), before);
    EXPECT_GE(residentBytes(arena->data(), size), size - (64 << 10)); // but for what is new
    std::memset(arena->data(), 1, size);
  }
  EXPECT_EQ(allocator.stats().arenaHits, allocator.stats().arenas - 1);
}

TEST(Arena, AsManyBlocksAsRunAtATime) {
  Allocator allocator;
  {
    Arena outer = lend(allocator, 4 * kMiB), inner = lend(allocator, 2 * kMiB);
    EXPECT_NE(outer.data(), inner.data());
    EXPECT_EQ(allocator.stats().arenaBlocks, 2u);
  }
  {
    Arena small = lend(allocator, 1 * kMiB); // the smaller one is enough
    Arena large = lend(allocator, 3 * kMiB);
    EXPECT_EQ(allocator.stats().arenaBlocks, 2u);
    EXPECT_EQ(allocator.stats().pooled, 2 * kMiB); // of each block what its arena leaves
  }
  EXPECT_EQ(allocator.stats().pooled, 6 * kMiB);
  EXPECT_EQ(allocator.stats().peakHeld, 6 * kMiB);
}

TEST(Arena, SweepsGiveBackWhatNobodyNeeded) {
  Allocator allocator;
  void *place;
  { place = lend(allocator, 8 * kMiB).data(); }
  EXPECT_TRUE(allocator.sweep()); // it was needed
  EXPECT_EQ(allocator.stats().pooled, 8 * kMiB);
  EXPECT_EQ(residentBytes(place, 8 * kMiB), 8 * kMiB);
  { EXPECT_EQ(lend(allocator, 2 * kMiB).data(), place); }
  EXPECT_TRUE(allocator.sweep()); // 2 of 8
  EXPECT_EQ(allocator.stats().pooled, 2 * kMiB);
  EXPECT_EQ(residentBytes(place, 8 * kMiB), 2 * kMiB);
  { EXPECT_EQ(lend(allocator, 2 * kMiB).data(), place); } // one program, again and again: nothing changes
  EXPECT_TRUE(allocator.sweep());
  EXPECT_EQ(residentBytes(place, 8 * kMiB), 2 * kMiB);
  EXPECT_FALSE(allocator.sweep());
  EXPECT_EQ(allocator.stats().pooled, 0u);
  EXPECT_EQ(allocator.stats().arenaBlocks, 0u);
  EXPECT_EQ(residentBytes(place, 8 * kMiB), 0u);
}

TEST(Arena, SweepsLeaveWhatIsLentAlone) {
  Allocator allocator;
  { lend(allocator, 8 * kMiB); }
  {
    Arena arena = lend(allocator, kMiB);
    allocator.sweep();
    allocator.sweep();
    EXPECT_EQ(allocator.stats().pooled, 0u); // what larger arenas have touched behind it
    EXPECT_EQ(residentBytes(arena.data(), 8 * kMiB), kMiB);
    EXPECT_EQ(static_cast<char *>(arena.data())[kMiB - 1], 1);
  }
  allocator.sweep();
  EXPECT_EQ(allocator.stats().pooled, kMiB);
}

TEST(Arena, RespectsTheLimit) {
  Allocator allocator(10 * kMiB);
  { lend(allocator, 8 * kMiB); }
  void *values = *allocator.allocate(6 * kMiB); // does not fit beside what is pooled
  EXPECT_EQ(allocator.stats().pooled, 0u);
  EXPECT_EQ(allocator.stats().inUse, 6 * kMiB);
  StatusOr<Arena> tooLarge = allocator.lend(5 * kMiB);
  ASSERT_FALSE(tooLarge.ok());
  EXPECT_EQ(tooLarge.status().message(), "cannot allocate 5242880 bytes: 6291456 are in use, and the limit is 10485760");
  EXPECT_EQ(allocator.stats().inUse, 6 * kMiB);
  { lend(allocator, 4 * kMiB); }
  allocator.deallocate(values, 6 * kMiB);
  EXPECT_LE(allocator.stats().pooled, 10 * kMiB);
  {
    Arena arena = lend(allocator, 9 * kMiB);
    EXPECT_LE(allocator.stats().pooled, kMiB);
  }
  {
    Arena arena = lend(allocator, 2 * kMiB); // of the block of 9
    void *more = *allocator.allocate(kMiB);  // beside the 7 that the arena leaves
    EXPECT_EQ(allocator.stats().inUse + allocator.stats().pooled, 10 * kMiB);
    allocator.deallocate(more, kMiB);
  }
  void *more = *allocator.allocate(kMiB);
  {
    Arena arena = lend(allocator, 2 * kMiB);
    void *last = *allocator.allocate(kMiB);
    EXPECT_LE(allocator.stats().inUse + allocator.stats().pooled, 10 * kMiB);
    EXPECT_EQ(static_cast<char *>(arena.data())[2 * kMiB - 1], 1);
    allocator.deallocate(last, kMiB);
  }
  allocator.deallocate(more, kMiB);
  EXPECT_LE(allocator.stats().peakHeld, 10 * kMiB);
}

TEST(Arena, ThreadsTakeBlocksOfTheirOwn) {
  Allocator allocator(64 * kMiB);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 300; ++i) {
        uint64_t bytes = ((i * 7 + uint64_t(t)) % 31 + 1) << 12;
        StatusOr<Arena> arena = allocator.lend(bytes);
        ASSERT_TRUE(arena.ok());
        std::memset(arena->data(), t, bytes);
        void *value = *allocator.allocate(bytes);
        std::memset(value, t, bytes);
        if (i % 50 == 0)
          allocator.sweep();
        std::this_thread::yield();
        for (uint64_t at = 0; at < bytes; at += 4096)
          ASSERT_EQ(static_cast<char *>(arena->data())[at], t);
        allocator.deallocate(value, bytes);
      }
    });
  for (std::thread &each : threads)
    each.join();
  EXPECT_EQ(allocator.stats().inUse, 0u);
  EXPECT_LE(allocator.stats().arenaBlocks, 4u);
}

TEST(Allocator, KeepsALittleMoreThanHasLived) {
  constexpr uint64_t spare = Allocator::kSpareBytes;
  Allocator allocator;
  for (uint64_t size = 1; size <= 10; ++size) { // ten batches, of a size each
    void *data = *allocator.allocate(size * spare / 8);
    std::memset(data, 1, 1);
    allocator.deallocate(data, size * spare / 8);
    EXPECT_LE(allocator.stats().pooled, size * spare / 8 + spare);
  }
  EXPECT_GT(allocator.stats().pooled, spare);
  EXPECT_LE(allocator.stats().peakHeld, 10 * spare / 8 + spare);
}

TEST(Allocator, ValuesThatAreUsedAgainStay) {
  Allocator allocator;
  auto step = [&] {
    void *a = *allocator.allocate(5 * kMiB), *b = *allocator.allocate(5 * kMiB);
    allocator.deallocate(a, 5 * kMiB);
    allocator.deallocate(b, 5 * kMiB);
  };
  step();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(allocator.sweep());
    step();
  }
  EXPECT_EQ(allocator.stats().poolHits, 6u);
  allocator.deallocate(*allocator.allocate(5 * kMiB), 5 * kMiB);
  allocator.sweep(); // two were needed since the last one
  allocator.deallocate(*allocator.allocate(5 * kMiB), 5 * kMiB);
  allocator.sweep(); // one
  EXPECT_EQ(allocator.stats().pooled, 5 * kMiB);
  EXPECT_FALSE(allocator.sweep());
  EXPECT_EQ(allocator.stats().pooled, 0u);
}

/// Waits for up to ten seconds.
template <typename F>
bool happens(F what) {
  for (int i = 0; i < 1000 && !what(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return what();
}

TEST(Allocator, SweepsInTheBackground) {
  auto allocator = std::make_shared<Allocator>(0, std::chrono::milliseconds(20));
  for (int round = 0; round < 2; ++round) { // the job ends with the memory, and another one begins
    { lend(*allocator, kMiB); }
    allocator->deallocate(*allocator->allocate(1000), 1000);
    EXPECT_TRUE(happens([&] { return allocator->stats().pooled == 0; }));
  }
  { lend(*allocator, kMiB); }
  std::weak_ptr<Allocator> gone = allocator;
  allocator.reset(); // its job does not keep it
  EXPECT_TRUE(gone.expired());
}

#if !defined(__SANITIZE_THREAD__) && !(defined(__has_feature) && __has_feature(thread_sanitizer)) // it cannot follow threads of a child
TEST(Allocator, ChildrenSweepForThemselves) {
  auto allocator = std::make_shared<Allocator>(0, std::chrono::milliseconds(50));
  { lend(*allocator, kMiB); }
  pid_t child = ::fork(); // the parent's job is on its way
  if (child == 0) {
    { lend(*allocator, kMiB); }
    ::_exit(happens([&] { return allocator->stats().pooled == 0; }) ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(happens([&] { return allocator->stats().pooled == 0; }));
}
#endif

TEST(Background, JobsThatCanWaitWait) {
  auto start = std::chrono::steady_clock::now();
  std::promise<void> both;
  std::vector<int> order;
  Background::ofProcess().addLater(
      [&](bool) {
        order.push_back(2);
        both.set_value();
        return false;
      },
      std::chrono::milliseconds(60));
  Background::ofProcess().addLater(
      [&](bool) {
        order.push_back(1);
        return false;
      },
      std::chrono::milliseconds(20));
  both.get_future().wait();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(60));
}

//===--- Programs ----------------------------------------------------------===//

/// z = 4 x, with 2 x in the arena, which has `bytes` bytes; the last of them is written, too.
Builder quadruple(uint64_t bytes) {
  Builder b;
  SlotId x = b.argument(DType::F32, {4}), t = b.arena(DType::F32, {4}), rest = b.arena(DType::F32, {int64_t(bytes / 4 - 16)}),
         z = b.result(DType::F32, {4});
  b.code(floatKernels, {"twice"});
  b.push({FillStep{rest, {7}}, kNone});
  b.push(Builder::kernel(0, {x}, {t}, 4));
  b.push(Builder::kernel(0, {t}, {z}, 4));
  return b;
}

void expectQuadruple(Client &client, Executable &executable, float value) {
  auto result = executable.execute({{toDevice<float>(client, DType::F32, {4}, {value, 0, 1, 2})}});
  ASSERT_TRUE(result.ok()) << result.status().toString();
  EXPECT_EQ(toHost<float>(result->results[0][0]), (std::vector<float>{4 * value, 0, 4, 8}));
}

TEST(Arena, ProgramsOfADeviceShareIt) {
  auto client = makeClient();
  std::vector<std::shared_ptr<Executable>> programs;
  for (uint64_t size = 1; size <= 10; ++size)
    programs.push_back(*client->load(quadruple(size * kMiB).program));
  for (int round = 0; round < 2; ++round)
    for (size_t i = 0; i < programs.size(); ++i)
      expectQuadruple(*client, *programs[i], float(i));
  AllocatorStats stats = client->devices()[0]->memoryStats();
  EXPECT_EQ(stats.inUse, 0u); // no value lives, and no program runs
  EXPECT_EQ(stats.arenaBlocks, 1u);
  EXPECT_EQ(stats.arenas, 20u);
  EXPECT_LE(stats.arenas - stats.arenaHits, 5u); // 1, 2, 4, 8, 16 MiB of addresses
  EXPECT_LE(stats.pooled, 10 * kMiB + (64 << 10));
  EXPECT_LE(stats.peakHeld, 10 * kMiB + (64 << 10));
  programs.clear(); // their arena is the device's
  EXPECT_EQ(client->devices()[0]->memoryStats().arenaBlocks, 1u);
}

TEST(Arena, LargeProgramsAlternateUnderALimit) {
  ClientOptions options;
  options.memoryLimit = 20 * kMiB;
  auto client = *Client::create(options);
  auto first = *client->load(quadruple(18 * kMiB).program), second = *client->load(quadruple(19 * kMiB).program);
  for (int i = 0; i < 6; ++i) {
    expectQuadruple(*client, *first, float(i));
    expectQuadruple(*client, *second, float(i));
  }
  AllocatorStats stats = client->devices()[0]->memoryStats();
  EXPECT_LE(stats.peakHeld, 20 * kMiB);
  EXPECT_EQ(stats.arenas - stats.arenaHits, 1u); // 32 MiB of addresses
  EXPECT_EQ(stats.inUse, 0u);
}

// Under a limit an execution is given its memory when it is enqueued: in a queue they use one arena, one after the other.
TEST(Arena, ExecutionsInFlightShareOne) {
  ClientOptions options;
  options.memoryLimit = 20 * kMiB;
  auto client = *Client::create(options);
  auto large = *client->load(quadruple(12 * kMiB).program), small = *client->load(quadruple(kMiB).program);
  std::vector<BufferPtr> results;
  for (int i = 0; i < 40; ++i) {
    auto &executable = i % 3 ? *large : *small;
    auto result = executable.execute({{toDevice<float>(*client, DType::F32, {4}, {float(i), 0, 1, 2})}});
    ASSERT_TRUE(result.ok()) << result.status().toString();
    results.push_back(result->results[0][0]);
  }
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(toHost<float>(results[size_t(i)]), (std::vector<float>{4 * float(i), 0, 4, 8}));
  EXPECT_LE(client->devices()[0]->memoryStats().arenaBlocks, 2u);
}

TEST(Arena, DevicesHaveTheirOwn) {
  auto client = makeClient(3);
  auto program = quadruple(2 * kMiB).program;
  std::vector<std::thread> threads;
  for (uint32_t d = 0; d < 3; ++d)
    threads.emplace_back([&, d] {
      LoadOptions options;
      options.deviceAssignment = {d};
      auto executable = *client->load(program, options);
      for (int i = 0; i < 50; ++i) {
        auto result = executable->execute({{toDevice<float>(*client, DType::F32, {4}, {float(d), 0, 1, 2}, d)}});
        ASSERT_TRUE(result.ok()) << result.status().toString();
        ASSERT_EQ(toHost<float>(result->results[0][0]), (std::vector<float>{4 * float(d), 0, 4, 8}));
      }
    });
  for (std::thread &each : threads)
    each.join();
  for (uint32_t d = 0; d < 3; ++d)
    EXPECT_EQ(client->devices()[d]->memoryStats().arenaBlocks, 1u);
}

} // namespace
