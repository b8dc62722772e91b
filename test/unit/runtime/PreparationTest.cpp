// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PreparationTest.cpp - What constant arguments alone decide ----------===//
#include "TestPrograms.h"
#include "runtime/profile/ProgramGraph.h"
#include "runtime/profile/ProgramHlo.h"
#include "runtime/client/PreparedBytes.h"

#include <atomic>
#include <cstdlib>
#include <thread>

using namespace millrace::runtime;
using namespace millrace::runtime::test;

namespace {

/// z = x + p, where the preparation makes p = 2 w.
Program sumOfPrepared(uint32_t partitions = 1) {
  Builder b;
  SlotId x = b.argument(DType::F32, {3});
  b.argument(DType::F32, {3});
  SlotId z = b.result(DType::F32, {3});
  SlotId p = b.add({Slot::Kind::Argument, 2, 0, 12, DType::F32, Builder::dimsOf({3})});
  b.main().arguments.push_back(p);
  b.code(floatKernels, {"add", "twice"});
  b.push(Builder::kernel(0, {x, p}, {z}, 3));
  Function &prepare = b.program.functions.emplace_back();
  prepare.name = "prepare";
  prepare.slots = {{Slot::Kind::Argument, 0, 0, 12, DType::F32, Builder::dimsOf({3})}, {Slot::Kind::Result, 0, 0, 12, DType::F32, Builder::dimsOf({3})}};
  prepare.arguments = {0};
  prepare.results = {1};
  prepare.steps.push_back(Builder::kernel(1, {0}, {1}, 3));
  TensorSpec prepared;
  prepared.dtype = DType::F32;
  prepared.dims = {3};
  b.program.preparation = {1, {1}, {prepared}};
  b.program.numPartitions = partitions;
  return b.program;
}

struct PreparationTest : ::testing::Test {
  std::shared_ptr<Client> client = makeClient();
  std::shared_ptr<Executable> executable = *client->load(sumOfPrepared());
  BufferPtr x = buffer({1, 2, 3});

