// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LoopOrderTest.cpp - Which loop of the generic path is innermost ----===//
#include "lowering/cpu/LoopOrder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace {

/// The order chosen for a linalg.generic out(`out`) += a(`a`) * b(`b`) over `loops` with rank-2 f32 operands 64x64.
std::vector<unsigned> orderFor(std::string loops, std::string a, std::string b, std::string out, std::string iterators) {
  MLIRContext context;
  context.loadDialect<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect, memref::MemRefDialect>();
  std::string text = "func.func @f(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {\n"
                     "linalg.generic {indexing_maps = [affine_map<(" + loops + ") -> (" + a + ")>, affine_map<(" + loops + ") -> (" + b +
                     ")>, affine_map<(" + loops + ") -> (" + out + ")>], iterator_types = [" + iterators + "]}\n"
                     "ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>) {\n"
                     "^bb0(%x: f32, %y: f32, %z: f32):\n  %0 = arith.mulf %x, %y : f32\n  %1 = arith.addf %z, %0 : f32\n"
                     "  linalg.yield %1 : f32\n}\nreturn\n}\n";
  auto module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  std::vector<unsigned> order;
  module->walk([&](linalg::GenericOp op) {
    auto chosen = millrace::lowering::chooseLoopOrder(op);
    order.assign(chosen.begin(), chosen.end());
  });
  return order;
}

const char *matmul = "\"parallel\", \"parallel\", \"reduction\"";

} // namespace

TEST(LoopOrder, MatmulWalksAlongRows) {
  EXPECT_EQ(orderFor("m, n, k", "m, k", "k, n", "m, n", matmul), (std::vector<unsigned>{0, 2, 1}));
}

TEST(LoopOrder, TransposedRightHandSideKeepsTheSumInnermost) {
  EXPECT_EQ(orderFor("m, n, k", "m, k", "n, k", "m, n", matmul), (std::vector<unsigned>{0, 1, 2}));
}

TEST(LoopOrder, ElementwiseStays) {
  EXPECT_EQ(orderFor("i, j", "i, j", "i, j", "i, j", "\"parallel\", \"parallel\""), (std::vector<unsigned>{0, 1}));
}
