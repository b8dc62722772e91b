// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/CompilerSession.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

using namespace millrace;

namespace {

/// Programs that go through different parts of the compiler: vectors, reductions, contractions, run-time dimensions, loops, the generic path.
const char *const kPrograms[] = {
    R"(func.func @main(%x: tensor<37x41xf32>) -> tensor<37x41xf32> {
      %0 = stablehlo.tanh %x : tensor<37x41xf32>
      return %0 : tensor<37x41xf32>
    })",
    R"(func.func @main(%x: tensor<37x41xf32>) -> tensor<37xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<37x41xf32>, tensor<f32>) -> tensor<37xf32>
      return %0 : tensor<37xf32>
    })",
    R"(func.func @main(%a: tensor<65x33xf32>, %b: tensor<33x17xf32>) -> tensor<65x17xf32> {
      %0 = stablehlo.dot %a, %b : (tensor<65x33xf32>, tensor<33x17xf32>) -> tensor<65x17xf32>
      return %0 : tensor<65x17xf32>
    })",
    R"(func.func @main(%x: tensor<?x5xf32>) -> tensor<?x5xf32> {
      %0 = stablehlo.exponential %x : tensor<?x5xf32>
      return %0 : tensor<?x5xf32>
    })",
    R"(func.func @main(%n: tensor<i32>, %x: tensor<7xcomplex<f64>>) -> (tensor<i32>, tensor<7xcomplex<f64>>) {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %0:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<7xcomplex<f64>>
        cond {
          %1 = stablehlo.compare GT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %1 : tensor<i1>
        } do {
          %1 = stablehlo.subtract %i, %one : tensor<i32>
          %2 = stablehlo.sine %v : tensor<7xcomplex<f64>>
          stablehlo.return %1, %2 : tensor<i32>, tensor<7xcomplex<f64>>
        }
      return %0#0, %0#1 : tensor<i32>, tensor<7xcomplex<f64>>
    })",
};

/// The serialized program. Late kernels are not remembered by the process: every compilation makes its own machine code.
std::string compiled(mlir::MLIRContext &context, const char *text, PreparedPasses *prepared) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  CompileOptions options;
  options.prepared = prepared;
  options.onLateKernel = [](lowering::LateKernel) {};
  auto program = compile(*module, options);
  EXPECT_TRUE(bool(program)) << llvm::toString(program.takeError());
  runtime::StatusOr<std::string> bytes = runtime::serialize(*program);
  EXPECT_TRUE(bytes.ok()) << bytes.status().toString();
  return *bytes;
}

TEST(CompilerSession, CodeDoesNotDependOnWhatTheSessionCompiledBefore) {
  std::vector<std::string> alone;
  for (const char *text : kPrograms) {
    mlir::DialectRegistry registry;
    registerCompilerDialects(registry);
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    alone.push_back(compiled(context, text, nullptr));
  }
  CompilerSession session(0);
  for (int round = 0; round < 2; ++round)
    for (size_t i = 0; i < std::size(kPrograms); ++i)
      EXPECT_EQ(compiled(session.context(), kPrograms[i], &session.passes()), alone[i]) << "program " << i << ", round " << round;
}

TEST(CompilerSession, ItsContextServesTheNextProgram) {
  mlir::MLIRContext *first;
  {
    CompilerSession session(10);
    first = &session.context();
  }
  CompilerSession next(10);
  EXPECT_EQ(&next.context(), first);
  CompilerSession beside(10);
  EXPECT_NE(&beside.context(), first);
}

TEST(CompilerSession, ItEndsAfterManyBytesOrPrograms) {
  while (CompilerSession::idleCount()) // those of other tests
    CompilerSession taken(CompilerSession::kMostProgramBytes);
  { CompilerSession large(CompilerSession::kMostProgramBytes); }
  EXPECT_EQ(CompilerSession::idleCount(), 0u);
  for (size_t i = 1; i < CompilerSession::kMostPrograms; ++i) {
    { CompilerSession small(1); }
    ASSERT_EQ(CompilerSession::idleCount(), 1u);
  }
  { CompilerSession last(1); }
  EXPECT_EQ(CompilerSession::idleCount(), 0u);
}

} // namespace
