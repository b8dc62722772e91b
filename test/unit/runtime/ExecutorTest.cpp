// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExecutorTest.cpp - Programs run by the client -----------------------===//
#include "TestPrograms.h"
#include "runtime/client/Executor.h"
#include "runtime/kernels/CustomCall.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <thread>

using namespace millrace::runtime;
using namespace millrace::runtime::test;

namespace {

/// x + y, then doubled through the arena.
Builder addTwice(int64_t n) {
  Builder b;
  SlotId x = b.argument(DType::F32, {n}), y = b.argument(DType::F32, {n}), t = b.arena(DType::F32, {n}),
         z = b.result(DType::F32, {n});
  b.code(floatKernels, {"add", "twice"});
  b.push(Builder::kernel(0, {x, y}, {t}, n));
  b.push(Builder::kernel(1, {t}, {z}, n));
  return b;
}

TEST(Executor, RunsKernels) {
  auto client = makeClient();
  auto values = run<float>(*client, addTwice(3).program,
                           {toDevice<float>(*client, DType::F32, {3}, {1, 2, 3}),
                            toDevice<float>(*client, DType::F32, {3}, {10, 20, 30})});
  EXPECT_EQ(values, (std::vector<float>{22, 44, 66}));
}

// A costly range is cut into pieces that cover it exactly once.
TEST(Executor, CutsRanges) {
  const int64_t n = 100003;
  Builder b = addTwice(n);
  for (Step &s : b.main().steps)
    std::get<KernelStep>(s.body).picosecondsPerIteration = 10'000;
  std::vector<float> x(n), y(n, 1);
  for (int64_t i = 0; i < n; ++i)
    x[i] = float(i % 1000);
  auto client = makeClient();
  auto values = run<float>(*client, b.program,
                           {toDevice(*client, DType::F32, {n}, x), toDevice(*client, DType::F32, {n}, y)});
  ASSERT_EQ(values.size(), size_t(n));
  for (int64_t i = 0; i < n; ++i)
    ASSERT_EQ(values[i], 2 * (x[i] + 1)) << i;
}

// Who always waits at once gets no help of the device's thread; who then does something else finds the work done.
TEST(Executor, WorkOfThoseWhoWaitIsDoneForOthers) {
  Builder b = addTwice(3);
  for (Step &s : b.main().steps)
    std::get<KernelStep>(s.body).picosecondsPerIteration = 1'000'000'000; // much work, so that nothing runs at the launch
  auto client = makeClient();
  auto executable = client->load(b.program);
  ASSERT_TRUE(executable.ok());
  std::vector<BufferPtr> arguments = {toDevice<float>(*client, DType::F32, {3}, {1, 2, 3}),
                                      toDevice<float>(*client, DType::F32, {3}, {10, 20, 30})};
  auto launch = [&] {
    auto result = (*executable)->execute({arguments});
    EXPECT_TRUE(result.ok());
    return result->done[0];
  };
  auto waitOften = [&] {
    for (int i = 0; i < 20; ++i)
      EXPECT_TRUE(launch().await().ok());
  };
  waitOften();
  EXPECT_TRUE(launch().awaitFor(60));
  waitOften();
  EventSource called;
  launch().onReady([&](const Status &) { called.set(); });
  EXPECT_TRUE(called.event().awaitFor(60));
  waitOften();
  Event first = launch(), second = launch();
  EXPECT_TRUE(whenAll({first, second}).awaitFor(60));
  waitOften();
  auto copy = arguments[0]->copyTo(client->devices()[0]->memories()[0]); // queued as a launch is
  ASSERT_TRUE(copy.ok());
  EXPECT_TRUE((*copy)->ready().awaitFor(60));
  waitOften();
  launch(); // nobody looks: the end of the client does it
}

// Threads share a large copy: every element once, the last piece shorter.
TEST(Executor, CopiesLargeValues) {
  const int64_t n = (1 << 19) + 1003;
  Builder b;
  SlotId x = b.argument(DType::F32, {n}), z = b.result(DType::F32, {n});
  b.push({CopyStep{x, z}, kNone});
  std::vector<float> values(n);
  for (int64_t i = 0; i < n; ++i)
    values[i] = float(i);
  auto client = makeClient();
  EXPECT_EQ(run<float>(*client, b.program, {toDevice(*client, DType::F32, {n}, values)}), values);
}

TEST(Executor, FillsOfAllSizesAreWhole) {
  auto client = makeClient();
  for (int64_t size : {1, 3, 1023, 1024, 1025, 262143, 262144, 1000003}) // floats: a block has 1024, a thread's piece 65536, from 262144 on
    for (float value : {0.f, 1.5f}) {
      Builder b;
      SlotId z = b.result(DType::F32, {size});
      std::vector<uint8_t> pattern(4);
      std::memcpy(pattern.data(), &value, 4);
      b.push({FillStep{z, pattern}, kNone});
      EXPECT_EQ(run<float>(*client, b.program, {}), std::vector<float>(size, value)) << size;
    }
}

TEST(Executor, BranchesByIndexAndByPredicate) {
  auto client = makeClient();
  for (int32_t index : {-1, 0, 1, 2, 7}) {
    Builder b;
    SlotId i = b.argument(DType::I32, {}), z = b.result(DType::F32, {});
    CondStep cond{i, {}};
    for (float value : {10.f, 20.f, 30.f})
      cond.branches.push_back({{CopyStep{b.constant<float>(DType::F32, {}, {value}), z}, kNone}});
    b.push({cond, kNone});
    float expected = index == 0 ? 10 : index == 1 ? 20 : 30;
    EXPECT_EQ(run<float>(*client, b.program, {toDevice<int32_t>(*client, DType::I32, {}, {index})}),
              std::vector<float>{expected});
  }
  for (uint8_t truth : {0, 1}) {
    Builder b;
    SlotId i = b.argument(DType::I1, {}), z = b.result(DType::F32, {});
    CondStep cond{i, {}};
    for (float value : {10.f, 20.f})
      cond.branches.push_back({{CopyStep{b.constant<float>(DType::F32, {}, {value}), z}, kNone}});
    b.push({cond, kNone});
    EXPECT_EQ(run<float>(*client, b.program, {toDevice<uint8_t>(*client, DType::I1, {}, {truth})}),
              std::vector<float>{truth ? 10.f : 20.f});
  }
}

// main(x) = f(f(x)) with f(x) = x + x through f's own arena, which lies inside main's.
TEST(Executor, CallsPassSlotsByAddress) {
  Builder b;
  SlotId x = b.argument(DType::F32, {2}), t = b.arena(DType::F32, {2}), z = b.result(DType::F32, {2});
  b.code(floatKernels, {"add"});
  Function f;
  f.name = "f";
  std::vector<Dim> two = Builder::dimsOf({2});
  f.slots = {{Slot::Kind::Argument, 0, 0, 8, DType::F32, two},
             {Slot::Kind::Arena, 0, 0, 8, DType::F32, two},
             {Slot::Kind::Result, 0, 0, 8, DType::F32, two}};
  f.arguments = {0};
  f.results = {2};
  f.arenaBytes = 64;
  f.steps = {Builder::kernel(0, {0, 0}, {1}, 2), {CopyStep{1, 2}, kNone}};
  b.program.functions.push_back(f);
  uint64_t offset = b.main().arenaBytes;
  b.main().arenaBytes += 64;
  b.push({CallStep{1, {x}, {t}, offset}, kNone});
  b.push({CallStep{1, {t}, {z}, offset}, kNone});
  auto client = makeClient();
  EXPECT_EQ(run<float>(*client, b.program, {toDevice<float>(*client, DType::F32, {2}, {1, 5})}),
            (std::vector<float>{4, 20}));
}

/// x + x for any length, through a Dynamic slot.
Builder dynamicAdd() {
  Builder b;
  b.main().numDims = 1;
  b.main().dimBindings = {{0, 0, 0, {}}};
  Argument argument;
  argument.dtype = DType::F32;
  argument.dims = {kDynamic};
  argument.bounds = {1000};
  Result result;
  result.dtype = DType::F32;
  result.dims = {kDynamic};
  b.program.arguments = {argument};
  b.program.results = {result};
  std::vector<Dim> d = {Dim::runtime(0)};
  b.main().slots = {{Slot::Kind::Argument, 0, 0, 0, DType::F32, d},
                    {Slot::Kind::Dynamic, 0, 0, 0, DType::F32, d},
                    {Slot::Kind::Result, 0, 0, 0, DType::F32, d}};
  b.main().arguments = {0};
  b.main().results = {2};
  b.code(floatKernels, {"add", "twice"});
  for (Step s : {Builder::kernel(0, {0, 0}, {1}, 1), Builder::kernel(1, {1}, {2}, 1)}) {
    std::get<KernelStep>(s.body).end = DimExpr::dim(0);
    b.push(s);
  }
  return b;
}

TEST(Executor, RunTimeShapes) {
  auto client = makeClient();
  auto executable = client->load(dynamicAdd().program);
  ASSERT_TRUE(executable.ok()) << executable.status().toString();
  for (int64_t n : {3, 0, 1000, 1}) {
    auto result = (*executable)->execute({{toDevice(*client, DType::F32, {n}, std::vector<float>(size_t(n), 2.f))}});
    ASSERT_TRUE(result.ok()) << result.status().toString();
    EXPECT_EQ(toHost<float>(result->results[0][0]), std::vector<float>(size_t(n), 8.f));
  }
  auto result = (*executable)->execute({{toDevice(*client, DType::F32, {1001}, std::vector<float>(1001))}});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("tensor<?xf32> with at most 1000 in dimension 0, but got tensor<1001xf32>"), std::string::npos);
  EXPECT_EQ(client->devices()[0]->memoryStats().inUse % 64, 0u);
}

