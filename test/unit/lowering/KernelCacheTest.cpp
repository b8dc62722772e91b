// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/cpu/KernelCache.h"

#include <gtest/gtest.h>

using namespace millrace;
using namespace millrace::lowering;

namespace {

std::shared_ptr<const runtime::KernelEntry> kernel(size_t bytes) {
  auto entry = std::make_shared<runtime::KernelEntry>();
  entry->object.assign(bytes, 'x');
  return entry;
}

TEST(KernelCache, KeepsWhatWasUsedLastWithinItsLimit) {
  KernelCache cache(4096);
  cache.insert("a", kernel(1500));
  cache.insert("b", kernel(1500));
  EXPECT_TRUE(cache.find("a"));
  cache.insert("c", kernel(1500)); // b was not used for longest
  EXPECT_TRUE(cache.find("a"));
  EXPECT_FALSE(cache.find("b"));
  EXPECT_TRUE(cache.find("c"));
  EXPECT_LE(cache.bytes(), 4096u);
  cache.insert("whale", kernel(5000));
  EXPECT_FALSE(cache.find("whale"));
  EXPECT_TRUE(cache.find("a"));
  cache.insert("a", kernel(10)); // the first one stays
  EXPECT_EQ(cache.find("a")->object.size(), 1500u);
}

} // namespace
