// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/Compile.h"
#include "lowering/cpu/SharedCode.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace millrace;
using namespace millrace::lowering;

namespace {

class SharedCode : public testing::Test {
protected:
  SharedCode() : context(registry(), mlir::MLIRContext::Threading::DISABLED) {}

  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry registry;
    registerCompilerDialects(registry);
    return registry;
  }

  /// A sum of products over `taps` points that are `distance` apart, and then `then`.
  BufferKernel kernel(int taps, int distance, int inner = 1, const std::string &then = "") {
    std::string text = R"(
      func.func private @f(%x: memref<)" + std::to_string(64 * distance) + R"(xf32>, %out: memref<16xf32>, %scratch: memref<?xi8>, %begin: index, %end: index) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %taps = arith.constant )" + std::to_string(taps) + R"( : index
        %distance = arith.constant )" + std::to_string(distance) + R"( : index
        %inner = arith.constant )" + std::to_string(inner) + R"( : index
        %c16 = arith.constant 16 : index
        %zero = arith.constant dense<0.0> : vector<16xf32>
        scf.for %i = %begin to %end step %c1 {
          %sum = scf.for %k = %c0 to %taps step %c1 iter_args(%a = %zero) -> (vector<16xf32>) {
            %at = arith.muli %k, %distance : index
            %next = scf.for %c = %c0 to %c16 step %c1 iter_args(%b = %a) -> (vector<16xf32>) {
              %far = arith.muli %c, %inner : index
              %place = arith.addi %at, %far : index
              %v = vector.load %x[%place] : memref<)" + std::to_string(64 * distance) + R"(xf32>, vector<16xf32>
              %p = vector.fma %v, %v, %b : vector<16xf32>
              scf.yield %p : vector<16xf32>
            }
            scf.yield %next : vector<16xf32>
          }
          vector.store %sum, %out[%c0] : memref<16xf32>, vector<16xf32>
        }
        )" + then + R"(
        return
      })";
    modules.push_back(mlir::parseSourceString<mlir::ModuleOp>(text, &context));
    BufferKernel result;
    if (!modules.back())
      return result;
    result.body = *modules.back()->getOps<mlir::func::FuncOp>().begin();
    result.numInputs = result.numOutputs = 1;
    result.emitter = "contraction";
    return result;
  }

  mlir::MLIRContext context;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

TEST_F(SharedCode, BoundsAndDistancesMayDiffer) {
  BufferKernel first = kernel(2, 64), second = kernel(3, 128);
  auto a = skeletonOf(first), b = skeletonOf(second);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->form, b->form);
  EXPECT_NE(a->numbers, b->numbers);

  auto values = shareCode(first, {&*a, &*b});
  EXPECT_EQ(values, (std::vector<std::vector<int64_t>>{{2, 64}, {3, 128}}));
  EXPECT_EQ(first.numNumbers, 2u);
  EXPECT_EQ(first.body.getNumArguments(), 7u);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*modules[0])));
  // What is the same everywhere is still a constant.
  bool hasStep = false;
  first.body.walk([&](mlir::Operation *op) {
    if (op->getName().getStringRef() == "scf.for")
      hasStep |= op->getOperand(2).getDefiningOp() != nullptr;
  });
  EXPECT_TRUE(hasStep);
}

TEST_F(SharedCode, EqualNumbersAreOneArgument) {
  BufferKernel first = kernel(64, 64), second = kernel(128, 128);
  auto a = skeletonOf(first), b = skeletonOf(second);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(shareCode(first, {&*a, &*b}), (std::vector<std::vector<int64_t>>{{64}, {128}}));
}

