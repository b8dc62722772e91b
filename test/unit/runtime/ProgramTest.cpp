// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramTest.cpp - Programs as bytes, whole and damaged --------------===//
#include "TestPrograms.h"
#include "runtime/base/File.h"
#include "runtime/base/Hash.h"
#include "runtime/program/Format.h"
#include "runtime/program/ResultLocations.h"

#include <cstring>
#include <random>
#include <unistd.h>

using namespace millrace::runtime;
using namespace millrace::runtime::test;

namespace {

/// Uses every kind of step and slot.
Program everything() {
  Builder b;
  SlotId x = b.argument(DType::F32, {2, 3}), z = b.result(DType::F32, {2, 3}), t = b.arena(DType::F32, {2, 3}),
         n = b.arena(DType::F32, {2, 3}), p = b.arena(DType::I1, {}), i = b.arena(DType::I32, {}),
         u = b.arena(DType::U32, {}), c = b.constant<float>(DType::F32, {2}, {1, 2}),
         same = b.constant<float>(DType::F32, {2}, {1, 2}), v = b.add({Slot::Kind::View, x, 12, 12, DType::F32, Builder::dimsOf({3})});
  Program &program = b.program;
  program.target = {"x86_64-pc-linux-gnu", "znver4", {"sse2"}};
  program.objects.push_back(Constant::copy("not really an object", 20));
  program.kernels.push_back({"k", "dot_1", {"stablehlo.dot", "stablehlo.add"}, 12, 34});
  program.metadata = {{"compile.ms", "12"}};
  program.memory = {24, 24, 0, 100, 200, 8, 20};
  program.stepOps = {"stablehlo.while"};
  program.customCallTargets = {"check.expect_eq"};
  program.arguments[0].donated = true;
  program.arguments[0].sharding = "{replicated}";
  program.results[0].aliasArgument = 0;
  b.main().numDims = 2;
  b.main().dimBindings = {{0, 0, 1, {}}, {1, kNone, 0, DimExpr::binary(DimExpr::Op::Mul, DimExpr::dim(0), DimExpr::constant(2))}};
  SlotId d = b.add({Slot::Kind::Dynamic, 0, 0, 0, DType::F32, {Dim::runtime(1)}});
  uint32_t where = b.location("a.py:1");
  Step kernel = Builder::kernel(0, {x, c, same, v}, {t}, 6);
  std::get<KernelStep>(kernel.body).dims = {0};
  std::get<KernelStep>(kernel.body).scratchBytes = 128;
  kernel.location = where;
  b.push(kernel);
  LoopStep loop;
  loop.cond = {Builder::kernel(0, {t}, {p}, 1)};
  loop.predicate = p;
  loop.body = {Builder::kernel(0, {t}, {n}, 6)};
  loop.carried = {{t, n}};
  b.push({loop, where});
  b.push({CondStep{i, {{kernel}, {}, {{CopyStep{x, t}, kNone}}}}, kNone});
  b.push({FillStep{z, {0, 0, 0, 0}}, kNone});
  SizeCheck check{DimExpr::dim(1), SizeCheck::Relation::OneOrEqual, DimExpr::constant(6), where};
  b.push({SetDimsStep{{{1, i, 0, {}}, {0, kNone, 0, DimExpr::constant(3)}}, {check}}, kNone});
  check.relation = SizeCheck::Relation::AtMost;
  b.main().checks = {check};
  b.push(Builder::kernel(0, {x}, {d}, 1));
  CollectiveStep reduce;
  reduce.arguments = {x};
  reduce.results = {t};
  reduce.groups = {{0}};
  reduce.reducer = 0;
  reduce.name = "all_reduce";
  b.push({reduce, where});
  reduce.results = {n};
  reduce.phase = CollectiveStep::Phase::Start;
  reduce.pair = 3;
  b.push({reduce, where});
  reduce.phase = CollectiveStep::Phase::Done;
  b.push({reduce, where});
  CustomCallStep call;
  call.target = "check.expect_eq";
  call.arguments = {x, t};
  call.argumentLayouts = {{1, 0}, {0, 1}};
  call.attributes = {{"d", Attribute::Kind::Dictionary, DType::I64, {1, 2}, {0.5}, "s", {{"e", Attribute::Kind::Bool, DType::I1, {1}, {}, "", {}}}}};
  b.push({call, kNone});
  b.push({DeviceIdStep{DeviceIdStep::Kind::Replica, u}, kNone});
  b.push({TransferStep{TransferStep::Kind::Send, {x}, 3, false, {{0, 0}}, "cfg"}, kNone});
  Function f;
  f.name = "f";
  f.slots = {{Slot::Kind::Argument, 0, 0, 24, DType::F32, Builder::dimsOf({2, 3})},
             {Slot::Kind::Result, 0, 0, 24, DType::F32, Builder::dimsOf({2, 3})}};
  f.arguments = {0};
  f.results = {1};
  f.steps = {{CopyStep{0, 1}, kNone}};
  program.functions.push_back(f);
  b.push({CallStep{1, {x}, {t}, 0}, kNone});
  return program;
}

TEST(Program, RoundTripKeepsEverything) {
  Program before = everything();
  before.locationSources.assign(before.locations.size(), 3);
  before.kernels[0].location = 0;
  auto bytes = serialize(before);
  ASSERT_TRUE(bytes.ok()) << bytes.status().toString();
  auto after = parse(*bytes);
  ASSERT_TRUE(after.ok()) << after.status().toString();
  EXPECT_EQ(after->functions, before.functions);
  EXPECT_EQ(after->arguments, before.arguments);
  EXPECT_EQ(after->results, before.results);
  EXPECT_EQ(after->kernels, before.kernels);
  EXPECT_EQ(after->target, before.target);
  EXPECT_EQ(after->memory, before.memory);
  EXPECT_EQ(after->metadata, before.metadata);
  EXPECT_EQ(after->locations, before.locations);
  EXPECT_EQ(after->locationSources, before.locationSources);
  EXPECT_EQ(after->customCallTargets, before.customCallTargets);
  EXPECT_EQ(toText(*after), toText(before));
  // Equal constants are stored once, aligned.
  ASSERT_EQ(after->constants.size(), 2u);
  EXPECT_EQ(after->constants[0].data, after->constants[1].data);
  EXPECT_EQ(uintptr_t(after->constants[0].data) % 64, 0u);
  EXPECT_EQ(std::memcmp(after->constants[0].data, before.constants[0].data, 8), 0);
}

TEST(Program, RelocateGivesLinesToStepsAndKernels) {
  Program program;
  program.locations = {"train.py:12:3", "", "lib.py:7"};
  program.locationSources = {7, 9, kNone};
  program.kernels.resize(4);
  const char *const names[] = {"dot_general_12_4f3a91c2", "add_0_00000000", "log2_7_12345678", "mine_4f3a91c2"};
  for (size_t i = 0; i < 4; ++i) {
    program.kernels[i].name = names[i];
    program.kernels[i].location = i < 3 ? uint32_t(i) : kNone;
  }
  relocate(program, [](uint32_t source) { return source == 7 ? std::string("train.py:14:3") : "C:/a b/new.py:" + std::to_string(source); });
  EXPECT_EQ(program.locations, (std::vector<std::string>{"train.py:14:3", "C:/a b/new.py:9", "lib.py:7"})) << "what has no source stays";
  EXPECT_EQ(program.kernels[0].name, "dot_general_14_4f3a91c2");
  EXPECT_EQ(program.kernels[1].name, "add_9_00000000");
  EXPECT_EQ(program.kernels[2].name, "log2_7_12345678");
  EXPECT_EQ(program.kernels[3].name, "mine_4f3a91c2");
  relocate(program, [](uint32_t) { return std::string(); });
  EXPECT_EQ(program.kernels[0].name, "dot_general_0_4f3a91c2");
  EXPECT_EQ(locationOf(program, 0), "");
  EXPECT_EQ(locationOf(program, kNone), "");
}

TEST(Program, LocationsThatAreNotThereAreErrors) {
  Program program = everything();
  program.locationSources.resize(program.locations.size() + 1);
  EXPECT_FALSE(validate(program).ok()) << "a source without a location";
  program = everything();
  program.kernels[0].location = uint32_t(program.locations.size());
  EXPECT_FALSE(validate(program).ok());
}

TEST(Program, LinesOfResultsSurviveBytesAndDamage) {
  Program before = everything();
  EXPECT_TRUE(resultLocations(before).empty());
  before.locations = {"train.py:12:3", "train.py:13:3"};
  setResultLocations(before, {1, kNone, 0});
  auto bytes = serialize(before);
  ASSERT_TRUE(bytes.ok()) << bytes.status().toString();
  auto after = parse(*bytes);
  ASSERT_TRUE(after.ok()) << after.status().toString();
  EXPECT_EQ(resultLocations(*after), (std::vector<uint32_t>{1, kNone, 0}));
  for (auto &[key, value] : after->metadata)
    if (value == "1 - 0")
      value = "2 -1 99999999999 1x  0";
  EXPECT_EQ(resultLocations(*after), (std::vector<uint32_t>{kNone, kNone, kNone, kNone, kNone, 0})) << "no index leads out of the table";
}

TEST(Program, FileRoundTrip) {
  std::string path = ::testing::TempDir() + "/millrace-program-" + std::to_string(::getpid()) + ".mr";
  ASSERT_TRUE(writeFile(everything(), path).ok());
  auto program = readFile(path);
  ASSERT_TRUE(program.ok()) << program.status().toString();
  EXPECT_EQ(program->functions, everything().functions);
  ::unlink(path.c_str());
  EXPECT_EQ(readFile(path).status().code(), Code::NotFound);
  EXPECT_EQ(writeFile(everything(), "/nonexistent/x.mr").code(), Code::NotFound);
}

TEST(Program, EveryFlippedByteIsAnError) {
  std::string bytes = *serialize(everything());
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= char(1 << (i % 8));
    ASSERT_FALSE(parse(bytes).ok()) << i;
    bytes[i] ^= char(1 << (i % 8));
  }
  ASSERT_TRUE(parse(bytes).ok());
}

