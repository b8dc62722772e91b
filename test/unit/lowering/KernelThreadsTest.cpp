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

} // namespace
