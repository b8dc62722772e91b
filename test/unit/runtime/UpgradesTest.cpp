// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- UpgradesTest.cpp - Better code for a program that runs; work that can wait ===//
#include "TestPrograms.h"
#include "runtime/base/Background.h"
#include "runtime/program/KernelUpgrades.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace millrace::runtime;
using namespace millrace::runtime::test;

namespace {

/// A kernel "value" that writes `number`, made by whoever.
KernelEntry valueKernel(int number) {
  Constant object = compileC("int value(void **b, const long *d, long i, long e) { *(float *)b[0] = " + std::to_string(number) + "; return 0; }");
  KernelEntry entry;
  entry.symbol = "value";
  entry.object.assign(reinterpret_cast<const char *>(object.data), object.size);
  return entry;
}

KernelEntry named(std::string symbol) {
  KernelEntry entry;
  entry.symbol = std::move(symbol);
  return entry;
}

/// A program of one kernel, which writes 1 to its result, and is to be upgraded.
Program upgradable() {
  Builder b;
  SlotId z = b.result(DType::F32, {});
  KernelEntry first = valueKernel(1);
  b.program.objects.push_back(Constant::copy(first.object.data(), first.object.size()));
  b.program.kernels.push_back({"value", "value", {"stablehlo.constant"}, 1, 4});
  b.push(Builder::kernel(0, {}, {z}, 1));
  b.program.upgrades = std::make_shared<KernelUpgrades>();
  return b.program;
}

float call(const LoadedCode &code) {
  float result = -1;
  void *buffers[1] = {&result};
  EXPECT_EQ(code.kernel(0)(buffers, nullptr, 0, 1), 0);
  return result;
}

float execute(Executable &executable) {
  auto outcome = executable.execute({std::vector<BufferPtr>()});
  EXPECT_TRUE(outcome.ok()) << outcome.status().toString();
  return outcome.ok() ? toHost<float>(outcome->results[0][0])[0] : -1;
}

TEST(KernelUpgrades, ListenersGetWhatWasAndWhatComes) {
  KernelUpgrades upgrades;
  std::vector<std::string> early, late;
  size_t whole = 0;
  upgrades.listen([&](const KernelEntry &kernel) { early.push_back(kernel.symbol); });
  upgrades.whenWhole([&](const std::vector<KernelEntry> &kernels) { whole += kernels.size(); });
  upgrades.publish(named("a"));
  upgrades.listen([&](const KernelEntry &kernel) { late.push_back(kernel.symbol); });
  EXPECT_EQ(late, std::vector<std::string>{"a"});
  upgrades.publish(named("b"));
  EXPECT_EQ(whole, 0u);
  upgrades.finish(true);
  EXPECT_EQ(early, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(late, early);
  EXPECT_EQ(whole, 2u);
  upgrades.whenWhole([&](const std::vector<KernelEntry> &kernels) { whole += kernels.size(); });
  EXPECT_EQ(whole, 4u);
  EXPECT_TRUE(upgrades.await());
}

TEST(KernelUpgrades, PartsAreNotWhole) {
  KernelUpgrades upgrades;
  bool called = false;
  upgrades.whenWhole([&](const std::vector<KernelEntry> &) { called = true; });
  upgrades.publish(named("a"));
  auto awaited = std::async(std::launch::async, [&] { return upgrades.await(); });
  upgrades.finish(false);
  EXPECT_FALSE(awaited.get());
  upgrades.whenWhole([&](const std::vector<KernelEntry> &) { called = true; });
  EXPECT_FALSE(called);
  EXPECT_EQ(upgrades.published().size(), 1u);
}

TEST(KernelUpgrades, ACopyOfTheProgramHasTheBetterCode) {
  Program program = upgradable();
  Program better = upgraded(program, {valueKernel(1234567)});
  EXPECT_EQ(better.upgrades, nullptr);
  EXPECT_EQ(better.memory.code, better.objects[0].size);
  auto code = LoadedCode::load(better, {});
  ASSERT_TRUE(code.ok());
  EXPECT_EQ(call(**code), 1234567);
  EXPECT_TRUE(serialize(better).ok());
}

TEST(Upgrades, LoadedCodeChangesToBetterCode) {
  Program program = upgradable();
  auto code = LoadedCode::load(program, {});
  ASSERT_TRUE(code.ok()) << code.status().toString();
  KernelFunction first = (*code)->kernel(0);
  uint64_t bytes = (*code)->codeBytes();
  EXPECT_EQ(call(**code), 1);
  KernelEntry stranger = valueKernel(3);
  stranger.symbol = "other";
  program.upgrades->publish(stranger); // of no kernel of this program
  EXPECT_EQ(call(**code), 1);
  KernelEntry broken = valueKernel(3);
  broken.object.resize(broken.object.size() / 2);
  program.upgrades->publish(broken);
  EXPECT_EQ(call(**code), 1);
  program.upgrades->publish(valueKernel(2));
  EXPECT_EQ(call(**code), 2);
  EXPECT_GT((*code)->codeBytes(), bytes);
  float result = -1;
  void *buffers[1] = {&result};
  EXPECT_EQ(first(buffers, nullptr, 0, 1), 0); // a call that began before
  EXPECT_EQ(result, 1);
  auto later = LoadedCode::load(program, {});
  ASSERT_TRUE(later.ok());
  EXPECT_EQ(call(**later), 2);
  code->reset();
  program.upgrades->publish(valueKernel(4)); // nobody's code any more but the other's
  EXPECT_EQ(call(**later), 4);
}

TEST(Upgrades, ProgramsThatRunChange) {
  auto client = makeClient();
  Program program = upgradable();
  std::shared_ptr<KernelUpgrades> upgrades = program.upgrades;
  auto executable = client->load(std::make_shared<Program>(program));
  ASSERT_TRUE(executable.ok()) << executable.status().toString();
  EXPECT_EQ(execute(**executable), 1);
  // Beside executions that never stop: each sees the code of one moment, and moments do not go back.
  std::atomic<bool> isOver{false};
  std::thread publisher([&] {
    for (int i = 2; i < 30; ++i)
      upgrades->publish(valueKernel(i));
    isOver = true;
  });
  float last = 1;
  while (!isOver) {
    float now = execute(**executable);
    EXPECT_GE(now, last);
    last = now;
  }
  publisher.join();
  EXPECT_EQ(execute(**executable), 29);
}

TEST(Upgrades, SmallLoopsChange) {
  Builder b = doublingLoop(/*swaps=*/true);
  b.program.upgrades = std::make_shared<KernelUpgrades>();
  auto client = makeClient();
  auto executable = client->load(std::make_shared<Program>(b.program));
  ASSERT_TRUE(executable.ok()) << executable.status().toString();
  auto last = [&] {
    auto outcome = (*executable)->execute({{toDevice<float>(*client, DType::F32, {}, {3})}});
    EXPECT_TRUE(outcome.ok()) << outcome.status().toString();
    return outcome.ok() ? toHost<float>(outcome->results[0][0])[0] : -1;
  };
  EXPECT_EQ(last(), 192); // 3 x 2 x 2 ...
  Constant object = compileC("int add(void **b, const long *d, long i, long e) { *(float *)b[2] = *(float *)b[0] * 3; return 0; }");
  KernelEntry better;
  better.symbol = "add";
  better.object.assign(reinterpret_cast<const char *>(object.data), object.size);
  b.program.upgrades->publish(better);
  EXPECT_EQ(last(), 243); // 3 x 3 x 3 ...
}

TEST(Background, StepsRunOneAtATimeInOrder) {
  std::promise<void> done;
  std::atomic<int> inside{0};
  std::vector<int> seen;
  auto job = [&](int name, int steps, bool isLast) {
    return [&, name, isLast, steps](bool isOver) mutable {
      EXPECT_FALSE(isOver);
      EXPECT_EQ(inside++, 0);
      seen.push_back(name);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      --inside;
      if (--steps)
        return true;
      if (isLast)
        done.set_value();
      return false;
    };
  };
  Background::ofProcess().add(job(1, 3, false));
  Background::ofProcess().add(job(2, 2, true));
  done.get_future().wait();
  EXPECT_EQ(seen, (std::vector<int>{1, 1, 1, 2, 2}));
}

#if !defined(__SANITIZE_THREAD__) && !(defined(__has_feature) && __has_feature(thread_sanitizer)) // it cannot follow threads of a child
TEST(Background, ChildrenForgetTheJobsOfTheirParent) {
  std::promise<void> begun, mayEnd;
  int pipes[2];
  ASSERT_EQ(::pipe(pipes), 0);
  int steps = 0;
  Background::ofProcess().add([&, is = mayEnd.get_future().share()](bool) {
    if (steps++ == 0)
      begun.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return is.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
  });
  begun.get_future().wait();
  pid_t child = ::fork();
  if (child == 0) {
    int before = steps;
    std::promise<void> own;
    Background::ofProcess().add([&](bool) {
      own.set_value();
      return false;
    });
    bool isDone = own.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    char answer = isDone && steps == before ? 'y' : 'n';
    ::_exit(::write(pipes[1], &answer, 1) == 1 ? 0 : 1);
  }
  char answer = 0;
  EXPECT_EQ(::read(pipes[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  int status;
  ::waitpid(child, &status, 0);
  mayEnd.set_value();
  ::close(pipes[0]), ::close(pipes[1]);
  std::promise<void> idle; // what the first job refers to must outlive it
  Background::ofProcess().add([&](bool) {
    idle.set_value();
    return false;
  });
  idle.get_future().wait();
}
#endif

#if !defined(__SANITIZE_THREAD__) && !(defined(__has_feature) && __has_feature(thread_sanitizer))
// The thread begins the next step at once: it would have the lock again before who forks wakes up.
TEST(Background, WhoForksWaitsForOneStep) {
  static std::atomic<int> steps{0};
  static std::atomic<bool> isEnough{false};
  std::promise<void> ended;
  Background::ofProcess().add([&](bool) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ++steps;
    if (!isEnough)
      return true;
    ended.set_value();
    return false;
  });
  std::vector<int> waited;
  for (int i = 0; i < 7; ++i) {
    int before = steps;
    pid_t child = ::fork();
    if (child == 0)
      ::_exit(std::min(steps - before, 100));
    int status;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    waited.push_back(WEXITSTATUS(status));
  }
  isEnough = true;
  ended.get_future().wait();
  std::sort(waited.begin(), waited.end());
  EXPECT_LE(waited[3], 1); // sometimes more: another process may run between the two lines above
}
#endif

TEST(BackgroundDeathTest, WhoEndsTheProcessAtOnceWaits) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        Background::ofProcess().add([](bool isOver) {
          if (isOver)
            std::fputs("told", stderr);
          return !isOver;
        });
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "told");
}

/// A process of its own: exit() is what is looked at.
TEST(BackgroundDeathTest, WhoEndsTheProcessWaitsForOneStep) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        static std::atomic<int> steps{0};
        Background::ofProcess().add([](bool isOver) {
          if (isOver)
            std::fprintf(stderr, "told after %s", steps > 1000 ? "all steps" : "some steps");
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
          return ++steps < 2000;
        });
        while (steps == 0)
          std::this_thread::yield();
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "told after some steps");
}

// LLVM makes tables when it first needs them, and has them destroyed at exit.
TEST(BackgroundDeathTest, WhatStepsConstructIsDestroyedAfterTheThread) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        static std::atomic<int> steps{0};
        static std::atomic<bool> isDestroyed{false};
        struct Table {
          ~Table() { isDestroyed = true; }
        };
        Background::ofProcess().add([](bool) {
          static Table table;
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          if (isDestroyed)
            ::_exit(1);
          return ++steps < 2000;
        });
        while (steps < 2)
          std::this_thread::yield();
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

} // namespace
