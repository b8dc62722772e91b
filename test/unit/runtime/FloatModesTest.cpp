// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FloatModesTest.cpp - Results do not depend on the caller's modes ------===//
#include "test/unit/runtime/ForeignModes.h"
#include "TestPrograms.h"
#include "runtime/base/Background.h"
#include "runtime/base/FloatModes.h"
#include "runtime/kernels/CustomCall.h"

#include <cmath>
#include <cstring>
#include <future>

using namespace millrace::runtime;
using namespace millrace::runtime::test;
using millrace::test::ForeignModes;

namespace {

/// Three results that tell the modes: a subnormal one, one of subnormal operands, one that is rounded; and in long double.
struct Results {
  float result, operand, rounded;
  long double wide;
  bool operator==(const Results &other) const {
    return result == other.result && operand == other.operand && rounded == other.rounded && wide == other.wide;
  }
};
[[gnu::noinline]] Results compute() {
  volatile float small = 1.5e-38f, subnormal = 1e-40f, large = 1e30f, one = 1, three = 3;
  volatile long double wideOne = 1, wideThree = 3;
  return {small / 4, subnormal * large, one / three, wideOne / wideThree};
}
class FloatModes : public ::testing::TestWithParam<ForeignModes::Kind> {};
INSTANTIATE_TEST_SUITE_P(Callers, FloatModes, ::testing::ValuesIn(ForeignModes::all()),
                         [](const auto &info) { return "Kind" + std::to_string(info.index); });

TEST_P(FloatModes, TheDefaultOnesHoldInsideAndTheCallersAfterwards) {
  const Results usual = compute();
  Results inside, afterwards;
  uint64_t before, after;
  {
    ForeignModes foreign(GetParam());
    before = ForeignModes::word();
    {
      const DefaultFloatModes modes;
      inside = compute(); // raises flags, which are not the caller's
    }
    after = ForeignModes::word();
    afterwards = compute();
  }
  EXPECT_TRUE(inside == usual);
  EXPECT_EQ(before, after);
  EXPECT_FALSE(afterwards == usual);
}

TEST_P(FloatModes, ModesThatAreSetInsideEndThere) {
  const uint64_t before = ForeignModes::word();
  const Results usual = compute();
  {
    const DefaultFloatModes modes;
    std::fesetround(GetParam().rounding);
    if (GetParam().flushes)
      ForeignModes::setWord(ForeignModes::word() | ForeignModes::kFlush);
  }
  EXPECT_TRUE(compute() == usual);
  EXPECT_EQ(ForeignModes::word() & ~uint64_t(0x3f), before & ~uint64_t(0x3f));
}

#if defined(__x86_64__)
/// Exceptions that the caller traps are none of ours, neither in vector registers nor in the x87 unit.
TEST(FloatModes, NothingTrapsInside) {
  feenableexcept(FE_DIVBYZERO | FE_INVALID);
  {
    const DefaultFloatModes modes;
    volatile float zero = 0, one = 1;
    volatile long double wideZero = 0, wideOne = 1;
    EXPECT_TRUE(std::isinf(one / zero));
    EXPECT_TRUE(std::isinf(wideOne / wideZero));
  }
  const int traps = fegetexcept();
  fedisableexcept(FE_ALL_EXCEPT);
  EXPECT_EQ(traps, FE_DIVBYZERO | FE_INVALID);
  volatile long double one = 1;
  EXPECT_EQ(one + one, 2); // the pending ones are gone
}
#endif

const char *const division = R"(
#include <stdint.h>
int32_t divide(void **buffers, const int64_t *dims, int64_t begin, int64_t end) {
  const float *x = buffers[0], *y = buffers[1];
  float *z = buffers[2];
  for (int64_t i = begin; i < end; ++i)
    z[i] = x[i] / y[i];
  return 0;
})";

/// x / y of 3 * 40000 floats in pieces for several threads, of which the first are a subnormal result, a subnormal operand, a third.
struct Division {
  static constexpr int64_t kCount = 120000;
  Builder b;
  std::vector<float> x, y;
  SlotId result;
  Division() {
    SlotId left = b.argument(DType::F32, {kCount}), right = b.argument(DType::F32, {kCount});
    result = b.result(DType::F32, {kCount});
    b.code(division, {"divide"});
    Step step = Builder::kernel(0, {left, right}, {result}, kCount);
    std::get<KernelStep>(step.body).picosecondsPerIteration = 10'000;
    b.push(std::move(step));
    for (int64_t i = 0; i < kCount; i += 3) {
      x.insert(x.end(), {1.5e-38f, 1e-40f, 1});
      y.insert(y.end(), {4, 1e-30f, 3});
    }
  }
  std::vector<uint32_t> run(Client &client) const {
    auto executable = client.load(b.program);
    EXPECT_TRUE(executable.ok()) << executable.status().toString();
    auto made = (*executable)->execute({{toDevice(client, DType::F32, {kCount}, x), toDevice(client, DType::F32, {kCount}, y)}});
    EXPECT_TRUE(made.ok());
    return toHost<uint32_t>(made->results[0][0]);
  }
};

// The caller's thread, the device's and the pool's (which a caller in other modes starts) compute the same.
TEST_P(FloatModes, ProgramsComputeInTheDefaultOnes) {
  Division program;
  auto client = makeClient();
  std::vector<uint32_t> foreign, again;
  {
    ForeignModes modes(GetParam());
    auto other = makeClient();
    foreign = program.run(*other);
    again = program.run(*client);
  }
  const std::vector<uint32_t> usual = program.run(*client);
  EXPECT_EQ(usual[0], 0x0028d57au); // 3.75e-39
  EXPECT_NE(usual[1], 0u);
  EXPECT_TRUE(foreign == usual);
  EXPECT_TRUE(again == usual);
}

// A foreign function is called in the default modes; what it sets does not reach the kernel behind it.
TEST_P(FloatModes, CustomCallsSeeTheDefaultOnesAndChangeThemForThemselves) {
  static ForeignModes::Kind kind;
  static bool wasDefault;
  kind = GetParam();
  registerCustomCall("changes_modes", [](const CustomCall &call) {
    wasDefault = compute() == [] {
      const DefaultFloatModes modes;
      return compute();
    }();
    std::fesetround(kind.rounding);
    if (kind.flushes)
      ForeignModes::setWord(ForeignModes::word() | ForeignModes::kFlush);
    std::memcpy(call.results[0].data, call.arguments[0].data, call.results[0].bytes());
    return Status();
  });
  Division program;
  const std::vector<uint32_t> usual = program.run(*makeClient());
  Builder &b = program.b;
  CustomCallStep call;
  call.target = "changes_modes";
  call.arguments = {b.main().arguments[0]};
  call.results = {b.arena(DType::F32, {Division::kCount})};
  std::get<KernelStep>(b.main().steps[0].body).inputs[0] = call.results[0];
  b.program.customCallTargets = {call.target};
  b.main().steps.insert(b.main().steps.begin(), Step{call, kNone});
  ForeignModes modes(GetParam());
  wasDefault = false;
  EXPECT_TRUE(program.run(*makeClient()) == usual);
  EXPECT_TRUE(wasDefault);
}

TEST_P(FloatModes, WorkInTheBackgroundIsDoneInTheDefaultOnes) {
  std::promise<Results> seen;
  {
    ForeignModes modes(GetParam());
    Background::ofProcess().add([&](bool) {
      seen.set_value(compute());
      return false;
    });
  }
  Results inside = seen.get_future().get();
  EXPECT_TRUE(inside == compute());
}

} // namespace
