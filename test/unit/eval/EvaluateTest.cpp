// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EvaluateTest.cpp - The evaluator's C++ interface -------------------===//
#include "dialects/stablehlo/eval/Evaluator.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace millrace::eval;

namespace {

class Evaluate : public ::testing::Test {
protected:
  Evaluate() { context.loadDialect<mlir::func::FuncDialect, millrace::stablehlo::StablehloDialect>(); }
  mlir::func::FuncOp parse(const char *text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    return module ? *module->getOps<mlir::func::FuncOp>().begin() : mlir::func::FuncOp();
  }
  Tensor ints(llvm::ArrayRef<int64_t> shape, unsigned width, llvm::ArrayRef<int64_t> lanes) {
    return Tensor::ofInts(mlir::RankedTensorType::get(shape, mlir::IntegerType::get(&context, width)), lanes);
  }
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

// Copies share their bytes until one is written to.
TEST_F(Evaluate, TensorsCopyOnWrite) {
  Tensor a = ints({2}, 32, {1, 2}), b = a;
  EXPECT_EQ(a.data(), b.data());
  storeInt(Kind::I32, b.mutableData(), 7);
  EXPECT_EQ(a.getInt(0), 1);
  EXPECT_EQ(b.getInt(0), 7);
}

// Attributes of every width come back as they were, splats and packed booleans too.
TEST_F(Evaluate, AttributesRoundTrip) {
  for (const char *text : {"dense<[true, false, true]> : tensor<3xi1>", "dense<true> : tensor<3xi1>", "dense<[-8, 7]> : tensor<2xi4>",
                           "dense<3> : tensor<2x2xui2>", "dense<[-1, 5]> : tensor<2xi16>", "dense<[1.5, -2.0]> : tensor<2xbf16>",
                           "dense<[1.0, 6.0]> : tensor<2xf4E2M1FN>", "dense<(1.0, -2.0)> : tensor<2xcomplex<f32>>",
                           "dense<> : tensor<0xf64>", "dense<[true, false, true, true, false, false, true, false]> : tensor<8xi1>"}) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        std::string("module attributes {a.v = ") + text + "} {}", &context);
    ASSERT_TRUE(module) << text;
    auto attr = llvm::cast<mlir::DenseElementsAttr>((*module)->getAttr("a.v"));
    llvm::Expected<Tensor> tensor = Tensor::fromAttr(attr);
    ASSERT_TRUE(static_cast<bool>(tensor)) << text;
    EXPECT_EQ(tensor->toAttr(), attr) << text;
  }
}

TEST_F(Evaluate, CallsAFunction) {
  mlir::func::FuncOp function = parse(R"(func.func @f(%x: tensor<2xi32>) -> tensor<2xi32> {
    %0 = stablehlo.add %x, %x : tensor<2xi32>
    return %0 : tensor<2xi32> })");
  ASSERT_TRUE(function);
  auto results = evaluate(function, {ints({2}, 32, {3, -4})});
  ASSERT_TRUE(static_cast<bool>(results));
  EXPECT_EQ((*results)[0].tensor().ints(), Ints({6, -8}));
}

TEST_F(Evaluate, EvaluatesOneOperation) {
  mlir::func::FuncOp function = parse(R"(func.func @f(%x: tensor<i8>) -> tensor<i8> {
    %0 = stablehlo.negate %x : tensor<i8>
    return %0 : tensor<i8> })");
  ASSERT_TRUE(function);
  auto results = evaluateOp(&function.getBody().front().front(), {ints({}, 8, {-128})});
  ASSERT_TRUE(static_cast<bool>(results));
  EXPECT_EQ((*results)[0].tensor().getInt(0), -128);
}

// A loop that never ends is stopped by the step limit, an oversized tensor by the byte limit: errors, no aborts.
TEST_F(Evaluate, LimitsAreErrors) {
  mlir::func::FuncOp endless = parse(R"(func.func @f() -> tensor<i32> {
    %0 = stablehlo.constant dense<0> : tensor<i32>
    %t = stablehlo.constant dense<true> : tensor<i1>
    %r = stablehlo.while(%i = %0) : tensor<i32>
    cond { stablehlo.return %t : tensor<i1> } do { %n = stablehlo.negate %i : tensor<i32>
      stablehlo.return %n : tensor<i32> }
    return %r : tensor<i32> })");
  ASSERT_TRUE(endless);
  Options options;
  options.maxSteps = 1000;
  auto stopped = evaluate(endless, {}, options);
  ASSERT_FALSE(static_cast<bool>(stopped));
  EXPECT_NE(llvm::toString(stopped.takeError()).find("more than 1000 operations"), std::string::npos);

  mlir::func::FuncOp large = parse(R"(func.func @f() -> tensor<1000000xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<1000000xf32>
    return %0 : tensor<1000000xf32> })");
  ASSERT_TRUE(large);
  options.maxTensorBytes = 1000;
  auto refused = evaluate(large, {}, options);
  ASSERT_FALSE(static_cast<bool>(refused));
  EXPECT_NE(llvm::toString(refused.takeError()).find("larger than the limit of 1000 bytes"), std::string::npos);
}

// Four devices: each learns the sum of all ids; a device that would wait for nobody is an error.
TEST_F(Evaluate, GridsMeet) {
  mlir::func::FuncOp function = parse(R"(func.func @f() -> tensor<ui32> {
    %0 = stablehlo.replica_id : tensor<ui32>
    %1 = "stablehlo.all_reduce"(%0) ({
    ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
      %s = stablehlo.add %a, %b : tensor<ui32>
      stablehlo.return %s : tensor<ui32>
    }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<ui32>) -> tensor<ui32>
    return %1 : tensor<ui32> })");
  ASSERT_TRUE(function);
  const llvm::SmallVector<Value> arguments[1];
  auto results = evaluateOnGrid(function, arguments, 4, 1);
  ASSERT_TRUE(static_cast<bool>(results));
  for (auto &list : *results) EXPECT_EQ(list[0].tensor().getInt(0), 6);
  auto alone = evaluateOnGrid(function, arguments, 1, 1);
  ASSERT_FALSE(static_cast<bool>(alone));
  EXPECT_NE(llvm::toString(alone.takeError()).find("names process 1 of only 1"), std::string::npos);
}

} // namespace
