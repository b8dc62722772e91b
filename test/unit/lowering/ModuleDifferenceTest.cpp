// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ModuleDifferenceTest.cpp - Why a program was compiled anew ----------===//
#include "lowering/client/ModuleDifference.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace millrace;

namespace {

/// A program that scales its argument, with the line of the multiplication.
ModuleSummary scaled(const std::string &rows, const std::string &scale, const std::string &attributes = "") {
  static auto *context = [] {
    auto *made = new MLIRContext;
    made->loadDialect<func::FuncDialect, stablehlo::StablehloDialect>();
    return made;
  }();
  const std::string type = "tensor<" + rows + "x4xf32>";
  const std::string text = "module @jit_step { func.func @main(%x: " + type + attributes + R"( loc("x")) -> )" + type + R"( {
      %c = stablehlo.constant dense<)" + scale + R"(> : tensor<f32> loc(unknown)
      %s = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> )" + type + R"( loc("train.py":7:3)
      %y = stablehlo.multiply %x, %s : )" + type + R"( loc("train.py":7:3)
      return %y : )" + type + " } }";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context);
  EXPECT_TRUE(module);
  return summarize(*module);
}

TEST(ModuleDifference, AConstantHasBothValuesAndTheLineOfItsUser) {
  EXPECT_EQ(firstDifference(scaled("2", "3.0"), scaled("2", "4.0")), "constant 3.0 became 4.0 (train.py:7)");
  EXPECT_EQ(firstDifference(scaled("2", "0.1"), scaled("2", "1.0e-6")), "constant 0.1 became 1e-06 (train.py:7)");
}

TEST(ModuleDifference, AnArgumentHasItsNameAndBothTypes) {
  EXPECT_EQ(firstDifference(scaled("2", "3.0"), scaled("5", "3.0")), "argument 0 (x): tensor<2x4xf32> became tensor<5x4xf32>");
  EXPECT_EQ(firstDifference(scaled("2", "3.0"), scaled("2", "3.0", " {jax.buffer_donor = true}")),
            "argument 0 (x): tensor<2x4xf32> became tensor<2x4xf32> {jax.buffer_donor = true}");
}

TEST(ModuleDifference, ProgramsAreComparedWithTheMostSimilarOne) {
  ModuleHistory history;
  EXPECT_EQ(history.add(scaled("2", "3.0")), "") << "the first one of this name";
  EXPECT_EQ(history.add(scaled("5", "3.0")), "argument 0 (x): tensor<2x4xf32> became tensor<5x4xf32>");
  EXPECT_EQ(history.add(scaled("2", "4.0")), "constant 3.0 became 4.0 (train.py:7)") << "not with the last one, which has another shape";
  EXPECT_EQ(history.add(scaled("2", "4.0")), "the same program once more");
}

} // namespace
