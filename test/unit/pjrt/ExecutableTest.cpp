// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExecutableTest.cpp - Compile, execute, store over the C API ---------===//
#include "test/unit/pjrt/Plugin.h"

using namespace millrace::pjrt;
using namespace millrace::pjrt::test;

namespace {

constexpr std::string_view addOne = R"(
module @jit_add {
  func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
    %one = stablehlo.constant dense<1.0> : tensor<4xf32>
    %0 = stablehlo.add %x, %one : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
})";

/// As it leaves the compiler that JAX talks to, but as text: devices add up what they have.
constexpr std::string_view sumOfTwo = R"(
module @sum attributes {mhlo.num_replicas = 2 : i32} {
  func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %0 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    return %0, %x : tensor<2xf32>, tensor<2xf32>
  }
})";

Executable *executableOf(LoadedExecutable *loaded) {
  auto args = make<LoadedExecutable_GetExecutable_Args>();
  args.object = loaded;
  EXPECT_OK(api().LoadedExecutable_GetExecutable(&args));
  return args.result;
}
void destroy(Executable *executable) {
  auto args = make<Executable_Destroy_Args>();
  args.object = executable;
  EXPECT_OK(api().Executable_Destroy(&args));
}
using millrace::pjrt::test::destroy;

std::string serialize(LoadedExecutable *loaded) {
  Executable *executable = executableOf(loaded);
  auto args = make<Executable_Serialize_Args>();
  args.object = executable;
  EXPECT_OK(api().Executable_Serialize(&args));
  std::string bytes(args.data, args.size);
  args.deleter(args.holder);
  destroy(executable);
  return bytes;
}

TEST(PjrtExecutable, DonatedArgumentsAreConsumed) {
  Owned owned;
  LoadedExecutable *executable;
  ASSERT_EQ(owned.compile(addOne, executable).message, "");
  Buffer *x = owned.put({1, 2, 3, 4});
  std::vector<std::vector<Buffer *>> results;
  ASSERT_EQ(execute(executable, {{x}}, 1, results, {0}).message, "");
  EXPECT_FALSE(isDeleted(x)) << "the caller said not to donate it";
  EXPECT_EQ(get(x), (std::vector<float>{1, 2, 3, 4}));
  destroy(results[0][0]);
  ASSERT_EQ(execute(executable, {{x}}, 1, results).message, "");
  EXPECT_TRUE(isDeleted(x));
  EXPECT_EQ(get(results[0][0]), (std::vector<float>{2, 3, 4, 5}));
  destroy(results[0][0]);
  EXPECT_NE(execute(executable, {{x}}, 1, results).message.find("deleted or donated"), std::string::npos);
  destroy(x);
  destroy(executable);
}

TEST(PjrtExecutable, ResultsThatReplaceEachOthersArguments) {
  Owned owned;
  LoadedExecutable *executable;
  ASSERT_EQ(owned.compile(R"(func.func @main(%a: tensor<2xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<2xf32> {tf.aliasing_output = 1 : i32}) -> (tensor<2xf32>, tensor<2xf32>) {
    return %b, %a : tensor<2xf32>, tensor<2xf32> })", executable).message, "");
  Buffer *a = owned.put({1, 2}), *b = owned.put({3, 4});
  std::vector<std::vector<Buffer *>> results;
  ASSERT_EQ(execute(executable, {{a, b}}, 2, results).message, "");
  EXPECT_EQ(get(results[0][0]), (std::vector<float>{3, 4}));
  EXPECT_EQ(get(results[0][1]), (std::vector<float>{1, 2}));
  for (Buffer *buffer : {a, b, results[0][0], results[0][1]})
    destroy(buffer);
  destroy(executable);
}

