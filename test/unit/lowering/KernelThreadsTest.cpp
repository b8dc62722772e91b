// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/Compile.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>

using namespace millrace;

namespace {

// Clients' contexts (JAX, PyTorch, the C ABI) are for one thread until kernels are compiled.
TEST(KernelThreads, KernelsOfAContextForOneThreadAreSpreadOverThreads) {
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    func.func @main(%x: tensor<37x41xf32>) -> (tensor<37x41xf32>, tensor<41x37xf32>, tensor<37xf32>) {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.exponential %x : tensor<37x41xf32>
      %1 = stablehlo.transpose %x, dims = [1, 0] : (tensor<37x41xf32>) -> tensor<41x37xf32>
      %2 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<37x41xf32>, tensor<f32>) -> tensor<37xf32>
      return %0, %1, %2 : tensor<37x41xf32>, tensor<41x37xf32>, tensor<37xf32>
    })", &context);
  ASSERT_TRUE(module);

  std::set<std::thread::id> seen;
  CompileOptions options;
  options.threads = 2;
  options.fuse = false;
  options.onProgress = [&](llvm::StringRef) { // one call at a time
    if (seen.insert(std::this_thread::get_id()).second && seen.size() == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(500)); // the other thread takes a kernel meanwhile
  };
  auto program = compile(*module, options);
  ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
  EXPECT_GE(program->kernels.size(), 3u);
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_FALSE(context.isMultithreadingEnabled());
}

// Programs that are compiled one after the other have kernels in common, as a training step and an evaluation.
TEST(KernelThreads, ALateKernelOfTwoProgramsIsFinishedOnce) {
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  size_t stored = 0;
  std::vector<lowering::LateKernel> late;
  CompileOptions options;
  options.kernelStore.store = [&](const runtime::ByteStore::Key &, std::string_view) { ++stored; };
  options.onLateKernel = [&](lowering::LateKernel kernel) { late.push_back(std::move(kernel)); };
  for (int i = 0; i < 2; ++i) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
      func.func @main(%x: tensor<23x43xf32>) -> tensor<23x43xf32> {
        %0 = stablehlo.log_plus_one %x : tensor<23x43xf32>
        return %0 : tensor<23x43xf32>
      })", &context);
    ASSERT_TRUE(module);
    auto program = compile(*module, options);
    ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
  }
  ASSERT_EQ(late.size(), 2u);
  EXPECT_EQ(stored, 0u);
  auto first = late[0].finish(), second = late[1].finish();
  ASSERT_TRUE(bool(first)) << llvm::toString(first.takeError());
  ASSERT_TRUE(bool(second)) << llvm::toString(second.takeError());
  EXPECT_EQ(first->object, second->object);
  EXPECT_EQ(stored, 1u);
}

// Whatever compiles kernels finds its dialects in the context: to load one, or to add to the registry, while other threads compile is a race.
TEST(KernelThreads, ThreadsLoadNoDialects) {
  for (bool genericOnly : {false, true}) {
    mlir::DialectRegistry registry;
    registerCompilerDialects(registry);
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
      func.func @main(%x: tensor<37x41xf32>, %y: tensor<41x19xf32>, %i: tensor<5x1xi32>, %c: tensor<8xcomplex<f32>>, %image: tensor<2x9x9x3xf32>,
                      %filter: tensor<3x3x3x5xf32>)
          -> (tensor<37x41xf32>, tensor<41x37xf32>, tensor<37xf32>, tensor<37x19xf32>, tensor<5x41xf32>, tensor<37x41xf32>, tensor<8xcomplex<f32>>,
              tensor<2x9x9x5xf32>, tensor<37x41xf32>, tensor<37x41xf32>, tensor<41xi32>) {
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %0 = stablehlo.exponential %x : tensor<37x41xf32>
        %1 = stablehlo.transpose %x, dims = [1, 0] : (tensor<37x41xf32>) -> tensor<41x37xf32>
        %2 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<37x41xf32>, tensor<f32>) -> tensor<37xf32>
        %3 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<37x41xf32>, tensor<41x19xf32>) -> tensor<37x19xf32>
        %4 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
            start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 41>}> : (tensor<37x41xf32>, tensor<5x1xi32>) -> tensor<5x41xf32>
        %5 = "stablehlo.scatter"(%x, %i, %4) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
            scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %sum = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %sum : tensor<f32>
        }) : (tensor<37x41xf32>, tensor<5x1xi32>, tensor<5x41xf32>) -> tensor<37x41xf32>
        %6 = stablehlo.multiply %c, %c : tensor<8xcomplex<f32>>
        %7 = stablehlo.convolution(%image, %filter) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
            {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x9x3xf32>, tensor<3x3x3x5xf32>) -> tensor<2x9x9x5xf32>
        %8 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %less = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %less : tensor<i1>
        }) : (tensor<37x41xf32>) -> tensor<37x41xf32>
        %9 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 3, 3>, padding = dense<1> : tensor<2x2xi64>}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %most = stablehlo.maximum %a, %b : tensor<f32>
          stablehlo.return %most : tensor<f32>
        }) : (tensor<37x41xf32>, tensor<f32>) -> tensor<37x41xf32>
        %10 = stablehlo.iota dim = 0 : tensor<41xi32>
        return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<37x41xf32>, tensor<41x37xf32>, tensor<37xf32>, tensor<37x19xf32>, tensor<5x41xf32>,
            tensor<37x41xf32>, tensor<8xcomplex<f32>>, tensor<2x9x9x5xf32>, tensor<37x41xf32>, tensor<37x41xf32>, tensor<41xi32>
      })", &context);
    ASSERT_TRUE(module);

    mlir::DialectRegistry before;
    size_t loaded = 0;
    CompileOptions options;
    options.threads = 2;
    options.fuse = false;
    options.genericOnly = genericOnly;
    options.onProgress = [&](llvm::StringRef what) {
      if (loaded || !what.starts_with("kernel ")) // passes load what they make
        return;
      loaded = context.getLoadedDialects().size();
      context.getDialectRegistry().appendTo(before);
    };
    auto program = compile(*module, options);
    ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
    EXPECT_GE(program->kernels.size(), 8u);
    EXPECT_EQ(context.getLoadedDialects().size(), loaded);
    EXPECT_TRUE(context.getDialectRegistry().isSubsetOf(before));
  }
}

} // namespace