/// x + y for any length that both have.
Builder dynamicSum() {
  Builder b;
  b.main().numDims = 2;
  b.main().dimBindings = {{0, 0, 0, {}}, {1, 1, 0, {}}};
  Argument x, y;
  Result sum;
  for (TensorSpec *spec : {static_cast<TensorSpec *>(&x), static_cast<TensorSpec *>(&y), static_cast<TensorSpec *>(&sum)}) {
    spec->dtype = DType::F32;
    spec->dims = {kDynamic};
  }
  y.name = "y";
  b.program.arguments = {x, y};
  b.program.results = {sum};
  b.main().slots = {{Slot::Kind::Argument, 0, 0, 0, DType::F32, {Dim::runtime(0)}},
                    {Slot::Kind::Argument, 1, 0, 0, DType::F32, {Dim::runtime(1)}},
                    {Slot::Kind::Result, 0, 0, 0, DType::F32, {Dim::runtime(0)}}};
  b.main().arguments = {0, 1};
  b.main().results = {2};
  b.code(floatKernels, {"add"});
  Step add = Builder::kernel(0, {0, 1}, {2}, 1);
  std::get<KernelStep>(add.body).end = DimExpr::dim(0);
  b.push(add);
  return b;
}

/// The error of a launch with arguments of `n` and `m` elements.
std::string errorOf(Client &client, const Builder &b, int64_t n, int64_t m) {
  auto executable = client.load(b.program);
  if (!executable.ok())
    return executable.status().toString();
  auto of = [&](int64_t size) { return toDevice<float>(client, DType::F32, {size}, std::vector<float>(size_t(size), 1)); };
  auto result = (*executable)->execute({{of(n), of(m)}});
  return std::string(result.ok() ? result->done[0].await().message() : result.status().message());
}

