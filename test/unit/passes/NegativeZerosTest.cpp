// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/Compile.h"
#include "passes/loops/NegativeZeros.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace millrace;

namespace {

class NegativeZeros : public testing::Test {
protected:
  NegativeZeros() : context(registry(), mlir::MLIRContext::Threading::DISABLED) {}

  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry registry;
    millrace::registerCompilerDialects(registry);
    return registry;
  }

  /// For each result of a function of `body` and `results`, of type tensor<4xf32>, whether it can hold -0.0: one letter each, y or n.
  std::string possible(const std::string &body, const std::string &results, int count) {
    std::string types;
    for (int i = 0; i < count; ++i)
      types += i ? ", tensor<4xf32>" : "tensor<4xf32>";
    std::string text = "func.func @f(%x: tensor<4xf32>, %k: tensor<4xi32>, %i: tensor<i32>, %p: tensor<i1>) -> (" + types + ") {\n"
                       "%zero = stablehlo.constant dense<0.0> : tensor<4xf32>\n%minus = stablehlo.constant dense<[1.0, -0.0, 2.0, 3.0]> : tensor<4xf32>\n" +
                       body + "\nreturn " + results + " : " + types + "\n}";
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      return "does not parse";
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    loops::NegativeZeros zeros(function);
    std::string answer;
    for (mlir::Value value : function.getBody().front().getTerminator()->getOperands())
      answer += zeros.isPossible(value) ? 'y' : 'n';
    return answer;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(NegativeZeros, Constants) {
  EXPECT_EQ(possible("", "%zero, %minus, %x", 3), "nyy");
}

TEST_F(NegativeZeros, Sums) {
  EXPECT_EQ(possible(R"(
    %a = stablehlo.add %x, %zero : tensor<4xf32>
    %b = stablehlo.add %x, %minus : tensor<4xf32>
    %c = stablehlo.subtract %zero, %x : tensor<4xf32>
    %d = stablehlo.subtract %x, %zero : tensor<4xf32>
    %e = stablehlo.negate %zero : tensor<4xf32>)", "%a, %b, %c, %d, %e", 5), "nynyy");
}

TEST_F(NegativeZeros, NumbersThatAreNeverNegative) {
  EXPECT_EQ(possible(R"(
    %a = stablehlo.multiply %x, %x : tensor<4xf32>
    %b = stablehlo.multiply %x, %zero : tensor<4xf32>
    %c = stablehlo.abs %x : tensor<4xf32>
    %d = stablehlo.exponential %x : tensor<4xf32>
    %e = stablehlo.convert %k : (tensor<4xi32>) -> tensor<4xf32>
    %s = stablehlo.sqrt %x : tensor<4xf32>)", "%a, %b, %c, %d, %e, %s", 6), "nynnny");
}

TEST_F(NegativeZeros, Conversions) {
  EXPECT_EQ(possible(R"(
    %h = stablehlo.convert %zero : (tensor<4xf32>) -> tensor<4xbf16>
    %a = stablehlo.convert %h : (tensor<4xbf16>) -> tensor<4xf32>
    %i1 = stablehlo.convert %k : (tensor<4xi32>) -> tensor<4xf16>
    %b = stablehlo.convert %i1 : (tensor<4xf16>) -> tensor<4xf32>)", "%a, %b", 2), "yn");
}

TEST_F(NegativeZeros, Updates) {
  EXPECT_EQ(possible(R"(
    %one = stablehlo.constant dense<1.0> : tensor<1xf32>
    %u = stablehlo.slice %x [0:1] : (tensor<4xf32>) -> tensor<1xf32>
    %a = stablehlo.dynamic_update_slice %zero, %one, %i : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
    %b = stablehlo.dynamic_update_slice %zero, %u, %i : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
    %c = stablehlo.select %p, %a, %zero : tensor<i1>, tensor<4xf32>
    %d = stablehlo.select %p, %a, %minus : tensor<i1>, tensor<4xf32>)", "%a, %b, %c, %d", 4), "nyny");
}

TEST_F(NegativeZeros, ScattersByAddition) {
  auto scatter = [](const std::string &name, const std::string &into, const std::string &op) {
    return "%" + name + R"( = "stablehlo.scatter"(%)" + into + R"(, %at, %x) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%l: tensor<f32>, %r: tensor<f32>):
        %s = stablehlo.)" + op + R"( %l, %r : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<4xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<4xf32>)" "\n";
  };
  EXPECT_EQ(possible("%at = stablehlo.reshape %k : (tensor<4xi32>) -> tensor<4x1xi32>\n" + scatter("a", "zero", "add") + scatter("b", "minus", "add") +
                         scatter("c", "zero", "multiply"),
                     "%a, %b, %c", 3),
            "nyy");
}

/// Two arrays that a loop carries stay free of -0.0 only if neither starts with it, for the second is made of the first; a third one is its own.
TEST_F(NegativeZeros, CarriedValues) {
  auto loop = [](const std::string &first, const std::string &third) {
    return R"(%0:4 = stablehlo.while(%a = %)" + first + R"(, %b = %zero, %c = %)" + third + R"(, %n = %i) : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>
      cond {
        %t = stablehlo.compare LT, %n, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %t : tensor<i1>
      } do {
        %d = "stablehlo.if"(%p) ({
          stablehlo.return %a : tensor<4xf32>
        }, {
          %s = stablehlo.add %b, %x : tensor<4xf32>
          stablehlo.return %s : tensor<4xf32>
        }) : (tensor<i1>) -> tensor<4xf32>
        %e = stablehlo.add %c, %x : tensor<4xf32>
        stablehlo.return %b, %d, %e, %n : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>
      })";
  };
  EXPECT_EQ(possible(loop("zero", "zero"), "%0#0, %0#1, %0#2", 3), "nnn");
  EXPECT_EQ(possible(loop("x", "zero"), "%0#0, %0#1, %0#2", 3), "yyn");
  EXPECT_EQ(possible(loop("zero", "minus"), "%0#0, %0#1, %0#2", 3), "nny");
}

} // namespace
