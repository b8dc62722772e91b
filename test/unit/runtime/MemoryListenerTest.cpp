// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryListenerTest.cpp - Another profiler is told of memory ----------===//
#include "runtime/profile/MemoryListener.h"
#include "runtime/buffer/Memory.h"
#include "runtime/profile/Recorder.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

using namespace millrace::runtime;

namespace {

std::vector<std::tuple<uint32_t, void *, int64_t, uint64_t>> told;

TEST(MemoryListener, IsToldOfValuesOfDevicesWhileSomebodyRecords) {
  auto ours = std::make_shared<Allocator>(), stranger = std::make_shared<Allocator>();
  profile::nameAllocator(ours.get(), 3);
  profile::setMemoryListener([](uint32_t device, void *data, int64_t bytes, uint64_t inUse) { told.emplace_back(device, data, bytes, inUse); });
  auto useAll = [&] {
    StatusOr<void *> first = ours->allocate(100), second = ours->allocate(50), other = stranger->allocate(70);
    ASSERT_TRUE(first.ok() && second.ok() && other.ok());
    ours->deallocate(*first, 100);
    ASSERT_TRUE(ours->lend(4096).ok()); // an arena: threads of the device give it back
    stranger->deallocate(*other, 70);
    const std::vector<std::tuple<uint32_t, void *, int64_t, uint64_t>> expected{{3, *first, 100, 100}, {3, *second, 50, 150}, {3, *first, -100, 50}};
    if (profile::isOn())
      EXPECT_EQ(told, expected);
    ours->deallocate(*second, 50);
  };
  useAll();
  EXPECT_TRUE(told.empty()) << "nobody records";
  {
    profile::Session session;
    useAll();
    EXPECT_EQ(told.size(), 4u);
  }
  profile::setMemoryListener(nullptr);
}

} // namespace