TEST(Executor, SizesOfArgumentsAgree) {
  using Relation = SizeCheck::Relation;
  auto client = makeClient();
  Builder b = dynamicSum();
  const uint32_t line = b.location("model.py:3");
  b.main().checks = {{DimExpr::dim(0), Relation::Equal, DimExpr::dim(1), line}};
  EXPECT_EQ(errorOf(*client, b, 3, 3), "");
  EXPECT_EQ(errorOf(*client, b, 3, 5),
            "model.py:3: expects dimension 0 of argument 1 ('y') to be 3 (dimension 0 of argument 0), but got 5: call it with arguments whose sizes agree");
  b.main().checks = {{DimExpr::dim(0), Relation::AtLeast, DimExpr::constant(2)}};
  EXPECT_EQ(errorOf(*client, b, 2, 2), "");
  EXPECT_EQ(errorOf(*client, b, 1, 1), "expects dimension 0 of argument 0 to be at least 2, but got 1: call it with an argument of such a size");
  b.main().checks = {{DimExpr::dim(1), Relation::AtMost, DimExpr::binary(DimExpr::Op::Mul, DimExpr::dim(0), DimExpr::constant(2))}};
  EXPECT_EQ(errorOf(*client, b, 2, 4), "");
  EXPECT_EQ(errorOf(*client, b, 2, 5), "expects dimension 0 of argument 1 ('y') to be at most 4 (dimension 0 of argument 0 * 2), but got 5: "
                                       "call it with arguments whose sizes agree");
  b.main().checks = {{DimExpr::dim(1), Relation::OneOrEqual, DimExpr::dim(0)}};
  for (int64_t m : {1, 4})
    EXPECT_EQ(errorOf(*client, b, 4, m), "");
  EXPECT_NE(errorOf(*client, b, 4, 0).find("to be 1 or 4 (dimension 0 of argument 0), but got 0"), std::string::npos);
  // Before a step, of sizes that are known then.
  b.main().checks.clear();
  b.main().numDims = 3;
  SetDimsStep set{{{2, kNone, 0, DimExpr::binary(DimExpr::Op::Add, DimExpr::dim(0), DimExpr::constant(1))}}, {}};
  set.checks = {{DimExpr::dim(2), Relation::Equal, DimExpr::dim(1), line}};
  b.main().steps.insert(b.main().steps.begin(), {set, line});
  EXPECT_EQ(errorOf(*client, b, 3, 4), "");
  EXPECT_NE(errorOf(*client, b, 3, 3).find("model.py:3: expects dimension 0 of argument 1 ('y') to be 4, but got 3"), std::string::npos);
}

// A launch cannot compare sizes that another execution will say: this one does when it begins.
TEST(Executor, SizesThatComeLaterAgree) {
  auto client = makeClient();
  Builder ones;
  SlotId count = ones.argument(DType::I32, {}), filled = ones.result(DType::F32, {kDynamic});
  ones.main().slots[filled].dims = {Dim::runtime(0)}, ones.main().slots[filled].bytes = 0;
  ones.main().numDims = 1;
  ones.push({SetDimsStep{{{0, count, 0, {}}}, {}}, kNone});
  ones.push({FillStep{filled, {0, 0, 0x80, 0x3f}}, kNone});
  auto makes = client->load(ones.program);
  ASSERT_TRUE(makes.ok()) << makes.status().toString();
  Builder b = dynamicSum();
  b.main().checks = {{DimExpr::dim(0), SizeCheck::Relation::Equal, DimExpr::dim(1)}};
  auto sum = client->load(b.program);
  ASSERT_TRUE(sum.ok()) << sum.status().toString();
  for (int32_t size : {3, 5}) {
    auto promised = client->promise(DType::I32, {}, client->devices()[0]->memories()[0]);
    ASSERT_TRUE(promised.ok());
    auto made = (*makes)->execute({{promised->buffer}});
    ASSERT_TRUE(made.ok()) << made.status().toString();
    auto result = (*sum)->execute({{made->results[0][0], toDevice<float>(*client, DType::F32, {3}, {1, 2, 3})}});
    ASSERT_TRUE(result.ok()) << result.status().toString() << ": nobody knows the size yet";
    std::memcpy(promised->storage->data(), &size, sizeof size);
    promised->ready.set();
    const Status status = result->done[0].await();
    if (size == 3) {
      EXPECT_EQ(toHost<float>(result->results[0][0]), (std::vector<float>{2, 3, 4}));
    } else {
      EXPECT_EQ(status.message(),
                "expects dimension 0 of argument 1 ('y') to be 5 (dimension 0 of argument 0), but got 3: call it with arguments whose sizes agree");
    }
  }
}