TEST(PjrtExecutable, WrongArgumentsAreErrors) {
  Owned owned(2);
  LoadedExecutable *executable;
  ASSERT_EQ(owned.compile(addOne, executable).message, "");
  Buffer *small = owned.put({1, 2}), *elsewhere = owned.put({1, 2, 3, 4}, 1);
  std::vector<std::vector<Buffer *>> results;
  EXPECT_EQ(execute(executable, {{small}}, 1, results).code, 3);
  EXPECT_EQ(execute(executable, {{elsewhere}}, 1, results).code, 3);
  EXPECT_EQ(execute(executable, {{}}, 1, results).code, 3);
  EXPECT_FALSE(isDeleted(small)) << "nothing is consumed when nothing ran";
  destroy(small);
  destroy(elsewhere);
  destroy(executable);
}

TEST(PjrtExecutable, ErrorsOfArgumentsArriveInResults) {
  Owned owned;
  LoadedExecutable *executable;
  ASSERT_EQ(owned.compile(addOne, executable).message, "");
  int64_t dims[1] = {4};
  auto args = make<Client_CreateErrorBuffer_Args>();
  args.client = owned.client;
  args.status = {15, "lost", 4};
  args.shape.dims = dims;
  args.shape.num_dims = 1;
  args.shape.element_type = F32;
  args.memory = owned.memory(0);
  EXPECT_OK(api().Client_CreateErrorBuffer(&args));
  std::vector<std::vector<Buffer *>> results;
  Outcome outcome = execute(executable, {{args.buffer}}, 1, results);
  EXPECT_EQ(outcome.code, 15);
  EXPECT_EQ(outcome.message, "lost");
  destroy(results[0][0]);
  destroy(args.buffer);
  destroy(executable);
}

TEST(PjrtExecutable, SeveralDevicesRunInOneCall) {
  Owned owned(3);
  LoadedExecutable *executable;
  ASSERT_EQ(owned.compile(sumOfTwo, executable, compileOptions(2, 1, {{2, 1}})).message, "");
  auto devices = make<LoadedExecutable_AddressableDevices_Args>();
  devices.object = executable;
  EXPECT_OK(api().LoadedExecutable_AddressableDevices(&devices));
  ASSERT_EQ(devices.size, 2u);
  EXPECT_EQ(devices.list[0], owned.devices[2]);
  Buffer *first = owned.put({1, 2}, 2), *second = owned.put({10, 20}, 1);
  std::vector<std::vector<Buffer *>> results;
  ASSERT_EQ(execute(executable, {{first}, {second}}, 2, results).message, "");
  for (size_t d = 0; d < 2; ++d)
    EXPECT_EQ(get(results[d][0]), (std::vector<float>{11, 22}));
  EXPECT_EQ(get(results[1][1]), (std::vector<float>{10, 20}));
  for (auto &list : results)
    for (Buffer *buffer : list)
      destroy(buffer);
  destroy(first);
  destroy(second);

  auto assignment = make<LoadedExecutable_GetDeviceAssignment_Args>();
  assignment.object = executable;
  EXPECT_OK(api().LoadedExecutable_GetDeviceAssignment(&assignment));
  EXPECT_EQ(std::string(assignment.data, assignment.size), std::string("\x08\x02\x10\x01\x1a\x04\x0a\x02\x02\x01", 10));
  assignment.deleter(assignment.holder);
  destroy(executable);

  EXPECT_EQ(owned.compile(sumOfTwo, executable, compileOptions(2, 1, {{1, 1}})).code, 3) << "one device twice";
  EXPECT_EQ(owned.compile(sumOfTwo, executable, compileOptions(2, 1, {{0, 9}})).code, 3) << "no such device";
  EXPECT_EQ(owned.compile(sumOfTwo, executable, compileOptions(4, 1)).code, 3) << "other counts than the module's";
}

