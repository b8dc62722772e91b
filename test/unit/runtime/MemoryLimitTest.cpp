// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Under a limit, new buffers wait for executions in flight that give memory back, and for no other.
#include "TestPrograms.h"

#include "runtime/client/Executor.h"

#include <chrono>
#include <cstring>
#include <thread>

using namespace millrace::runtime;
using namespace millrace::runtime::test;

namespace {

constexpr int64_t kElements = 250'000;
constexpr uint64_t kBytes = kElements * 4;

/// 20 ms of work on a megabyte, for one float.
Builder slowSum(uint32_t devices = 1) {
  Builder b;
  b.program.numPartitions = devices;
  SlotId x = b.argument(DType::F32, {kElements}), z = b.result(DType::F32, {1});
  b.code(R"(
int slow(void **b, const long long *d, long long begin, long long end) {
  float *x = b[0], *z = b[1];
  float sum = 0;
  for (volatile int i = 0; i < 10000000; ++i);
  for (int i = 0; i < 250000; ++i) sum += x[i];
  z[0] = sum;
  return 0;
})",
         {"slow"});
  SlotId t = devices > 1 ? b.arena(DType::F32, {1}) : z;
  b.push(Builder::kernel(0, {x}, {t}, 1));
  if (devices > 1) {
    CollectiveStep s;
    s.kind = CollectiveStep::Kind::AllReduce;
    s.arguments = {t};
    s.results = {z};
    s.groupMode = CollectiveStep::Groups::CrossPartition;
    s.reduction = CollectiveStep::Reduction::Sum;
    s.name = "collective";
    b.push({s, b.location("spmd.py:7")});
  }
  return b;
}

std::shared_ptr<Client> limitedClient(uint64_t limit, uint32_t devices = 1) {
  ClientOptions options;
  options.numDevices = devices;
  options.memoryLimit = limit;
  options.timeoutSeconds = 20;
  auto client = Client::create(options);
  EXPECT_TRUE(client.ok()) << client.status().toString();
  return *client;
}

StatusOr<BufferPtr> tryUpload(Client &client, float value, uint32_t device = 0) {
  std::vector<float> values(kElements, value);
  return client.bufferFromHost(values.data(), DType::F32, {kElements}, {}, HostSemantics::OnlyDuringCall,
                               client.devices()[device]->memories()[0]);
}

/// That nobody waited: a wait in vain would end at the client's timeout.
class AtOnce {
public:
  ~AtOnce() { EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10)); }

private:
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

// Two executions in flight and memory for their arguments: the third argument waits for the first execution.
TEST(MemoryLimit, UploadsWaitForExecutionsInFlight) {
  for (uint32_t devices : {1, 4}) {
    auto client = limitedClient(2 * kBytes + kBytes / 2, devices);
    auto executable = client->load(slowSum(devices).program);
    ASSERT_TRUE(executable.ok()) << executable.status().toString();
    std::vector<BufferPtr> sums;
    for (int i = 0; i < 12; ++i) {
      std::vector<std::vector<BufferPtr>> arguments;
      for (uint32_t d = 0; d < devices; ++d) {
        auto buffer = tryUpload(*client, float(i), d);
        ASSERT_TRUE(buffer.ok()) << buffer.status().toString();
        arguments.push_back({*buffer});
      }
      auto result = (*executable)->execute(arguments);
      ASSERT_TRUE(result.ok()) << result.status().toString();
      sums.push_back(result->results[0][0]);
    }
    for (int i = 0; i < 12; ++i)
      EXPECT_EQ(toHost<float>(sums[i]), std::vector<float>{float(i) * kElements * devices});
    EXPECT_LE(client->devices()[0]->memoryStats().peak, 2 * kBytes + kBytes / 2);
  }
}