TEST(Program, EveryTruncationIsAnError) {
  std::string bytes = *serialize(everything());
  for (size_t size = 0; size < bytes.size(); ++size)
    ASSERT_FALSE(parse(std::string_view(bytes).substr(0, size)).ok()) << size;
  ASSERT_FALSE(parse(bytes + "x").ok());
}

/// Header and checksums made right again, so that the reader must look at the content.
void repair(std::string &bytes) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.payloadSize = bytes.size() - sizeof header;
  header.payloadHash = hash64(bytes.data() + sizeof header, bytes.size() - sizeof header);
  header.headerHash = hash64(&header, offsetof(Header, headerHash));
  std::memcpy(bytes.data(), &header, sizeof header);
}

// Mutants with correct checksums: an error or a program that is valid, never a crash.
TEST(Program, MutantsWithGoodChecksumsNeverCrash) {
  const std::string original = *serialize(everything());
  std::mt19937 random(1);
  int accepted = 0;
  auto feed = [&](std::string bytes) {
    repair(bytes);
    auto program = parse(bytes);
    if (program.ok()) {
      ++accepted;
      ASSERT_TRUE(validate(*program).ok());
      ASSERT_FALSE(toText(*program).empty());
    }
  };
  for (size_t i = sizeof(Header); i < original.size(); ++i)
    for (uint8_t value : {0x00, 0x01, 0x7f, 0xff, int(uint8_t(original[i]) ^ 0x10)}) {
      std::string bytes = original;
      bytes[i] = char(value);
      feed(std::move(bytes));
    }
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = original;
    for (int k = 0, n = 1 + int(random() % 6); k < n; ++k)
      bytes[sizeof(Header) + random() % (bytes.size() - sizeof(Header))] = char(random());
    if (random() % 4 == 0)
      bytes.resize(sizeof(Header) + random() % (bytes.size() - sizeof(Header)));
    feed(std::move(bytes));
  }
  EXPECT_GT(accepted, 0) << "some mutations hit free bytes; if none is accepted, the test feeds garbage";
}

