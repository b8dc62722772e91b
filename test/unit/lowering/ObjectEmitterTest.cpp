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

/// The LLVM IR of `body`, a function of x, y, z of `type` that may return any of its values, as code generation gets it.
std::string irOf(const std::string &body, std::vector<std::string> features, const std::string &type = "f32") {
  mlir::DialectRegistry registry;
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::MLIRContext context(registry);
  context.loadDialect<mlir::LLVM::LLVMDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>("llvm.func @f(%x: " + type + ", %y: " + type + ", %z: " + type + ") -> " + type + " {\n" + body + "}", &context);
  EXPECT_TRUE(module);
  auto emitter = ObjectEmitter::create({"x86_64-pc-linux-gnu", "x86-64", std::move(features)});
  EXPECT_TRUE(bool(emitter)) << llvm::toString(emitter.takeError());
  auto result = (*emitter)->emit(*module, {}, /*wantTexts=*/true);
  EXPECT_TRUE(bool(result)) << llvm::toString(result.takeError());
  return result->llvmIr;
}

size_t count(const std::string &text, const std::string &word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++found;
  return found;
}

#if defined(__x86_64__)
// Code generation decides nothing about it: its two levels would decide otherwise.
TEST(ObjectEmitter, ProductsAndSumsThatMayRoundOnceAreFusedBeforeCodeGeneration) {
  const std::string sum = R"(
      %0 = llvm.fmul %x, %y {fastmathFlags = #llvm.fastmath<contract>} : f32
      %1 = llvm.fadd %z, %0 {fastmathFlags = #llvm.fastmath<contract>} : f32
      llvm.return %1 : f32)";
  std::string fused = irOf(sum, {"64bit", "avx", "fma"});
  EXPECT_NE(fused.find("@llvm.fma.f32(float %0, float %1, float %2)"), std::string::npos) << fused;
  EXPECT_EQ(count(fused, "fmul") + count(fused, "fadd") + count(fused, "contract"), 0u) << fused;
  std::string separate = irOf(sum, {"64bit", "avx"}); // no such instruction
  EXPECT_EQ(count(separate, "@llvm.fma") + count(separate, "contract"), 0u) << separate;
  EXPECT_EQ(count(separate, "fmul") + count(separate, "fadd"), 2u) << separate;

  std::string difference = irOf(R"(
      %0 = llvm.fmul %x, %y {fastmathFlags = #llvm.fastmath<contract>} : f32
      %1 = llvm.fsub %z, %0 {fastmathFlags = #llvm.fastmath<contract>} : f32
      %2 = llvm.fmul %1, %x {fastmathFlags = #llvm.fastmath<contract>} : f32
      %3 = llvm.fsub %2, %z {fastmathFlags = #llvm.fastmath<contract>} : f32
      llvm.return %3 : f32)", {"64bit", "avx", "fma"});
  EXPECT_EQ(count(difference, "fneg"), 2u) << difference;
  EXPECT_EQ(count(difference, "call float @llvm.fma"), 2u) << difference;

  // Only where both allow it, and the product is used for nothing else; of two products the first one.
  std::string shared = irOf(R"(
      %0 = llvm.fmul %x, %y {fastmathFlags = #llvm.fastmath<contract>} : f32
      %1 = llvm.fadd %z, %0 {fastmathFlags = #llvm.fastmath<contract>} : f32
      %2 = llvm.fdiv %1, %0 : f32
      llvm.return %2 : f32)", {"64bit", "avx", "fma"});
  EXPECT_EQ(count(shared, "@llvm.fma"), 0u) << shared;
  std::string strict = irOf(R"(
      %0 = llvm.fmul %x, %y : f32
      %1 = llvm.fadd %z, %0 {fastmathFlags = #llvm.fastmath<contract>} : f32
      llvm.return %1 : f32)", {"64bit", "avx", "fma"});
  EXPECT_EQ(count(strict, "@llvm.fma"), 0u) << strict;
  std::string two = irOf(R"(
      %0 = llvm.fmul %x, %y {fastmathFlags = #llvm.fastmath<contract>} : f32
      %1 = llvm.fmul %y, %z {fastmathFlags = #llvm.fastmath<contract>} : f32
      %2 = llvm.fadd %0, %1 {fastmathFlags = #llvm.fastmath<contract>} : f32
      llvm.return %2 : f32)", {"64bit", "avx", "fma"});
  EXPECT_EQ(count(two, "call float @llvm.fma"), 1u) << two;
  EXPECT_EQ(count(two, "fmul"), 1u) << two;
}

TEST(ObjectEmitter, ProductsAndSumsOfHalvesAreFusedWhereTheProcessorCan) {
  const std::string sum = R"(
      %0 = llvm.fmul %x, %y {fastmathFlags = #llvm.fastmath<contract, reassoc>} : f16
      %1 = llvm.fadd %z, %0 {fastmathFlags = #llvm.fastmath<contract, reassoc>} : f16
      llvm.return %1 : f16)";
  std::string fused = irOf(sum, {"64bit", "avx512bw", "avx512dq", "avx512f", "avx512fp16", "avx512vl"}, "f16");
  EXPECT_NE(fused.find("call half @llvm.fma.f16(half %0, half %1, half %2)"), std::string::npos) << fused; // no flag is left
  EXPECT_EQ(count(fused, "fmul") + count(fused, "fadd"), 0u) << fused;
  std::string separate = irOf(sum, {"64bit", "avx", "f16c", "fma"}, "f16");
  EXPECT_EQ(count(separate, "@llvm.fma") + count(separate, "contract") + count(separate, "reassoc"), 0u) << separate;
}
#endif

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