// Rows of a block lie at multiples of the number: those are known before the loop, and one product in it is left.
TEST_F(SharedCode, MultiplesAreComputedBeforeTheLoop) {
  auto copy = [&](int distance) {
    modules.push_back(mlir::parseSourceString<mlir::ModuleOp>(R"(
      func.func private @f(%x: memref<4096xf32>, %out: memref<4096xf32>, %scratch: memref<?xi8>, %begin: index, %end: index) {
        %c1 = arith.constant 1 : index
        %c3 = arith.constant 3 : index
        %distance = arith.constant )" + std::to_string(distance) + R"( : index
        scf.for %i = %begin to %end step %c1 {
          %first = arith.muli %i, %distance : index
          %i3 = arith.addi %i, %c3 : index
          %third = arith.muli %i3, %distance : index
          %a = memref.load %x[%first] : memref<4096xf32>
          memref.store %a, %out[%third] : memref<4096xf32>
        }
        return
      })", &context));
    BufferKernel result;
    result.body = *modules.back()->getOps<mlir::func::FuncOp>().begin();
    result.numInputs = result.numOutputs = 1;
    result.emitter = "movement";
    return result;
  };
  BufferKernel first = copy(40), second = copy(56);
  auto a = skeletonOf(first), b = skeletonOf(second);
  ASSERT_TRUE(a && b);
  ASSERT_EQ(a->form, b->form);
  EXPECT_EQ(shareCode(first, {&*a, &*b}), (std::vector<std::vector<int64_t>>{{40}, {56}}));
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*modules[0])));
  mlir::Value index = first.body.getBody().front().back().getPrevNode()->getRegion(0).getArgument(0), number = first.body.getArguments().back();
  int before = 0, inside = 0;
  first.body.walk([&](mlir::Operation *op) {
    if (op->getName().getStringRef() != "arith.muli")
      return;
    EXPECT_EQ(op->getOperand(1), number);
    bool isBefore = op->getBlock() == &first.body.getBody().front();
    ++(isBefore ? before : inside);
    EXPECT_EQ(op->getOperand(0) == index, !isBefore);
  });
  EXPECT_EQ(before, 1);
  EXPECT_EQ(inside, 2); // the same twice: LLVM's first pass leaves one
}

// It would be an addition per product, or a multiplication, instead of a part of an address.
TEST_F(SharedCode, InnermostLoopsOfProductsKnowTheirNumbers) {
  auto a = skeletonOf(kernel(2, 64, 4)), b = skeletonOf(kernel(2, 64, 8));
  ASSERT_TRUE(a && b);
  EXPECT_NE(a->form, b->form);
}

TEST_F(SharedCode, WhoAsksForTheSizeOfABufferSharesNothing) {
  EXPECT_FALSE(skeletonOf(kernel(2, 64, 1, "%n = memref.dim %x, %c0 : memref<4096xf32>")));
}

TEST_F(SharedCode, EmittersAndCountsOfBuffersAreCompared) {
  BufferKernel row = kernel(2, 64), contraction = kernel(2, 64);
  row.emitter = "row";
  EXPECT_NE(skeletonOf(row)->form, skeletonOf(contraction)->form);
  row.emitter = "generic"; // buffers of several dimensions, loops for LLVM's vectorizer
  EXPECT_FALSE(skeletonOf(row));
}

constexpr const char *kThreePads = R"(
  func.func @main(%x: tensor<40x64xf32>) -> (tensor<42x64xf32>, tensor<44x64xf32>, tensor<48x64xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.pad %x, %zero, low = [2, 0], high = [0, 0], interior = [0, 0] : (tensor<40x64xf32>, tensor<f32>) -> tensor<42x64xf32>
    %1 = stablehlo.pad %x, %zero, low = [4, 0], high = [0, 0], interior = [0, 0] : (tensor<40x64xf32>, tensor<f32>) -> tensor<44x64xf32>
    %2 = stablehlo.pad %x, %zero, low = [8, 0], high = [0, 0], interior = [0, 0] : (tensor<40x64xf32>, tensor<f32>) -> tensor<48x64xf32>
    return %0, %1, %2 : tensor<42x64xf32>, tensor<44x64xf32>, tensor<48x64xf32>
  })";

TEST_F(SharedCode, PadsOfOtherSizesAreOneObject) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kThreePads, &context);
  ASSERT_TRUE(module);
  auto program = compile(*module, {});
  ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
  EXPECT_EQ(program->kernels.size(), 3u);
  EXPECT_EQ(program->objects.size(), 1u);
}

// Each kernel's code is replaced on its own there.
TEST_F(SharedCode, TheTieredModeSharesNothing) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kThreePads, &context);
  ASSERT_TRUE(module);
  CompileOptions options;
  options.onLateKernel = [](LateKernel) {};
  auto program = compile(*module, options);
  ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
  EXPECT_EQ(program->objects.size(), program->kernels.size());
}

} // namespace