// The executor has a kernel's operands in a table on the stack; the writer refuses too many of them, so the length of a list is damaged.
TEST(Program, MoreOperandsThanTheStackHoldsAreAnError) {
  Program program = everything();
  std::get<KernelStep>(program.functions[0].steps[0].body).inputs.assign(65534, 0);
  auto bytes = serialize(program);
  ASSERT_TRUE(bytes.ok()) << bytes.status().toString();
  size_t at = bytes->find(std::string("\xfe\xff\0\0\0\0\0\0", 8));
  ASSERT_NE(at, std::string::npos);
  (*bytes)[at] = '\xff';
  repair(*bytes);
  Status status = parse(*bytes).status();
  EXPECT_NE(status.message().find("65537 operands, results and scratch of a kernel, at most 65536 are possible"), std::string::npos) << status.toString();
}

TEST(Program, OtherVersionAndOtherFilesAreNamed) {
  std::string bytes = *serialize(everything());
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.abiVersion = 99;
  header.headerHash = hash64(&header, offsetof(Header, headerHash));
  std::memcpy(bytes.data(), &header, sizeof header);
  EXPECT_EQ(std::string(parse(bytes).status().message()), "expects program ABI version " + std::to_string(kProgramAbiVersion) + ", but got 99: compile the program again");
  EXPECT_EQ(parse(std::string(100, 'x')).status().code(), Code::FailedPrecondition);
}

