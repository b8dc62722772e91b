// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/cpu/EmitterPool.h"

#include <gtest/gtest.h>

using namespace millrace::lowering;

namespace {

std::unique_ptr<ObjectEmitter> takeFrom(EmitterPool &pool, const CpuTarget &target) {
  auto taken = pool.take(target);
  EXPECT_TRUE(bool(taken));
  return std::move(*taken);
}

TEST(EmitterPool, GivesWhatWasGivenBack) {
  EmitterPool pool;
  const CpuTarget host = CpuTarget::host();
  std::unique_ptr<ObjectEmitter> first = takeFrom(pool, host);
  const ObjectEmitter *known = first.get();
  pool.give(std::move(first));
  EXPECT_EQ(pool.idleCount(), 1u);
  std::unique_ptr<ObjectEmitter> again = takeFrom(pool, host);
  EXPECT_EQ(again.get(), known);
  EXPECT_EQ(pool.idleCount(), 0u);
}

TEST(EmitterPool, GivesNoneOfAnotherTarget) {
  EmitterPool pool;
  pool.give(takeFrom(pool, CpuTarget::host()));
  const CpuTarget other = llvm::cantFail(CpuTarget::named("avx2"));
  EXPECT_EQ(takeFrom(pool, other)->cpu(), other);
  EXPECT_EQ(pool.idleCount(), 1u);
}

TEST(EmitterPool, KeepsNoMoreThanItsLimit) {
  EmitterPool pool;
  for (size_t i = 0; i < EmitterPool::kMostIdle + 2; ++i)
    pool.give(llvm::cantFail(ObjectEmitter::create(CpuTarget::host())));
  EXPECT_EQ(pool.idleCount(), EmitterPool::kMostIdle);
}

} // namespace