TEST(PjrtExecutable, PartitionedOnesReportTheirShardings) {
  Owned owned(4);
  LoadedExecutable *loaded;
  ASSERT_EQ(owned.compile(R"(module @split attributes {mhlo.num_partitions = 4 : i32} {
    func.func @main(%x: tensor<8xf32> {mhlo.sharding = "{devices=[4]<=[4]}"}, %y: tensor<8x2xf32> {mhlo.sharding = "{replicated}"})
        -> (tensor<8xf32> {mhlo.sharding = "{devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}"}) {
      %0 = stablehlo.add %x, %x : tensor<8xf32>
      return %0 : tensor<8xf32>
    } })", loaded, compileOptions(1, 4)).message, "");
  struct ShardingsArgs : Args {
    Executable *executable;
    size_t count;
    const char *const *data;
    const size_t *sizes;
  };
  struct ShardingsExtension {
    Extension base;
    Error *(*lists[2])(ShardingsArgs *);
  };
  const Extension *extension = api().extension_start;
  while (extension && extension->type != 19)
    extension = extension->next;
  ASSERT_NE(extension, nullptr);
  Executable *executable = executableOf(loaded);
  auto args = make<ShardingsArgs>();
  args.executable = executable;
  EXPECT_OK(reinterpret_cast<const ShardingsExtension *>(extension)->lists[0](&args));
  ASSERT_EQ(args.count, 2u);
  // Written by jaxlib's OpSharding for the same shardings.
  EXPECT_EQ(std::string(args.data[0], args.sizes[0]), std::string("\x08\x03\x1a\x01\x04\x4a\x01\x04\x52\x01\x00", 11));
  EXPECT_EQ(args.sizes[1], 0u);
  EXPECT_OK(reinterpret_cast<const ShardingsExtension *>(extension)->lists[1](&args));
  ASSERT_EQ(args.count, 1u);
  EXPECT_EQ(std::string(args.data[0], args.sizes[0]),
            std::string("\x08\x03\x1a\x02\x02\x02\x30\x01\x4a\x02\x02\x02\x52\x02\x01\x00", 16));
  destroy(executable);

  // Every device has its part.
  std::vector<std::vector<Buffer *>> arguments(4), results;
  for (size_t d = 0; d < 4; ++d) {
    std::vector<float> part = {float(2 * d), float(2 * d + 1)};
    float zeros[16] = {};
    arguments[d] = {owned.put(part, d), owned.put(zeros, F32, {8, 2}, d)};
  }
  ASSERT_EQ(execute(loaded, arguments, 1, results).message, "");
  // Devices 0 and 2 hold the first half, because the list is transposed.
  EXPECT_EQ(get(results[0][0]), (std::vector<float>{0, 2, 4, 6}));
  EXPECT_EQ(get(results[2][0]), (std::vector<float>{0, 2, 4, 6}));
  EXPECT_EQ(get(results[3][0]), (std::vector<float>{8, 10, 12, 14}));
  for (size_t d = 0; d < 4; ++d)
    for (Buffer *buffer : {arguments[d][0], arguments[d][1], results[d][0]})
      destroy(buffer);
  destroy(loaded);
}

TEST(PjrtExecutable, PortableOnesRunWhereTheyAreTold) {
  Owned owned(2);
  LoadedExecutable *executable;
  ASSERT_EQ(owned.compile(addOne, executable, compileOptions(1, 1, {}, true)).message, "");
  auto assignment = make<LoadedExecutable_GetDeviceAssignment_Args>();
  assignment.object = executable;
  EXPECT_OK(api().LoadedExecutable_GetDeviceAssignment(&assignment));
  EXPECT_EQ(assignment.size, 0u);
  assignment.deleter(assignment.holder);
  Buffer *x = owned.put({1, 2, 3, 4}, 1);
  std::vector<std::vector<Buffer *>> results;
  EXPECT_EQ(execute(executable, {{x}}, 1, results).code, 3) << "where?";
  ASSERT_EQ(execute(executable, {{x}}, 1, results, {}, owned.devices[1]).message, "");
  EXPECT_EQ(get(results[0][0]), (std::vector<float>{2, 3, 4, 5}));
  destroy(results[0][0]);
  destroy(x);
  destroy(executable);
}

