// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CpuTargetTest.cpp - The machine that code is generated for ----------===//
#include "lowering/cpu/CpuTarget.h"
#include "lowering/cpu/emitters/Emitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace millrace::lowering;
using testing::HasSubstr;

namespace {

CpuTarget named(llvm::StringRef name) { return llvm::cantFail(CpuTarget::named(name)); }

std::string errorOf(llvm::Error error) { return llvm::toString(std::move(error)); }

TEST(CpuTarget, NamedMachinesAreTheSameEverywhere) {
  EXPECT_EQ(named("x86-64-v3").cachesText(), "32K/8,1M/16,32M/16");
  EXPECT_EQ(named("sapphirerapids").cachesText(), "48K/12,2M/16,32M/16");
  EXPECT_EQ(named("aarch64").cachesText(), "32K/8,1M/16,32M/16");
  EXPECT_FALSE(named("aarch64").has("dotprod"));
  EXPECT_TRUE(named("aarch64-dotprod").has("dotprod"));
  EXPECT_EQ(named("x86-64-v4").threads, 2u);
}

TEST(CpuTarget, CachesAreReadAsTheyAreWritten) {
  CpuTarget target = named("avx2");
  for (const char *text : {"32K/8,512K/8", "48K/12,2M/16,105M/15", "16K/4,128K/8,4M/16,64M/16"}) {
    ASSERT_EQ(errorOf(target.setCaches(text)), "");
    EXPECT_EQ(target.cachesText(), text);
  }
  ASSERT_EQ(errorOf(target.setCaches("49152/12,1310720/20")), "");
  EXPECT_EQ(target.cachesText(), "48K/12,1280K/20");
  EXPECT_EQ(target.cacheBytes(2), 1310720);
  EXPECT_EQ(target.cacheBytes(3), 0);
}

TEST(CpuTarget, CachesThatCannotBe) {
  CpuTarget target = named("avx2");
  const CpuTarget before = target;
  for (const char *text : {"", "32K/8", "32K,1M", "32K/0,1M/16", "1M/16,32K/8", "-32K/8,1M/16", "32G/8,64G/8", "99999999999999999999/8,1M/16", "32K/8,1M/x",
                           "64/8,1M/16", "32K/8,1M/16,2M/16,4M/16,8M/16", "32K/8,,1M/16", "32K/8 ,1M/16"})
    EXPECT_THAT(errorOf(target.setCaches(text)), HasSubstr("for example 32K/8,1M/16,32M/16")) << text;
  EXPECT_TRUE(target == before);
}

TEST(CpuTarget, OverridesChangeWhatTheyName) {
  CpuTarget target = named("avx512");
  ASSERT_EQ(errorOf(applyOverrides({"", 48, ""}, target)), "");
  EXPECT_EQ(target.threads, 48u);
  EXPECT_EQ(target.cpu, "x86-64-v4");
  ASSERT_EQ(errorOf(applyOverrides({"avx2", 0, "32K/8,256K/4"}, target)), "");
  EXPECT_EQ(target.cpu, "x86-64-v3");
  EXPECT_EQ(target.threads, 2u); // a named machine has its own
  EXPECT_EQ(target.cacheBytes(2), 256 << 10);
  EXPECT_THAT(errorOf(applyOverrides({"", 2000, ""}, target)), HasSubstr("target-threads expects a number from 1 to 1024, but got 2000"));
  EXPECT_THAT(errorOf(applyOverrides({"z80", 0, ""}, target)), HasSubstr("target expects host"));
}

TEST(CpuTarget, EverythingIsInTheKey) {
  const CpuTarget base = named("avx2");
  CpuTarget threads = base, caches = base, clock = base, features = base, line = base;
  threads.threads = 3;
  llvm::cantFail(caches.setCaches("32K/8,512K/8"));
  clock.gigahertz = 4;
  line.caches.front().lineBytes = 128;
  features.features.push_back("zzz");
  for (const CpuTarget &other : {threads, caches, clock, features, line}) {
    EXPECT_NE(base.keyParts(), other.keyParts());
    EXPECT_FALSE(base == other);
  }
  EXPECT_TRUE(base.hasInstructionsOf(threads) && base.hasInstructionsOf(caches));
  EXPECT_FALSE(base.hasInstructionsOf(features));
}

TEST(CpuTarget, EmittersAreToldTheMachine) {
  CpuTarget target = named("avx512");
  llvm::cantFail(applyOverrides({"", 7, "48K/12,2M/16"}, target));
  KernelTarget kernel = kernelTarget(target);
  EXPECT_EQ(kernel.threads, 7);
  EXPECT_EQ(kernel.l1Bytes, 48 << 10);
  EXPECT_EQ(kernel.l1Ways, 12);
  EXPECT_EQ(kernel.l2Bytes, 2 << 20);
  EXPECT_EQ(kernel.gigahertz, target.gigahertz);
  EXPECT_EQ(kernel.lineBytes, 64);
  EXPECT_EQ(kernel.crowdedBytes(), 2048);
  llvm::cantFail(applyOverrides({"", 7, "32K/8,1M/16"}, target));
  EXPECT_EQ(kernelTarget(target).crowdedBytes(), 2048);
  llvm::cantFail(applyOverrides({"", 7, "64K/4,1M/16"}, target));
  EXPECT_EQ(kernelTarget(target).crowdedBytes(), 8192);
  target.caches.front().lineBytes = 128;
  EXPECT_EQ(kernelTarget(target).lineBytes, 128);
}

TEST(CpuTarget, DescriptionSaysHowToAskForItAgain) {
  CpuTarget target = named("avx2");
  target.threads = 12;
  EXPECT_THAT(target.describe(), HasSubstr("as options: --target-threads=12 --target-caches=32K/8,1M/16,32M/16"));
}

} // namespace