// An upload does not take what an execution in flight will need for its temporaries and results.
TEST(MemoryLimit, UploadsLeaveMemoryToExecutions) {
  Builder b;
  SlotId x = b.argument(DType::F32, {kElements}), t = b.arena(DType::F32, {kElements}), z = b.result(DType::F32, {kElements});
  b.code(floatKernels, {"twice"});
  b.push(Builder::kernel(0, {x}, {t}, kElements));
  b.push(Builder::kernel(0, {t}, {z}, kElements));
  auto client = limitedClient(4 * kBytes);
  auto executable = client->load(b.program);
  ASSERT_TRUE(executable.ok()) << executable.status().toString();
  std::vector<Event> done;
  for (int i = 0; i < 50; ++i) {
    auto buffer = tryUpload(*client, float(i));
    ASSERT_TRUE(buffer.ok()) << buffer.status().toString();
    auto result = (*executable)->execute({{*buffer}});
    ASSERT_TRUE(result.ok()) << result.status().toString();
    done.push_back(result->done[0]);
  }
  for (const Event &each : done)
    EXPECT_TRUE(each.await().ok()) << each.await().toString();
}

// What is held by others than executions does not come back.
TEST(MemoryLimit, FailsWhenNothingInFlightHelps) {
  auto client = limitedClient(2 * kBytes + kBytes / 2);
  auto executable = client->load(slowSum().program);
  ASSERT_TRUE(executable.ok());
  auto first = tryUpload(*client, 1), second = tryUpload(*client, 2);
  auto result = (*executable)->execute({{*first}});
  ASSERT_TRUE(result.ok());
  AtOnce atOnce;
  auto third = tryUpload(*client, 3);
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.status().code(), Code::ResourceExhausted);
  EXPECT_NE(third.status().message().find("CpuDevice(id=0): cannot allocate 1000000 bytes"), std::string::npos) << third.status().toString();
  EXPECT_TRUE(result->done[0].isReady()); // but it was waited for
}

// The thread that asks for memory is the one that the execution waits for: with its argument, or what was made of it.
TEST(MemoryLimit, DoesNotWaitForArgumentsOfItsOwn) {
  auto client = limitedClient(2 * kBytes + kBytes / 2);
  auto executable = client->load(slowSum().program);
  ASSERT_TRUE(executable.ok());
  auto promised = client->promise(DType::F32, {kElements}, client->devices()[0]->memories()[0]);
  ASSERT_TRUE(promised.ok());
  auto second = tryUpload(*client, 2);
  auto waiting = (*executable)->execute({{promised->buffer}}), behind = (*executable)->execute({{*second}});
  ASSERT_TRUE(waiting.ok() && behind.ok());
  second = StatusOr<BufferPtr>(BufferPtr());
  {
    AtOnce atOnce;
    EXPECT_EQ(tryUpload(*client, 3).status().code(), Code::ResourceExhausted);
  }
  std::vector<float> ones(kElements, 1);
  std::memcpy(promised->storage->data(), ones.data(), kBytes);
  promised->ready.set();
  EXPECT_EQ(toHost<float>(waiting->results[0][0]), std::vector<float>{float(kElements)});
  EXPECT_EQ(toHost<float>(behind->results[0][0]), std::vector<float>{float(2 * kElements)});
}

// An execution waits for what this thread feeds; an execution with collectives waits behind it on one of two devices.
TEST(MemoryLimit, DoesNotWaitForExecutionsThatAreFed) {
  auto client = limitedClient(kBytes + kBytes / 2, 2);
  Builder b;
  SlotId z = b.result(DType::F32, {2});
  b.push({TransferStep{TransferStep::Kind::Infeed, {z}, 0, true, {}, ""}, kNone});
  auto fed = client->load(b.program), meeting = client->load(slowSum(2).program);
  ASSERT_TRUE(fed.ok() && meeting.ok());
  auto waiting = (*fed)->execute({{}});
  ASSERT_TRUE(waiting.ok());
  auto behind = (*meeting)->execute({{*tryUpload(*client, 1, 0)}, {*tryUpload(*client, 1, 1)}});
  ASSERT_TRUE(behind.ok());
  {
    AtOnce atOnce;
    EXPECT_EQ(tryUpload(*client, 3, 0).status().code(), Code::ResourceExhausted);
    EXPECT_EQ(tryUpload(*client, 3, 1).status().code(), Code::ResourceExhausted);
  }
  client->devices()[0]->feed({std::string(8, '\0')});
  EXPECT_EQ(toHost<float>(behind->results[1][0]), std::vector<float>{float(2 * kElements)});
  EXPECT_TRUE(waiting->done[0].await().ok());
}