TEST(Executor, KernelErrorNamesKernelAndLine) {
  Builder b;
  SlotId x = b.argument(DType::F32, {1}), z = b.result(DType::F32, {1});
  b.code(floatKernels, {"fail"});
  Step s = Builder::kernel(0, {x}, {z}, 1);
  s.location = b.location("model.py:12");
  b.push(s);
  auto client = makeClient();
  auto executable = client->load(b.program);
  ASSERT_TRUE(executable.ok());
  auto result = (*executable)->execute({{toDevice<float>(*client, DType::F32, {1}, {1})}});
  ASSERT_TRUE(result.ok());
  Status status = result->done[0].await();
  EXPECT_EQ(status.code(), Code::InvalidArgument);
  EXPECT_EQ(status.message(), "model.py:12: kernel 'fail' failed: an index is out of bounds (code 1)");
  // The result carries the same error, and hands it on.
  EXPECT_EQ(result->results[0][0]->ready().await().message(), status.message());
  auto next = (*executable)->execute({{result->results[0][0]}});
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(next->done[0].await().message(), status.message());
}

TEST(Executor, MissingSymbolAndFeatureAreErrors) {
  auto client = makeClient();
  Builder b = addTwice(1);
  b.program.kernels[0].symbol = "no_such_kernel";
  auto missing = client->load(b.program);
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.status().message().find("no_such_kernel"), std::string::npos);

  Builder c;
  c.argument(DType::F32, {1});
  c.code("int no_such_helper(void); int k(void **b, const long *d, long x, long y) { return no_such_helper(); }", {"k"});
  auto undefined = client->load(c.program);
  ASSERT_FALSE(undefined.ok());
  EXPECT_NE(undefined.status().message().find("no_such_helper"), std::string::npos);

  Builder d = addTwice(1);
  d.program.target.cpu = "future";
  d.program.target.features = {"quantum2"};
  auto foreign = client->load(d.program);
  ASSERT_FALSE(foreign.ok());
  EXPECT_EQ(foreign.status().message(),
            "the program was compiled for a 'future' processor; this one lacks: quantum2");
}

TEST(Executor, KernelsReachMathFunctions) {
  Builder b;
  SlotId x = b.argument(DType::F32, {2}), z = b.result(DType::F32, {2});
  b.code("float expf(float); typedef struct { double re, im; } pair; pair millrace_rt_csqrtf(double, double);"
         "int k(void **b, const long *d, long i, long e) { float *z = b[1]; float *x = b[0];"
         " pair p = millrace_rt_csqrtf(x[0], x[1]); z[0] = p.re; z[1] = expf(p.im); return 0; }",
         {"k"});
  b.push(Builder::kernel(0, {x}, {z}, 1));
  auto client = makeClient();
  EXPECT_EQ(run<float>(*client, b.program, {toDevice<float>(*client, DType::F32, {2}, {-4, 0})}),
            (std::vector<float>{0, 7.3890561f}));
}

TEST(Executor, CustomCalls) {
  registerCustomCall("test.negate", [](const CustomCall &call) -> Status {
    const Attribute *scale = call.attribute("scale");
    float *in = static_cast<float *>(call.arguments[0].data), *out = static_cast<float *>(call.results[0].data);
    for (int64_t i = 0; i < call.arguments[0].elements(); ++i)
      out[i] = -in[i] * float(scale->floats[0]);
    return Status();
  });
  Builder b;
  SlotId x = b.argument(DType::F32, {2, 3}), z = b.result(DType::F32, {2, 3});
  CustomCallStep call;
  call.target = "test.negate";
  call.attributes = {{"scale", Attribute::Kind::Float, DType::F64, {}, {2.0}, "", {}}};
  call.arguments = {x};
  call.results = {z};
  b.program.customCallTargets = {"test.negate"};
  b.push({call, b.location("f.py:3")});
  auto client = makeClient();
  std::vector<float> in = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(run<float>(*client, b.program, {toDevice(*client, DType::F32, {2, 3}, in)}),
            (std::vector<float>{-2, -4, -6, -8, -10, -12}));

  // Column-major operand, row-major result: the handler sees the transposed order.
  std::get<CustomCallStep>(b.main().steps[0].body).argumentLayouts = {{0, 1}};
  std::get<CustomCallStep>(b.main().steps[0].body).resultLayouts = {{1, 0}};
  EXPECT_EQ(run<float>(*client, b.program, {toDevice(*client, DType::F32, {2, 3}, in)}),
            (std::vector<float>{-2, -8, -4, -10, -6, -12}));

  std::get<CustomCallStep>(b.main().steps[0].body).target = "test.negat";
  b.program.customCallTargets = {"test.negat"};
  EXPECT_EQ(client->load(b.program).status().message(),
            "f.py:3: custom call target 'test.negat' is not registered; did you mean 'test.negate'?");
}

