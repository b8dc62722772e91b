// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/cpu/KernelCache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using namespace millrace;
using namespace millrace::lowering;

namespace {

std::shared_ptr<const runtime::KernelEntry> kernel(size_t bytes) {
  auto entry = std::make_shared<runtime::KernelEntry>();
  entry->object.assign(bytes, 'x');
  return entry;
}

bool has(KernelCache &cache, const char *key) {
  if (cache.findOrClaim(key))
    return true;
  cache.abandon(key);
  return false;
}

TEST(KernelCache, KeepsWhatWasUsedLastWithinItsLimit) {
  KernelCache cache(4096);
  cache.insert("a", kernel(1500));
  cache.insert("b", kernel(1500));
  EXPECT_TRUE(has(cache, "a"));
  cache.insert("c", kernel(1500)); // b was not used for longest
  EXPECT_TRUE(has(cache, "a"));
  EXPECT_FALSE(has(cache, "b"));
  EXPECT_TRUE(has(cache, "c"));
  EXPECT_LE(cache.bytes(), 4096u);
  cache.insert("whale", kernel(5000));
  EXPECT_FALSE(has(cache, "whale"));
  EXPECT_TRUE(has(cache, "a"));
  cache.insert("a", kernel(10)); // the first one stays
  EXPECT_EQ(cache.findOrClaim("a")->object.size(), 1500u);
}

TEST(KernelCache, OneThreadMakesAnEntryAndTheOthersWait) {
  KernelCache cache(4096);
  std::atomic<int> made{0}, found{0};
  auto ask = [&] {
    if (cache.findOrClaim("a")) {
      ++found;
      return;
    }
    // The first gives up: one that waits takes over.
    if (++made == 1)
      return cache.abandon("a");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    cache.insert("a", kernel(8));
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back(ask);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(made, 2);
  EXPECT_EQ(found, 4);
}

TEST(KernelCache, AnEntryAboveTheLimitHoldsNobodyUp) {
  KernelCache cache(64);
  EXPECT_FALSE(cache.findOrClaim("whale"));
  cache.insert("whale", kernel(5000));
  EXPECT_FALSE(cache.findOrClaim("whale"));
}

TEST(KernelCache, WhoClaimsSeveralGetsAllOfThemAtOnce) {
  KernelCache cache(4096);
  std::atomic<int> holders{0}, most{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<std::string> keys = t % 2 ? std::vector<std::string>{"a", "b"} : std::vector<std::string>{"b", "a"};
      for (int i = 0; i < 200; ++i) {
        cache.claim(keys);
        most = std::max<int>(most, ++holders);
        std::this_thread::yield();
        --holders;
        for (const std::string &key : keys)
          cache.abandon(key);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(cache.findOrClaim("a"), nullptr);
}

} // namespace