// Callbacks run where the work was done: on a thread that others may wait for.
TEST(MemoryLimit, CallbacksDoNotWait) {
  auto client = limitedClient(2 * kBytes + kBytes / 2);
  auto executable = client->load(slowSum().program);
  ASSERT_TRUE(executable.ok());
  bool wasInside = false; // else the execution had ended before the callback was there
  for (int attempt = 0; attempt < 50 && !wasInside; ++attempt) {
    auto first = (*executable)->execute({{*tryUpload(*client, 1)}}), second = (*executable)->execute({{*tryUpload(*client, 2)}});
    ASSERT_TRUE(first.ok() && second.ok());
    EventSource told;
    first->done[0].onReady([&, caller = std::this_thread::get_id()](const Status &) {
      if (wasInside = std::this_thread::get_id() != caller; wasInside) {
        AtOnce atOnce;
        EXPECT_TRUE(client->uninitialized(DType::F32, {kElements}, client->devices()[0]->memories()[0]).ok()); // of the first one's memory
        auto held = tryUpload(*client, 3), more = tryUpload(*client, 3); // the second execution cannot begin before this ends
        EXPECT_TRUE(held.ok() && !more.ok());
      }
      told.set();
    });
    EXPECT_TRUE(told.event().awaitFor(20));
    EXPECT_TRUE(second->done[0].await().ok());
  }
  EXPECT_TRUE(wasInside);
}

// Threads that all wait for memory get it or an error, and nobody waits for ever.
TEST(MemoryLimit, ManyThreads) {
  const uint32_t devices = 2;
  auto client = limitedClient(4 * kBytes, devices);
  auto meeting = client->load(slowSum(devices).program);
  LoadOptions onSecond;
  onSecond.deviceAssignment = {1};
  auto single = client->load(slowSum().program, onSecond);
  ASSERT_TRUE(meeting.ok() && single.ok());
  std::atomic<int> ran{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      std::vector<Event> done;
      for (int i = 0; i < 10; ++i) {
        std::vector<std::vector<BufferPtr>> arguments;
        for (uint32_t d = t % 2; d < devices; ++d)
          if (auto buffer = tryUpload(*client, 1, d); buffer.ok())
            arguments.push_back({*buffer});
        if (arguments.size() + t % 2 < devices)
          continue;
        auto result = (t % 2 ? *single : *meeting)->execute(arguments);
        ASSERT_TRUE(result.ok()) << result.status().toString();
        done.push_back(result->done[0]);
        ++ran;
      }
      for (const Event &each : done) {
        Status status = each.await();
        EXPECT_TRUE(status.ok() || status.code() == Code::ResourceExhausted) << status.toString();
      }
    });
  for (std::thread &t : threads)
    t.join();
  EXPECT_GT(ran, 10);
}

TEST(MemoryLimit, SizesThatCannotBe) {
  StatusOr<uint64_t> bytes = denseBytes(DType::F32, {int64_t(1) << 31, int64_t(1) << 31}); // 2^64 wrap to 0
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.status().message(), "a tensor of shape f32[2147483648,2147483648] takes more than 70368744177664 bytes");
  EXPECT_EQ(*denseBytes(DType::F32, {int64_t(1) << 62, 0, int64_t(1) << 62}), 0u);
  EXPECT_EQ(*denseBytes(DType::F32, {int64_t(1) << 44}), uint64_t(1) << 46);
}

} // namespace