// A Python callback that uses JAX may copy a buffer to the device on whose thread it runs.
TEST(Executor, CustomCallsMayCopyToTheirDevice) {
  auto client = makeClient(2);
  BufferPtr elsewhere = toDevice<float>(*client, DType::F32, {3}, {7, 8, 9}, 1);
  registerCustomCall("test.fetch", [&](const CustomCall &call) -> Status {
    auto copy = elsewhere->copyTo(client->devices()[0]->memories()[0]);
    if (!copy)
      return copy.status();
    if (!(*copy)->ready().awaitFor(20)) {
      std::fprintf(stderr, "the copy waits for the call that waits for it\n");
      std::abort();
    }
    return (*copy)->toHost(call.results[0].data, 12).await();
  });
  Builder b;
  SlotId z = b.result(DType::F32, {3});
  CustomCallStep call;
  call.target = "test.fetch";
  call.results = {z};
  b.program.customCallTargets = {"test.fetch"};
  b.push({call, kNone});
  EXPECT_EQ(run<float>(*client, b.program, {}), (std::vector<float>{7, 8, 9}));
}

TEST(Executor, CheckCustomCalls) {
  auto client = makeClient();
  auto check = [&](const char *target, DType type, auto actual, auto expected) {
    Builder b;
    int64_t n = int64_t(actual.size());
    SlotId x = b.argument(type, {n}), y = b.argument(type, {n});
    CustomCallStep call;
    call.target = target;
    call.arguments = {x, y};
    b.program.customCallTargets = {target};
    b.push({call, kNone});
    using T = typename decltype(actual)::value_type;
    return runStatus(*client, b.program,
                     {toDevice<T>(*client, type, {n}, actual), toDevice<T>(*client, type, {n}, expected)});
  };
  using Floats = std::vector<float>;
  using Bytes = std::vector<uint8_t>;
  float nan = std::nanf(""), inf = HUGE_VALF, ulp3 = 1.f + 3 * 0x1p-23f, ulp4 = 1.f + 4 * 0x1p-23f;
  EXPECT_TRUE(check("check.expect_eq", DType::F32, Floats{0.f, 2}, Floats{-0.f, 2}).ok());
  EXPECT_FALSE(check("check.expect_eq", DType::F32, Floats{nan}, Floats{nan}).ok());
  EXPECT_TRUE(check("check.expect_close", DType::F32, Floats{nan, inf, 1}, Floats{nan, inf, ulp3}).ok());
  EXPECT_FALSE(check("check.expect_close", DType::F32, Floats{1}, Floats{ulp4}).ok());
  EXPECT_FALSE(check("check.expect_close", DType::F32, Floats{inf}, Floats{-inf}).ok());
  EXPECT_FALSE(check("check.expect_close", DType::F32, Floats{3.40282347e38f}, Floats{inf}).ok());
  EXPECT_TRUE(check("check.expect_almost_eq", DType::F32, Floats{1}, Floats{1.0009f}).ok());
  EXPECT_FALSE(check("check.expect_almost_eq", DType::F32, Floats{1}, Floats{1.002f}).ok());
  EXPECT_TRUE(check("check.expect_close", DType::F8E4M3FN, Bytes{0x38, 0x7f}, Bytes{0x3a, 0xff}).ok());
  EXPECT_FALSE(check("check.expect_close", DType::F8E4M3FN, Bytes{0x38}, Bytes{0x3c}).ok());
  EXPECT_FALSE(check("check.expect_close", DType::I4, Bytes{3}, Bytes{4}).ok());
  EXPECT_EQ(check("check.expect_eq", DType::I8, Bytes{1, 0xff, 3}, Bytes{1, 2, 4}).message(),
            "custom call 'check.expect_eq': expects element [1] to be 2, but got -1 (2 of 3 elements differ)");
}

// Each argument may be the buffer of any other: which two they are, the message says.
TEST(Executor, ADonatedBufferIsOneArgumentAlone) {
  constexpr size_t count = 40;
  Builder b;
  std::vector<SlotId> arguments;
  for (size_t k = 0; k < count; ++k) {
    arguments.push_back(b.argument(DType::F32, {4}));
    b.program.arguments[k].donated = k % 3 == 0;
  }
  SlotId z = b.result(DType::F32, {4});
  b.code(floatKernels, {"twice"});
  b.push(Builder::kernel(0, {arguments[0]}, {z}, 4));
  auto client = makeClient();
  auto executable = client->load(b.program);
  ASSERT_TRUE(executable.ok());
  std::vector<float> in = {1, 2, 3, 4};
  for (size_t one = 0; one < count; ++one)
    for (size_t other = one + 1; other < count; ++other) {
      std::vector<BufferPtr> given;
      for (size_t k = 0; k < count; ++k)
        given.push_back(k == other ? given[one] : toDevice(*client, DType::F32, {4}, in));
      auto result = (*executable)->execute({given});
      if (one % 3 && other % 3) {
        ASSERT_TRUE(result.ok()) << one << ", " << other;
        ASSERT_FALSE(given[one]->isReleased());
        continue;
      }
      size_t donated = one % 3 ? other : one;
      ASSERT_EQ(result.status().message(), "the buffer of argument " + std::to_string(donated) + " is donated, but is argument " +
                                               std::to_string(donated == one ? other : one) + " too");
      ASSERT_FALSE(given[0]->isReleased()) << "nothing is given up where something is wrong";
    }
}

