// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LoopTest.cpp - Loops of programs, as lists of calls and by the executor -===//
#include "TestPrograms.h"
#include "runtime/base/Machine.h"
#include "runtime/client/Executor.h"

#include <algorithm>
#include <cstring>

using namespace millrace::runtime;
using namespace millrace::runtime::test;

namespace {

TEST(Loops, LoopsCarryByExchangeAndByCopy) {
  auto client = makeClient();
  for (bool swaps : {true, false})
    for (auto [start, expected] : {std::pair{1.f, 128.f}, {60.f, 120.f}, {30.f, 120.f}, {200.f, 200.f}})
      EXPECT_EQ(run<float>(*client, doublingLoop(swaps).program, {toDevice<float>(*client, DType::F32, {}, {start})}),
                std::vector<float>{expected})
          << swaps << " " << start;
}

/// Whether the first loop of `program` is a list of calls.
bool hasSmallLoop(const Program &program) {
  auto code = LoadedCode::load(program, {});
  EXPECT_TRUE(code.ok()) << code.status().toString();
  auto plan = code.ok() ? Plan::create(std::make_shared<Program>(program), *code) : code.status();
  EXPECT_TRUE(plan.ok()) << plan.status().toString();
  return plan.ok() && (*plan)->loops.begin()->second.small.has_value();
}

TEST(Loops, LoopsOfSmallKernelsAreListsOfCalls) {
  for (bool swaps : {true, false}) {
    Program program = doublingLoop(swaps).program;
    EXPECT_TRUE(hasSmallLoop(program)) << swaps;
    // What threads may share, what streams through memory, and a shape of run time need the executor.
    auto changed = [&](auto change) {
      Program other = program;
      change(other, std::get<KernelStep>(std::get<LoopStep>(other.functions[0].steps[1].body).body[0].body));
      return hasSmallLoop(other);
    };
    auto shared = [](uint64_t picoseconds) {
      return [=](Program &, KernelStep &kernel) { kernel.end = DimExpr::constant(2), kernel.picosecondsPerIteration = picoseconds; };
    };
    EXPECT_FALSE(changed(shared(ThreadPool::leastPieceAwake))) << swaps;
    EXPECT_TRUE(changed(shared(ThreadPool::leastPieceAwake - 1))) << swaps;
    EXPECT_FALSE(changed([](Program &other, KernelStep &) { other.kernels[0].bytesAccessed = Machine::host().cacheBytes(2); })) << swaps;
    EXPECT_FALSE(changed([](Program &other, KernelStep &kernel) { other.functions[0].numDims = 1, kernel.dims = {0}; })) << swaps;
  }
}

// (s, n) := (s + 1 through scratch, copy of s) until s == limit: both parities of the exchanged pair, a copy, scratch.
TEST(Loops, SmallLoopsHaveScratchAndCopies) {
  auto client = makeClient();
  for (float limit : {0.f, 1.f, 2.f, 7.f, 8.f}) {
    Builder b;
    SlotId x = b.argument(DType::F32, {}), s = b.arena(DType::F32, {}), next = b.arena(DType::F32, {}), last = b.arena(DType::F32, {}),
           p = b.arena(DType::I1, {}), end = b.constant<float>(DType::F32, {}, {limit}), z = b.result(DType::F32, {2});
    b.code(R"(
typedef long long i64;
int one_more(void **b, const i64 *d, i64 begin, i64 end) {
  float *scratch = b[2];
  scratch[7] = *(float *)b[0] + 1;
  *(float *)b[1] = scratch[7];
  return 0;
}
int less(void **b, const i64 *d, i64 begin, i64 end) { *(unsigned char *)b[2] = *(float *)b[0] < *(float *)b[1]; return 0; }
int both(void **b, const i64 *d, i64 begin, i64 end) {
  ((float *)b[2])[0] = *(float *)b[0], ((float *)b[2])[1] = *(float *)b[1];
  return 0;
})",
           {"one_more", "less", "both"});
    b.push({CopyStep{x, s}, kNone});
    b.push({CopyStep{x, last}, kNone});
    LoopStep loop;
    loop.cond = {Builder::kernel(1, {s, end}, {p}, 1)};
    loop.predicate = p;
    loop.body = {{CopyStep{s, last}, kNone}, Builder::kernel(0, {s}, {next}, 1)};
    std::get<KernelStep>(loop.body[1].body).scratchBytes = 64;
    loop.carried = {{s, next}};
    b.push({loop, kNone});
    b.push(Builder::kernel(2, {s, last}, {z}, 1));
    EXPECT_TRUE(hasSmallLoop(b.program));
    EXPECT_EQ(run<float>(*client, b.program, {toDevice<float>(*client, DType::F32, {}, {0})}),
              (std::vector<float>{limit, std::max(0.f, limit - 1)}));
  }
}