TEST(PjrtExecutable, LayoutsOfArgumentsAndResultsAreHonoured) {
  Owned owned;
  LoadedExecutable *executable;
  ASSERT_EQ(owned.compile(R"(func.func @main(%x: tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"}) -> (tensor<2x3xf32>, tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"}) {
    %0 = stablehlo.add %x, %x : tensor<2x3xf32>
    return %x, %0 : tensor<2x3xf32>, tensor<2x3xf32> })", executable).message, "");
  float data[6] = {0, 1, 2, 3, 4, 5};
  std::vector<std::vector<Buffer *>> results;
  Buffer *rowMajor = owned.put(data, F32, {2, 3});
  EXPECT_NE(execute(executable, {{rowMajor}}, 2, results).message.find("layout"), std::string::npos);
  destroy(rowMajor);
  int64_t dims[2] = {2, 3}, order[2] = {0, 1};
  auto layout = make<MemoryLayout>();
  layout.tiled.minor_to_major = order;
  layout.tiled.minor_to_major_size = 2;
  auto put = make<Client_BufferFromHostBuffer_Args>();
  put.client = owned.client;
  put.data = data;
  put.type = F32;
  put.dims = dims;
  put.num_dims = 2;
  put.memory = owned.memory(0);
  put.device_layout = &layout;
  EXPECT_OK(api().Client_BufferFromHostBuffer(&put));
  destroy(put.done_with_host_buffer);
  ASSERT_EQ(execute(executable, {{put.buffer}}, 2, results).message, "");
  EXPECT_EQ(get(results[0][0]), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(get(results[0][1]), (std::vector<float>{0, 6, 2, 8, 4, 10})); // as it lies in memory
  for (Buffer *buffer : {put.buffer, results[0][0], results[0][1]})
    destroy(buffer);

  std::string bytes = serialize(executable);
  destroy(executable);
  auto load = make<Executable_DeserializeAndLoad_Args>();
  load.client = owned.client;
  load.data = bytes.data();
  load.size = bytes.size();
  EXPECT_OK(api().Executable_DeserializeAndLoad(&load));
  rowMajor = owned.put(data, F32, {2, 3});
  EXPECT_EQ(execute(load.executable, {{rowMajor}}, 2, results).code, 3) << "the stored program keeps its layouts";
  destroy(rowMajor);
  destroy(load.executable);

  EXPECT_EQ(owned.compile(R"(func.func @main(%x: tensor<2x3xf32> {mhlo.layout_mode = "{1,0:T(8,128)}"}) -> tensor<2x3xf32> {
    return %x : tensor<2x3xf32> })", executable).code, 12);
}

TEST(PjrtExecutable, CompileErrorsNameTheUsersLine) {
  Owned owned;
  LoadedExecutable *executable;
  Outcome outcome = owned.compile(R"(func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.custom_call @nobody_has_this(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("model.py":12:5)
    return %0 : tensor<4xf32> })", executable);
  EXPECT_NE(outcome.code, 0);
  EXPECT_NE(outcome.message.find("model.py:12"), std::string::npos) << outcome.message;
  outcome = owned.compile("func.func @main(%x: tensor<4xf32>) -> tensor<5xf32> { return %x : tensor<4xf32> }", executable);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(owned.compile("", executable).code, 3);
  EXPECT_EQ(owned.compile("ML\xefR garbage", executable).code, 3);
  EXPECT_EQ(owned.compile(addOne, executable, "\x1a\x05garbage").code, 3) << "options that are no proto";

  auto program = make<ProgramCode>();
  program.format = "hlo";
  program.format_size = 3;
  auto args = make<Client_Compile_Args>();
  args.client = owned.client;
  args.program = &program;
  EXPECT_EQ(outcomeOf(api().Client_Compile(&args)).code, 12);
}