TEST(Executor, DonationReusesMemoryOnlyWhenAllowed) {
  Builder b;
  SlotId x = b.argument(DType::F32, {4}), z = b.result(DType::F32, {4});
  b.program.arguments[0].donated = true;
  b.program.results[0].aliasArgument = 0;
  b.code(floatKernels, {"twice"});
  b.push(Builder::kernel(0, {x}, {z}, 4));
  auto client = makeClient();
  auto executable = client->load(b.program);
  ASSERT_TRUE(executable.ok());
  std::vector<float> in = {1, 2, 3, 4}, out = {2, 4, 6, 8};

  BufferPtr given = toDevice(*client, DType::F32, {4}, in);
  void *address = (*given->acquire())->data();
  auto donated = (*executable)->execute({{given}});
  ASSERT_TRUE(donated.ok());
  EXPECT_TRUE(given->isReleased());
  EXPECT_EQ(toHost<float>(donated->results[0][0]), out);
  EXPECT_EQ((*donated->results[0][0]->acquire())->data(), address);
  EXPECT_FALSE((*executable)->execute({{given}}).ok());

  // Somebody else holds the memory: the old value stays.
  BufferPtr shared = toDevice(*client, DType::F32, {4}, in);
  std::shared_ptr<Storage> held = *shared->acquire();
  auto copied = (*executable)->execute({{shared}});
  ASSERT_TRUE(copied.ok());
  EXPECT_TRUE(shared->isReleased());
  EXPECT_EQ(toHost<float>(copied->results[0][0]), out);
  EXPECT_EQ(static_cast<float *>(held->data())[3], 4);

  BufferPtr kept = toDevice(*client, DType::F32, {4}, in);
  ExecuteOptions options;
  options.nonDonatable = {0};
  auto result = (*executable)->execute({{kept}}, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(toHost<float>(result->results[0][0]), out);
  EXPECT_EQ(toHost<float>(kept), in);

  // Immutable memory of the host is never written.
  alignas(64) float host[4] = {1, 2, 3, 4};
  int released = 0;
  {
    auto imported = client->bufferFromHost(host, DType::F32, {4}, {}, HostSemantics::ImmutableZeroCopy,
                                           client->devices()[0]->memories()[0], [&] { ++released; });
    ASSERT_TRUE(imported.ok());
    EXPECT_EQ((*(*imported)->acquire())->data(), host);
    auto r = (*executable)->execute({{*imported}});
    ASSERT_TRUE(r.ok());
    EXPECT_EQ(toHost<float>(r->results[0][0]), out);
  }
  EXPECT_EQ(host[3], 4);
  EXPECT_EQ(released, 1);
}

TEST(Executor, RejectsWrongArguments) {
  auto client = makeClient(2);
  auto executable = client->load(addTwice(3).program);
  ASSERT_TRUE(executable.ok());
  BufferPtr good = toDevice<float>(*client, DType::F32, {3}, {1, 2, 3});
  EXPECT_EQ((*executable)->execute({{good}}).status().message(), "expects 2 arguments, but got 1");
  EXPECT_EQ((*executable)->execute({{good, toDevice<float>(*client, DType::F32, {1}, {1})}}).status().message(),
            "expects argument 1 to be tensor<3xf32>, but got tensor<1xf32>");
  EXPECT_EQ((*executable)->execute({{good, toDevice<int>(*client, DType::I32, {3}, {1, 2, 3})}}).status().message(),
            "expects argument 1 to be tensor<3xf32>, but got tensor<3xi32>");
  EXPECT_EQ((*executable)->execute({{good, toDevice<float>(*client, DType::F32, {3}, {1, 2, 3}, 1)}}).status().message(),
            "expects argument 1 on device 0, but it is on device 1");
  Builder many = addTwice(3);
  many.program.numPartitions = 4;
  EXPECT_FALSE(client->load(many.program).ok());
}

TEST(Executor, ManyThreadsManyDevices) {
  auto client = makeClient(4);
  std::vector<std::thread> threads;
  for (uint32_t d = 0; d < 4; ++d)
    threads.emplace_back([&, d] {
      LoadOptions options;
      options.deviceAssignment = {d};
      auto executable = client->load(addTwice(64).program, options);
      ASSERT_TRUE(executable.ok());
      BufferPtr x = toDevice(*client, DType::F32, {64}, std::vector<float>(64, 0.5f), d);
      for (int i = 0; i < 50; ++i) {
        auto result = (*executable)->execute({{x, x}});
        ASSERT_TRUE(result.ok());
        if (i % 10 == 9)
          EXPECT_EQ(toHost<float>(result->results[0][0]), std::vector<float>(64, 2.f));
      }
    });
  for (std::thread &t : threads)
    t.join();
}

// A program may wait on the target's queue for a copy whose source is not there yet: the copy must not queue up behind it.
TEST(Executor, CopyOfALateBufferReachesAWaitingProgram) {
  auto client = makeClient(2);
  LoadOptions options;
  options.deviceAssignment = {1};
  auto executable = client->load(addTwice(3).program, options);
  ASSERT_TRUE(executable.ok()) << executable.status().toString();
  LaterBuffer late = client->later(DType::F32, {3}, client->devices()[0]->memories()[0]);
  auto copy = late.buffer->copyTo(client->devices()[1]->memories()[0]);
  ASSERT_TRUE(copy.ok()) << copy.status().toString();
  auto result = (*executable)->execute({{*copy, *copy}});
  ASSERT_TRUE(result.ok()) << result.status().toString();
  late.fulfill(toDevice<float>(*client, DType::F32, {3}, {1, 2, 3}));
  if (!result->done[0].awaitFor(20)) {
    std::fprintf(stderr, "the program never saw the copy\n");
    std::abort(); // the client's destructor would wait for ever
  }
  EXPECT_EQ(toHost<float>(result->results[0][0]), (std::vector<float>{4, 8, 12}));
}

/// all_reduce over `members` partitions.
Builder allReduce(uint32_t members, CollectiveStep::Kind kind, std::vector<int64_t> in, std::vector<int64_t> out) {
  Builder b;
  b.program.numPartitions = members;
  SlotId x = b.argument(DType::F32, in), z = b.result(DType::F32, out);
  CollectiveStep s;
  s.kind = kind;
  s.arguments = {x};
  s.results = {z};
  s.groupMode = CollectiveStep::Groups::CrossPartition;
  s.reduction = CollectiveStep::Reduction::Sum;
  s.splitCount = members;
  s.name = "collective";
  b.push({s, b.location("spmd.py:7")});
  return b;
}

TEST(Executor, CollectivesOverEightDevices) {
  const uint32_t n = 8;
  auto client = makeClient(n);
  auto runAll = [&](const Program &program, std::vector<int64_t> dims, auto value) {
    auto executable = client->load(program);
    EXPECT_TRUE(executable.ok()) << executable.status().toString();
    std::vector<std::vector<BufferPtr>> arguments;
    size_t elements = 1;
    for (int64_t d : dims)
      elements *= size_t(d);
    for (uint32_t d = 0; d < n; ++d) {
      std::vector<float> values(elements);
      for (size_t i = 0; i < elements; ++i)
        values[i] = value(d, i);
      arguments.push_back({toDevice(*client, DType::F32, dims, values, d)});
    }
    std::vector<std::vector<float>> results;
    for (int repeat = 0; repeat < 3; ++repeat) {
      results.clear();
      auto result = (*executable)->execute(arguments);
      EXPECT_TRUE(result.ok()) << result.status().toString();
      for (uint32_t d = 0; d < n; ++d)
        results.push_back(toHost<float>(result->results[d][0]));
    }
    return results;
  };
  using Kind = CollectiveStep::Kind;
  auto reduced = runAll(allReduce(n, Kind::AllReduce, {5000}, {5000}).program, {5000},
                        [](uint32_t d, size_t i) { return float(d + i); });
  auto gathered = runAll(allReduce(n, Kind::AllGather, {2}, {16}).program, {2},
                         [](uint32_t d, size_t i) { return float(10 * d + i); });
  auto scattered = runAll(allReduce(n, Kind::ReduceScatter, {16}, {2}).program, {16},
                          [](uint32_t d, size_t i) { return float(i); });
  auto exchanged = runAll(allReduce(n, Kind::AllToAll, {8}, {8}).program, {8},
                          [](uint32_t d, size_t i) { return float(10 * d + i); });
  for (uint32_t d = 0; d < n; ++d) {
    for (size_t i = 0; i < 5000; ++i)
      ASSERT_EQ(reduced[d][i], float(28 + 8 * i));
    for (size_t i = 0; i < 16; ++i)
      EXPECT_EQ(gathered[d][i], float(10 * (i / 2) + i % 2));
    for (size_t i = 0; i < 2; ++i)
      EXPECT_EQ(scattered[d][i], float(8 * (2 * d + i)));
    for (size_t i = 0; i < 8; ++i)
      EXPECT_EQ(exchanged[d][i], float(10 * i + d));
  }
}

// Executions whose devices meet stand in one order in all queues, however many threads launch them: else two wait for each other.
TEST(Executor, ThreadsLaunchProgramsThatMeet) {
  const uint32_t n = 8;
  auto client = makeClient(n, 10);
  auto executable = client->load(allReduce(n, CollectiveStep::Kind::AllReduce, {4}, {4}).program);
  ASSERT_TRUE(executable.ok()) << executable.status().toString();
  std::vector<std::vector<BufferPtr>> arguments;
  for (uint32_t d = 0; d < n; ++d)
    arguments.push_back({toDevice<float>(*client, DType::F32, {4}, {1, 2, 3, 4}, d)});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      std::vector<Event> done;
      for (int i = 0; i < 200 && !::testing::Test::HasFailure(); ++i) {
        auto result = (*executable)->execute(arguments);
        ASSERT_TRUE(result.ok()) << result.status().toString();
        done.insert(done.end(), result->done.begin(), result->done.end());
        if (i % 4 != 3)
          continue;
        Status status = whenAll(done).await();
        EXPECT_TRUE(status.ok()) << status.toString();
        done.clear();
      }
    });
  for (std::thread &t : threads)
    t.join();
}

