// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FloatModesTest.cpp - Compilers and evaluators in foreign modes --------===//
#include "dialects/stablehlo/eval/Evaluator.h"
#include "lowering/Compile.h"
#include "runtime/client/Client.h"
#include "test/unit/runtime/ForeignModes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace millrace;
using millrace::test::ForeignModes;

namespace {

/// Of constants alone: whatever is folded, or else computed, depends on rounding or on subnormal numbers.
const char *const kConstants = R"(
  func.func @main() -> (tensor<2xf32>, tensor<f64>, tensor<3xf32>, tensor<2xi1>, tensor<f32>, tensor<bf16>, tensor<f64>) {
    %x = stablehlo.constant dense<[1.5e-38, 1.0]> : tensor<2xf32>
    %y = stablehlo.constant dense<[4.0, 3.0]> : tensor<2xf32>
    %0 = stablehlo.divide %x, %y : tensor<2xf32>
    %d = stablehlo.constant dense<4.0e-310> : tensor<f64>
    %e = stablehlo.constant dense<3.0> : tensor<f64>
    %1 = stablehlo.multiply %d, %e : tensor<f64>
    %z = stablehlo.constant dense<[1.0e-40, -100.0, 0.1]> : tensor<3xf32>
    %2 = stablehlo.exponential %z : tensor<3xf32>
    %s = stablehlo.constant dense<[1.0e-40, 0.0]> : tensor<2xf32>
    %n = stablehlo.constant dense<0.0> : tensor<2xf32>
    %3 = stablehlo.compare GT, %s, %n, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %i = stablehlo.constant dense<0.0> : tensor<f32>
    %4 = stablehlo.reduce(%z init: %i) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    %b = stablehlo.constant dense<9.2e-41> : tensor<bf16>
    %5 = stablehlo.add %b, %b : tensor<bf16>
    %q = stablehlo.constant dense<2.0> : tensor<f64>
    %6 = stablehlo.sqrt %q : tensor<f64>
    return %0, %1, %2, %3, %4, %5, %6 : tensor<2xf32>, tensor<f64>, tensor<3xf32>, tensor<2xi1>, tensor<f32>, tensor<bf16>, tensor<f64>
  })";

/// The same of an argument.
const char *const kArgument = R"(
  func.func @main(%x: tensor<70xf32>) -> (tensor<70xf32>, tensor<70xf32>, tensor<70xi1>) {
    %y = stablehlo.constant dense<3.0> : tensor<70xf32>
    %n = stablehlo.constant dense<0.0> : tensor<70xf32>
    %0 = stablehlo.divide %x, %y : tensor<70xf32>
    %1 = stablehlo.sqrt %x : tensor<70xf32>
    %2 = stablehlo.compare GT, %x, %n, FLOAT : (tensor<70xf32>, tensor<70xf32>) -> tensor<70xi1>
    return %0, %1, %2 : tensor<70xf32>, tensor<70xf32>, tensor<70xi1>
  })";

using Bytes = std::vector<std::string>;

Bytes run(const char *text, const std::vector<float> *argument, const CompileOptions &options) {
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  auto program = compile(*module, options);
  EXPECT_TRUE(bool(program)) << llvm::toString(program.takeError());
  auto client = runtime::Client::create({});
  EXPECT_TRUE(client.ok());
  auto executable = (*client)->load(std::move(*program));
  EXPECT_TRUE(executable.ok()) << executable.status().toString();
  std::vector<runtime::BufferPtr> arguments;
  if (argument) {
    auto buffer = (*client)->bufferFromHost(argument->data(), runtime::DType::F32, {int64_t(argument->size())}, {},
                                            runtime::HostSemantics::OnlyDuringCall, (*client)->devices()[0]->memories()[0]);
    EXPECT_TRUE(buffer.ok());
    arguments.push_back(*buffer);
  }
  auto result = (*executable)->execute({arguments});
  EXPECT_TRUE(result.ok()) << result.status().toString();
  Bytes all;
  for (const runtime::BufferPtr &buffer : result->results[0]) {
    auto dims = buffer->dims();
    size_t bytes = runtime::byteSize(buffer->dtype());
    for (int64_t dim : *dims)
      bytes *= size_t(dim);
    EXPECT_TRUE(buffer->toHost(all.emplace_back(bytes, '\0').data(), bytes).await().ok());
  }
  return all;
}

Bytes evaluated(const char *text) {
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  auto results = eval::evaluate(module->lookupSymbol<mlir::func::FuncOp>("main"), {});
  EXPECT_TRUE(bool(results));
  Bytes all;
  for (const eval::Value &value : *results)
    all.emplace_back(value.tensor().data(), value.tensor().numBytes());
  return all;
}

class FloatModes : public ::testing::TestWithParam<ForeignModes::Kind> {};
INSTANTIATE_TEST_SUITE_P(Callers, FloatModes, ::testing::ValuesIn(ForeignModes::all()),
                         [](const auto &info) { return "Kind" + std::to_string(info.index); });

TEST_P(FloatModes, ConstantsAreFoldedInTheDefaultOnes) {
  for (bool fold : {true, false}) {
    CompileOptions options;
    options.fold = fold;
    const Bytes usual = run(kConstants, nullptr, options);
    EXPECT_EQ(usual[3], std::string({1, 0}));
    Bytes foreign;
    uint64_t before, after;
    {
      ForeignModes modes(GetParam());
      before = ForeignModes::word();
      foreign = run(kConstants, nullptr, options);
      after = ForeignModes::word();
    }
    EXPECT_EQ(foreign, usual);
    EXPECT_EQ(before & ~uint64_t(0x3f), after & ~uint64_t(0x3f)); // the parser and the client may raise flags
  }
}

TEST_P(FloatModes, ProgramsComputeInTheDefaultOnes) {
  std::vector<float> x{1e-40f, 1.5e-38f, 1, 0.1f, 1e-45f};
  x.resize(70, 0.7f);
  const Bytes usual = run(kArgument, &x, {});
  EXPECT_EQ(usual[2], std::string(70, 1));
  ForeignModes modes(GetParam());
  EXPECT_EQ(run(kArgument, &x, {}), usual);
}

TEST_P(FloatModes, TheEvaluatorComputesInTheDefaultOnes) {
  const Bytes usual = evaluated(kConstants);
  Bytes foreign;
  uint64_t before, after;
  {
    ForeignModes modes(GetParam());
    before = ForeignModes::word();
    foreign = evaluated(kConstants);
    after = ForeignModes::word();
  }
  EXPECT_EQ(foreign, usual);
  EXPECT_EQ(before & ~uint64_t(0x3f), after & ~uint64_t(0x3f));
}

} // namespace