TEST(PjrtExecutable, SurvivesItsStorage) {
  Owned owned;
  LoadedExecutable *executable;
  ASSERT_EQ(owned.compile(addOne, executable).message, "");
  std::string bytes = serialize(executable);
  destroy(executable);
  auto load = make<Executable_DeserializeAndLoad_Args>();
  load.client = owned.client;
  load.data = bytes.data();
  load.size = bytes.size();
  EXPECT_OK(api().Executable_DeserializeAndLoad(&load));
  Buffer *x = owned.put({1, 2, 3, 4});
  std::vector<std::vector<Buffer *>> results;
  ASSERT_EQ(execute(load.executable, {{x}}, 1, results).message, "");
  EXPECT_EQ(get(results[0][0]), (std::vector<float>{2, 3, 4, 5}));
  destroy(results[0][0]);
  destroy(x);
  destroy(load.executable);

  // No damage goes unnoticed, whether it hits the checksum or what it covers.
  for (size_t position = 0; position < bytes.size(); position += 1 + bytes.size() / 300) {
    std::string damaged = bytes;
    damaged[position] ^= 1 << position % 8;
    load.data = damaged.data();
    EXPECT_NE(outcomeOf(api().Executable_DeserializeAndLoad(&load)).code, 0) << "bit flipped at " << position;
    load.size = position;
    EXPECT_NE(outcomeOf(api().Executable_DeserializeAndLoad(&load)).code, 0) << "cut after " << position;
    load.size = bytes.size();
  }
}

TEST(PjrtExecutable, SaysWhatItCosts) {
  Owned owned;
  LoadedExecutable *loaded;
  ASSERT_EQ(owned.compile(R"(func.func @main(%x: tensor<8x16xf32>, %y: tensor<16x4xf32>) -> tensor<8x4xf32> {
    %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32> })", loaded).message, "");
  Executable *executable = executableOf(loaded);
  auto cost = make<Executable_GetCostAnalysis_Args>();
  cost.executable = executable;
  EXPECT_OK(api().Executable_GetCostAnalysis(&cost));
  ASSERT_EQ(cost.num_properties, 2u);
  EXPECT_EQ(std::string_view(cost.properties[0].name, cost.properties[0].name_size), "flops");
  EXPECT_EQ(cost.properties[0].float_value, 2 * 8 * 16 * 4);
  EXPECT_EQ(cost.properties[1].float_value, 4 * (8 * 16 + 16 * 4 + 8 * 4));

  // A caller of an older version has a shorter struct; what follows it in memory is not ours.
  auto stats = make<Executable_GetCompiledMemoryStats_Args>(104);
  stats.executable = executable;
  stats.peak = -77;
  EXPECT_OK(api().Executable_GetCompiledMemoryStats(&stats));
  EXPECT_EQ(stats.argument, 4 * (8 * 16 + 16 * 4));
  EXPECT_EQ(stats.output, 4 * 8 * 4);
  EXPECT_EQ(stats.peak, -77);

  auto program = make<ProgramCode>();
  auto optimized = make<Executable_OptimizedProgram_Args>();
  optimized.executable = executable;
  optimized.program = &program;
  EXPECT_OK(api().Executable_OptimizedProgram(&optimized));
  std::string text(program.code_size, '\0');
  program.code = text.data();
  EXPECT_OK(api().Executable_OptimizedProgram(&optimized));
  EXPECT_EQ(std::string_view(program.format, program.format_size), "mlir");
  destroy(executable);
  destroy(loaded);
}

// test/e2e/test_leaks.py runs all of this under a leak checker.
TEST(PjrtExecutable, CyclesOfClients) {
  for (int cycle = 0; cycle < 3; ++cycle) {
    Owned owned(2);
    LoadedExecutable *executable;
    ASSERT_EQ(owned.compile(sumOfTwo, executable, compileOptions(2, 1)).message, "");
    Buffer *first = owned.put({1, 2}, 0), *second = owned.put({10, 20}, 1);
    std::vector<std::vector<Buffer *>> results;
    ASSERT_EQ(execute(executable, {{first}, {second}}, 2, results).message, "");
    destroy(executable); // before its results
    for (auto &list : results)
      for (Buffer *buffer : list)
        destroy(buffer);
    destroy(first);
    destroy(second);
  }
}

// What the leak checker must find.
TEST(PjrtExecutable, DISABLED_LeaksABuffer) {
  Owned owned;
  owned.put({1, 2, 3});
}

} // namespace