  BufferPtr buffer(const std::vector<float> &values) { return toDevice<float>(*client, DType::F32, {3}, values); }
  std::vector<float> run(const BufferPtr &w) {
    auto result = executable->execute({{x, w}});
    EXPECT_TRUE(result.ok()) << result.status().toString();
    return result.ok() ? toHost<float>(result->results[0][0]) : std::vector<float>();
  }
};

/// Recordings describe the arguments that no caller passes by what the preparation makes.
TEST_F(PreparationTest, IsDescribedInRecordings) {
  const Program program = sumOfPrepared();
  const std::string graph = profile::graphJson(program);
  EXPECT_NE(graph.find("[\"prepared 0\",\"argument\",\"\",\"\",0,\"f32[3]{0}\",\"\"]"), std::string::npos) << graph;
  EXPECT_NE(profile::hloProto(program).find("prepared"), std::string::npos);
}

/// A launch binds dims before it prepares, so that a damaged program could read beyond the caller's arguments.
TEST_F(PreparationTest, BindsNoDims) {
  for (uint32_t argument : {0u, 2u}) {
    Program program = sumOfPrepared();
    program.functions[0].numDims = 1;
    program.functions[0].dimBindings = {{0, argument, 0, {}}};
    const Status status = validate(program);
    EXPECT_EQ(status.ok(), argument == 0) << status.toString();
    EXPECT_EQ(status.message().find("binds a dim to prepared argument 0") == std::string::npos, argument == 0) << status.toString();
  }
}

/// What a preparation makes is one block of memory, so that the many panels of a model share huge pages.
TEST_F(PreparationTest, HasOneBlockOfMemory) {
  Program program = sumOfPrepared();
  // q = 2 w, too; the entry function does not read it.
  const TensorSpec spec = program.preparation.results[0];
  program.preparation.results.push_back(spec);
  Function &main = program.functions[0], &prepare = program.functions[1];
  main.slots.push_back({Slot::Kind::Argument, 3, 0, 12, DType::F32, Builder::dimsOf({3})});
  main.arguments.push_back(SlotId(main.slots.size() - 1));
  prepare.slots.push_back({Slot::Kind::Result, 1, 0, 12, DType::F32, Builder::dimsOf({3})});
  prepare.results.push_back(2);
  prepare.steps.push_back(Builder::kernel(1, {0}, {2}, 3));
  auto allocationsOf = [&](Program of, std::vector<float> &sums) {
    auto loaded = client->load(std::move(of));
    EXPECT_TRUE(loaded.ok()) << loaded.status().toString();
    const uint64_t before = client->devices()[0]->memoryStats().allocations;
    sums = toHost<float>((*loaded)->execute({{x, buffer({10, 20, 30})}})->results[0][0]);
    return client->devices()[0]->memoryStats().allocations - before;
  };
  std::vector<float> one, two;
  EXPECT_EQ(allocationsOf(program, two), allocationsOf(sumOfPrepared(), one));
  EXPECT_EQ(one, (std::vector<float>{21, 42, 63}));
  EXPECT_EQ(two, one);
}

TEST_F(PreparationTest, RunsOncePerBuffer) {
  BufferPtr w = buffer({10, 20, 30}), v = buffer({1, 1, 1});
  uint64_t before = preparationsOfProcess();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(run(w), (std::vector<float>{21, 42, 63}));
  EXPECT_EQ(executable->preparations().all, 1u);
  EXPECT_EQ(run(v), (std::vector<float>{3, 4, 5}));
  // Both are alive: they may take turns.
  EXPECT_EQ(run(w), (std::vector<float>{21, 42, 63}));
  EXPECT_EQ(run(v), (std::vector<float>{3, 4, 5}));
  EXPECT_EQ(executable->preparations().all, 2u);
  EXPECT_EQ(executable->preparations().changesInARow, 0u);
  EXPECT_EQ(preparationsOfProcess() - before, 2u);
}

TEST_F(PreparationTest, CountsChanges) {
  for (int i = 1; i <= 5; ++i) {
    BufferPtr w = buffer({float(i), 0, 0}); // the one before is gone, and this may have its address
    EXPECT_EQ(run(w), (std::vector<float>{float(1 + 2 * i), 2, 3}));
    EXPECT_EQ(executable->preparations().all, uint64_t(i));
    EXPECT_EQ(executable->preparations().changesInARow, uint64_t(i - 1));
  }
  BufferPtr w = buffer({0, 0, 0});
  run(w);
  run(w);
  EXPECT_EQ(executable->preparations().changesInARow, 0u);
}

TEST_F(PreparationTest, MemoryOfOthersIsReadEveryTime) {
  alignas(64) float values[16] = {1, 1, 1};
  auto w = client->viewOf(values, DType::F32, {3}, /*isMutable=*/true, client->devices()[0]->memories()[0], [] {});
  ASSERT_TRUE(w.ok());
  EXPECT_EQ(run(*w), (std::vector<float>{3, 4, 5}));
  values[0] = 5;
  EXPECT_EQ(run(*w), (std::vector<float>{11, 4, 5}));
  EXPECT_EQ(executable->preparations().all, 2u);
}

/// MILLRACE_PREPARED_BYTES while it lives: `more` bytes than the process keeps now.
struct PreparedLimit {
  explicit PreparedLimit(uint64_t more) { setenv("MILLRACE_PREPARED_BYTES", std::to_string(preparedBytesOfProcess() + more).c_str(), 1); }
  ~PreparedLimit() { unsetenv("MILLRACE_PREPARED_BYTES"); }
};

TEST_F(PreparationTest, KeepsNoMoreBytesThanItMay) {
  const uint64_t base = preparedBytesOfProcess(), before = preparationsNotKept();
  PreparedLimit limit(12);
  BufferPtr w = buffer({10, 20, 30}), v = buffer({1, 1, 1});
  EXPECT_EQ(run(w), (std::vector<float>{21, 42, 63}));
  EXPECT_EQ(preparedBytesOfProcess() - base, 12u);
  for (uint64_t times : {1, 2}) {
    EXPECT_EQ(run(v), (std::vector<float>{3, 4, 5}));
    EXPECT_EQ(preparationsNotKept() - before, times);
  }
  EXPECT_EQ(run(w), (std::vector<float>{21, 42, 63}));
  EXPECT_EQ(executable->preparations().all, 3u);
  // There is room again when what was kept is gone, of this program or of another one.
  w.reset();
  run(v);
  EXPECT_EQ(preparationsNotKept() - before, 2u);
  EXPECT_EQ(preparedBytesOfProcess() - base, 12u);
  std::shared_ptr<Executable> other = *client->load(sumOfPrepared());
  v.reset();
  std::swap(executable, other);
  v = buffer({2, 2, 2});
  EXPECT_EQ(run(v), (std::vector<float>{5, 6, 7}));
  EXPECT_EQ(preparationsNotKept() - before, 2u);
  executable.reset();
  other.reset();
  EXPECT_EQ(preparedBytesOfProcess(), base);
}

TEST_F(PreparationTest, DropsTheLastUsedOfManySets) {
  const uint64_t base = preparedBytesOfProcess();
  std::vector<BufferPtr> many;
  for (int i = 0; i < 257; ++i) {
    many.push_back(buffer({float(i), 0, 0}));
    EXPECT_EQ(run(many.back()), (std::vector<float>{float(1 + 2 * i), 2, 3}));
  }
  EXPECT_EQ(preparedBytesOfProcess() - base, 256u * 12u);
  EXPECT_EQ(run(many.back())[0], 513.0f);
  EXPECT_EQ(executable->preparations().all, 257u);
  EXPECT_EQ(run(many.front())[0], 1.0f);
  EXPECT_EQ(executable->preparations().all, 258u);
}

TEST_F(PreparationTest, ThreadsTakeTurns) {
  PreparedLimit limit(24); // of four sets two are kept
  std::vector<BufferPtr> many;
  for (int i = 0; i < 4; ++i)
    many.push_back(buffer({float(i), 0, 0}));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  std::atomic<uint64_t> notKept{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i)
        wrong += run(many[size_t(t + i) % 4])[0] != float(1 + 2 * ((t + i) % 4));
      notKept += preparationsNotKept();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(notKept, 0u);
}

TEST_F(PreparationTest, SurvivesItsFile) {
  auto bytes = serialize(sumOfPrepared());
  ASSERT_TRUE(bytes.ok());
  auto read = parse(*bytes);
  ASSERT_TRUE(read.ok()) << read.status().toString();
  EXPECT_EQ(read->preparation, sumOfPrepared().preparation);
  EXPECT_NE(toText(*read).find("prepare @prepare of arguments 1"), std::string::npos);
  executable = *client->load(*read);
  EXPECT_EQ(run(buffer({10, 20, 30})), (std::vector<float>{21, 42, 63}));
}

TEST_F(PreparationTest, EveryDeviceHasItsOwn) {
  auto two = makeClient(2);
  auto loaded = two->load(sumOfPrepared(2));
  ASSERT_TRUE(loaded.ok()) << loaded.status().toString();
  std::vector<std::vector<BufferPtr>> arguments;
  for (uint32_t d = 0; d < 2; ++d)
    arguments.push_back({toDevice<float>(*two, DType::F32, {3}, {0, 0, 0}, d), toDevice<float>(*two, DType::F32, {3}, {float(d), 1, 2}, d)});
  for (int i = 0; i < 2; ++i) {
    auto result = (*loaded)->execute(arguments);
    ASSERT_TRUE(result.ok()) << result.status().toString();
    for (uint32_t d = 0; d < 2; ++d)
      EXPECT_EQ(toHost<float>(result->results[d][0]), (std::vector<float>{2 * float(d), 2, 4}));
  }
  EXPECT_EQ((*loaded)->preparations().all, 2u);
}

TEST_F(PreparationTest, ErrorsAreNamed) {
  auto expectError = [](const char *part, auto change) {
    Program program = sumOfPrepared();
    change(program);
    Status status = validate(program);
    EXPECT_NE(status.toString().find(part), std::string::npos) << status.toString();
  };
  expectError("function 7", [](Program &p) { p.preparation.function = 7; });
  expectError("entry function", [](Program &p) { p.preparation.function = 0; });
  expectError("argument 5", [](Program &p) { p.preparation.arguments = {5}; });
  expectError("is donated", [](Program &p) { p.arguments[1].donated = true; });
  expectError("another number of arguments", [](Program &p) { p.preparation.arguments.clear(); });
  expectError("another shape", [](Program &p) { p.preparation.results[0].dims = {4}; });
  expectError("without a function", [](Program &p) { p.preparation.function = kNone; });
}

} // namespace