/// Each change makes the program invalid for one reason.
TEST(Program, SemanticErrors) {
  auto expectError = [](const char *text, auto change) {
    Program program = everything();
    change(program);
    Status status = validate(program);
    ASSERT_FALSE(status.ok()) << text;
    EXPECT_NE(status.message().find(text), std::string::npos) << status.toString();
    EXPECT_FALSE(serialize(program).ok());
  };
  auto step = [](Program &p, size_t i) -> auto & { return p.functions[0].steps[i].body; };
  expectError("without entry function", [](Program &p) { p.entry = 2; });
  expectError("are not in the arena", [](Program &p) { p.functions[0].slots[2].offset = p.functions[0].arenaBytes; });
  expectError("bytes for its shape", [](Program &p) { p.functions[0].slots[2].bytes = 4; });
  // 2^64 bytes wrap to 0.
  expectError("of shape f32[2147483648,2147483648] takes more than 70368744177664 bytes", [](Program &p) {
    p.functions[0].slots[2].dims = {Dim::constant(int64_t(1) << 31), Dim::constant(int64_t(1) << 31)};
    p.functions[0].slots[2].bytes = 0;
  });
  expectError("temporaries of 70368744177728 bytes, at most 70368744177664 are possible",
              [](Program &p) { p.functions[0].arenaBytes = (uint64_t(1) << 46) + 64; });
  expectError("read-only", [&](Program &p) { std::get<KernelStep>(step(p, 0)).outputs = {0}; });
  expectError("kernel 7 of 1", [&](Program &p) { std::get<KernelStep>(step(p, 0)).kernel = 7; });
  expectError("slot 99", [&](Program &p) { std::get<KernelStep>(step(p, 0)).inputs = {99}; });
  expectError("at a.py:1", [&](Program &p) { std::get<KernelStep>(step(p, 0)).inputs = {99}; });
  expectError("malformed dim expression", [&](Program &p) { std::get<KernelStep>(step(p, 0)).end.terms = {}; });
  expectError("calls itself", [](Program &p) { p.functions[1].steps.push_back({CallStep{1, {0}, {1}, 0}, kNone}); });
  expectError("is not listed", [](Program &p) { p.customCallTargets.clear(); });
  expectError("aliases argument 3", [](Program &p) { p.results[0].aliasArgument = 3; });
  expectError("another shape", [](Program &p) { p.arguments[0].dims = {2, 4}; });
  expectError("loop predicate", [&](Program &p) { std::get<LoopStep>(step(p, 1)).predicate = 0; });
  expectError("two loop states", [&](Program &p) {
    auto &loop = std::get<LoopStep>(step(p, 1));
    loop.carried.push_back(loop.carried[0]);
  });
  // The executor has tables of these on the stack.
  constexpr size_t million = 1000000;
  expectError("1000002 operands, results and scratch of a kernel, at most 65536 are possible",
              [&](Program &p) { std::get<KernelStep>(step(p, 0)).inputs.assign(million, 0); });
  expectError("1000000 sizes of a kernel, at most 65536 are possible", [&](Program &p) { std::get<KernelStep>(step(p, 0)).dims.assign(million, 0); });
  expectError("1000000 states of a loop, at most 65536 are possible", [&](Program &p) {
    auto &loop = std::get<LoopStep>(step(p, 1));
    loop.carried.assign(million, loop.carried[0]);
  });
  expectError("65600 sizes of a loop's states, at most 65536 are possible", [&](Program &p) {
    auto &loop = std::get<LoopStep>(step(p, 1));
    Function &main = p.functions[0];
    Slot state = main.slots[loop.carried[0].state];
    state.dims.assign(64, Dim::constant(1));
    state.bytes = 4;
    loop.carried.clear();
    for (int i = 0; i < 1025; ++i) {
      loop.carried.push_back({SlotId(main.slots.size()), SlotId(main.slots.size())});
      main.slots.push_back(state);
    }
  });
  expectError("replicas", [](Program &p) { p.numReplicas = 0; });
  expectError("location 5", [](Program &p) { p.functions[0].steps[0].location = 5; });
  expectError("malformed layout", [&](Program &p) {
    for (Step &s : p.functions[0].steps)
      if (auto *call = std::get_if<CustomCallStep>(&s.body))
        call->argumentLayouts[0] = {0, 0};
  });
}

} // namespace