// The last references to a client go away in a callback, which runs where the work was done: on a thread that waits for it, on the
// device's own, on one of several devices.
TEST(Executor, CallbacksMayGiveUpTheClient) {
  struct Held {
    std::shared_ptr<Client> client;
    std::shared_ptr<Executable> executable;
    std::vector<std::vector<BufferPtr>> arguments, results;
  };
  for (uint32_t devices : {1, 3})
    for (bool waits : {true, false})
      for (int repeat = 0; repeat < 20; ++repeat) {
        auto *held = new Held;
        held->client = makeClient(devices);
        Builder b = devices > 1 ? allReduce(devices, CollectiveStep::Kind::AllReduce, {3}, {3}) : addTwice(3);
        for (Step &s : b.main().steps)
          if (auto *kernel = std::get_if<KernelStep>(&s.body))
            kernel->picosecondsPerIteration = 1'000'000'000; // much work, so that nothing runs at the launch
        auto executable = held->client->load(b.program);
        ASSERT_TRUE(executable.ok()) << executable.status().toString();
        held->executable = *executable;
        for (uint32_t d = 0; d < devices; ++d)
          held->arguments.emplace_back(b.program.arguments.size(), toDevice<float>(*held->client, DType::F32, {3}, {1, 2, 3}, d));
        if (devices == 1)
          for (int i = 0; i < 20; ++i) // from now on the work is left to those who wait
            EXPECT_TRUE((*held->executable->execute(held->arguments)).done[0].await().ok());
        auto result = held->executable->execute(held->arguments);
        ASSERT_TRUE(result.ok());
        held->results = std::move(result->results);
        Event done = result->done[0];
        result = StatusOr<ExecuteResult>(ExecuteResult());
        *executable = nullptr;
        EventSource gone;
        auto giveUp = [held, gone](const Status &) {
          delete held;
          gone.set();
        };
        Event value = held->results[0][0]->ready();
        done.onReady(giveUp);
        std::thread waiting([&] {
          if (waits)
            EXPECT_TRUE(value.await().ok());
        });
        if (!gone.event().awaitFor(60)) {
          std::fprintf(stderr, "a device waits for itself\n");
          std::abort(); // its thread never ends
        }
        waiting.join();
      }
}