TEST(Loops, SmallLoopsTellTheStepThatFails) {
  Builder b;
  SlotId x = b.argument(DType::F32, {}), s = b.arena(DType::F32, {}), n = b.arena(DType::F32, {}), p = b.arena(DType::I1, {}),
         limit = b.constant<float>(DType::F32, {}, {100}), z = b.result(DType::F32, {});
  b.code(floatKernels, {"add", "less", "fail"});
  uint32_t here = b.location("model.py:7");
  b.push({CopyStep{x, s}, kNone});
  LoopStep loop;
  loop.cond = {Builder::kernel(1, {s, limit}, {p}, 1)};
  loop.predicate = p;
  loop.body = {Builder::kernel(0, {s, s}, {n}, 1), Builder::kernel(2, {}, {}, 1)};
  loop.body[1].location = here;
  loop.carried = {{s, n}};
  b.push({loop, kNone});
  b.push({CopyStep{s, z}, kNone});
  EXPECT_TRUE(hasSmallLoop(b.program));
  auto client = makeClient();
  std::string message = runStatus(*client, b.program, {toDevice<float>(*client, DType::F32, {}, {1})}).toString();
  EXPECT_NE(message.find("kernel 'fail' failed: an index is out of bounds"), std::string::npos) << message;
  EXPECT_NE(message.find("model.py:7"), std::string::npos) << message;
}

// Fibonacci: (a, b) := (b, a + b). The next value of a is the state b.
TEST(Loops, LoopPermutesStates) {
  Builder builder;
  SlotId limit = builder.argument(DType::F32, {}), a = builder.arena(DType::F32, {}), b = builder.arena(DType::F32, {}),
         sum = builder.arena(DType::F32, {}), p = builder.arena(DType::I1, {}), z = builder.result(DType::F32, {});
  builder.code(floatKernels, {"add", "less"});
  float one = 1;
  std::vector<uint8_t> pattern(4);
  std::memcpy(pattern.data(), &one, 4);
  builder.push({FillStep{a, pattern}, kNone});
  builder.push({FillStep{b, pattern}, kNone});
  LoopStep loop;
  loop.cond = {Builder::kernel(1, {a, limit}, {p}, 1)};
  loop.predicate = p;
  loop.body = {Builder::kernel(0, {a, b}, {sum}, 1)};
  loop.carried = {{a, b}, {b, sum}};
  builder.push({loop, kNone});
  builder.push({CopyStep{a, z}, kNone});
  auto client = makeClient();
  EXPECT_EQ(run<float>(*client, builder.program, {toDevice<float>(*client, DType::F32, {}, {50})}),
            std::vector<float>{55});
}

