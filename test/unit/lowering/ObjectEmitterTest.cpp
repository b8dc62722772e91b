// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/cpu/ObjectEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

#include <gtest/gtest.h>

using namespace millrace::lowering;

namespace {

std::string assemblyFor(std::vector<std::string> features) {
  mlir::DialectRegistry registry;
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::MLIRContext context(registry);
  context.loadDialect<mlir::LLVM::LLVMDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    llvm.func @f(%p: !llvm.ptr) {
      %0 = llvm.load %p : !llvm.ptr -> vector<16xf32>
      %1 = llvm.fadd %0, %0 : vector<16xf32>
      llvm.store %1, %p : vector<16xf32>, !llvm.ptr
      llvm.return
    })", &context);
  EXPECT_TRUE(module);
  auto emitter = ObjectEmitter::create({"x86_64-pc-linux-gnu", "znver4", std::move(features)});
  EXPECT_TRUE(bool(emitter)) << llvm::toString(emitter.takeError());
  auto result = (*emitter)->emit(*module, {}, /*wantTexts=*/true);
  EXPECT_TRUE(bool(result)) << llvm::toString(result.takeError());
  return result->assembly;
}

#if defined(__x86_64__)
// A hypervisor hides AVX-512 from a processor whose model has it.
TEST(ObjectEmitter, UsesNoFeatureOfTheModelThatTheTargetDoesNotHave) {
  std::vector<std::string> features = {"64bit", "avx", "avx2", "cmov", "fma", "sse2"};
  EXPECT_EQ(assemblyFor(features).find("zmm"), std::string::npos);
  features.insert(features.end(), {"avx512f", "avx512vl", "avx512dq", "avx512bw"});
  EXPECT_NE(assemblyFor(features).find("zmm"), std::string::npos);
}
#endif

} // namespace