// One device fails before the collective: the others get an error that names it, at once.
TEST(Executor, FailureOfOneDeviceEndsTheOthers) {
  Builder b = allReduce(2, CollectiveStep::Kind::AllReduce, {1}, {1});
  b.code(floatKernels, {"fail"});
  SlotId id = b.arena(DType::U32, {}), branch = b.arena(DType::I32, {});
  Step collective = b.main().steps[0];
  b.main().steps.clear();
  b.push({DeviceIdStep{DeviceIdStep::Kind::Partition, id}, kNone});
  b.add({Slot::Kind::View, id, 0, 4, DType::I32, {}});
  SlotId view = SlotId(b.main().slots.size() - 1);
  b.push({CopyStep{view, branch}, kNone});
  b.push({CondStep{branch, {{}, {Builder::kernel(0, {0}, {1}, 1)}}}, kNone});
  b.push(collective);
  auto client = makeClient(2, 300);
  auto executable = client->load(b.program);
  ASSERT_TRUE(executable.ok()) << executable.status().toString();
  std::vector<std::vector<BufferPtr>> arguments;
  for (uint32_t d = 0; d < 2; ++d)
    arguments.push_back({toDevice<float>(*client, DType::F32, {1}, {1}, d)});
  auto result = (*executable)->execute(arguments);
  ASSERT_TRUE(result.ok());
  EXPECT_NE(result->done[1].await().message().find("kernel 'fail' failed"), std::string::npos);
  std::string message(result->done[0].await().message());
  EXPECT_NE(message.find("device 1 failed"), std::string::npos) << message;
  EXPECT_NE(message.find("spmd.py:7"), std::string::npos) << message;
}

TEST(Executor, InfeedAndOutfeed) {
  Builder b;
  SlotId t = b.arena(DType::F32, {2}), z = b.result(DType::F32, {2});
  b.code(floatKernels, {"twice"});
  TransferStep in{TransferStep::Kind::Infeed, {t}, 0, true, {}, ""}, out{TransferStep::Kind::Outfeed, {z}, 0, true, {}, ""};
  b.push({in, kNone});
  b.push(Builder::kernel(0, {t}, {z}, 2));
  b.push({out, kNone});
  auto client = makeClient();
  auto executable = client->load(b.program);
  ASSERT_TRUE(executable.ok());
  auto result = (*executable)->execute({{}});
  ASSERT_TRUE(result.ok());
  float values[2] = {1, 2};
  client->devices()[0]->feed({std::string(reinterpret_cast<char *>(values), 8)});
  auto taken = client->devices()[0]->takeOutfeed();
  ASSERT_TRUE(taken.ok());
  std::memcpy(values, (*taken)[0].data(), 8);
  EXPECT_EQ(values[1], 4);
  EXPECT_TRUE(result->done[0].await().ok());
}

// Printed, not asserted: the cost of a step and of a launch.
TEST(Executor, Overhead) {
  Builder b;
  SlotId x = b.argument(DType::F32, {}), t = b.arena(DType::F32, {}), z = b.result(DType::F32, {});
  b.code(floatKernels, {"add"});
  const int steps = 1000;
  for (int i = 0; i < steps; ++i) {
    b.push(Builder::kernel(0, {x, x}, {i + 1 == steps ? z : t}, 1));
    std::get<KernelStep>(b.main().steps.back().body).picosecondsPerIteration = 1;
  }
  auto client = makeClient();
  auto executable = client->load(b.program);
  ASSERT_TRUE(executable.ok());
  BufferPtr argument = toDevice<float>(*client, DType::F32, {}, {1});
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin = Clock::now();
  const int runs = 200;
  for (int i = 0; i < runs; ++i)
    ASSERT_TRUE((*executable)->execute({{argument}})->done[0].await().ok());
  double ns = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  std::printf("[ overhead ] %.1f ns per step (in a launch of %d steps)\n", ns / runs / steps, steps);
}

} // namespace