/// After each number of turns: three states that take each other's places, two that do, and one that remembers what another was two turns ago. By a list
/// of calls, and by the executor, which is needed where threads may share a kernel.
TEST(Loops, LoopRotatesStates) {
  const int64_t n = 1500; // more than a block of what is brought home
  auto client = makeClient();
  for (bool isSmall : {true, false})
    for (int turns = 0; turns < 8; ++turns) {
      Builder builder;
      SlotId turn = builder.arena(DType::F32, {}), nextTurn = builder.arena(DType::F32, {}), p = builder.arena(DType::I1, {}),
             limit = builder.constant<float>(DType::F32, {}, {float(turns)}), one = builder.constant<float>(DType::F32, {}, {1});
      auto filled = [&](float value) {
        SlotId slot = builder.arena(DType::F32, {n});
        std::vector<uint8_t> pattern(4);
        std::memcpy(pattern.data(), &value, 4);
        builder.push({FillStep{slot, pattern}, kNone});
        return slot;
      };
      SlotId a = filled(1), b = filled(2), c = filled(3), d = filled(4), e = filled(5), older = filled(6), old = filled(7), now = filled(8),
             z = builder.result(DType::F32, {9});
      builder.code(R"(
typedef long long i64;
int add(void **b, const i64 *d, i64 begin, i64 end) { *(float *)b[2] = *(float *)b[0] + *(float *)b[1]; return 0; }
int less(void **b, const i64 *d, i64 begin, i64 end) { *(unsigned char *)b[2] = *(float *)b[0] < *(float *)b[1]; return 0; }
int fill(void **b, const i64 *d, i64 begin, i64 end) { for (int i = 0; i < 1500; ++i) ((float *)b[1])[i] = 100 + *(float *)b[0]; return 0; }
int change(void **b, const i64 *d, i64 begin, i64 end) { ((float *)b[0])[1499] += 10; return 0; }
int gather(void **b, const i64 *d, i64 begin, i64 end) {
  for (int i = 0; i < 7; ++i) ((float *)b[7])[i] = ((float *)b[i])[0];
  ((float *)b[7])[7] = ((float *)b[0])[1499], ((float *)b[7])[8] = ((float *)b[6])[1499];
  return 0;
})",
                   {"add", "less", "fill", "change", "gather"});
      SlotId zero = builder.constant<float>(DType::F32, {}, {0});
      builder.push({CopyStep{zero, turn}, kNone});
      LoopStep loop;
      loop.cond = {Builder::kernel(1, {turn, limit}, {p}, 1)};
      loop.predicate = p;
      // The memory of b is changed in place to be the next a.
      loop.body = {Builder::kernel(0, {turn, one}, {nextTurn}, 1), Builder::kernel(2, {turn}, {now}, 1), Builder::kernel(3, {}, {b}, 1)};
      if (!isSmall)
        std::get<KernelStep>(loop.body[1].body).picosecondsPerIteration = ThreadPool::leastPieceAwake,
        std::get<KernelStep>(loop.body[1].body).end = DimExpr::constant(2);
      loop.carried = {{turn, nextTurn}, {a, b}, {b, c}, {c, a}, {d, e}, {e, d}, {older, old}, {old, now}};
      builder.push({loop, kNone});
      builder.push(Builder::kernel(4, {a, b, c, d, e, older, old}, {z}, 1));
      EXPECT_EQ(hasSmallLoop(builder.program), isSmall);
      std::vector<float> ring{1, 2, 3}, ends{1, 2, 3}, pair{4, 5}, history{6, 7};
      for (int t = 0; t < turns; ++t) {
        ends[1] += 10;
        std::rotate(ring.begin(), ring.begin() + 1, ring.end());
        std::rotate(ends.begin(), ends.begin() + 1, ends.end());
        std::swap(pair[0], pair[1]);
        history = {history[1], 100.f + float(t)};
      }
      EXPECT_EQ(run<float>(*client, builder.program, {}),
                (std::vector<float>{ring[0], ring[1], ring[2], pair[0], pair[1], history[0], history[1], ends[0], history[1]}))
          << turns << " turns, small: " << isSmall;
    }
}

} // namespace
