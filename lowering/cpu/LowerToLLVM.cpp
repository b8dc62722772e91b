// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerToLLVM.cpp - Lower the buffer form to the LLVM dialect --------===//
#include "lowering/cpu/LowerToLLVM.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ComplexToLibm/ComplexToLibm.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Returns true for functions without an exact LLVM intrinsic (its lowering of expm1 is exp - 1). The others are instructions: square roots, rounding
/// and the like.
bool isFunctionOfLibm(Operation *op) {
  return isa<math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp, math::Atan2Op, math::AtanOp, math::AtanhOp, math::CbrtOp,
             math::CoshOp, math::ErfOp, math::ErfcOp, math::ExpM1Op, math::Log1pOp, math::SinhOp, math::TanOp, math::TanhOp>(op);
}

/// Replaces such functions by calls of libm.
struct CallLibm : PassWrapper<CallLibm, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CallLibm)
  StringRef getName() const override { return "CallLibm"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<func::FuncDialect, vector::VectorDialect, arith::ArithDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathToLibmConversionPatterns(patterns);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *op) { return !isFunctionOfLibm(op); });
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

/// The steps that a module needs before the conversion of all dialects at once.
struct Preparation {
  bool functions = false; ///< complex numbers, calls of libm
  bool strides = false;   ///< views of parts of buffers, affine maps
  bool expand = false;    ///< rounded integer divisions, minima and maxima without an LLVM intrinsic
  bool vectors = false;   ///< of rank above 1, or operations that are decomposed first

  static Preparation everything() { return {true, true, true, true}; }
  static Preparation of(ModuleOp module) {
    Preparation result;
    module.walk([&](Operation *op) { result.look(op); });
    result.expand |= result.functions || result.strides;
    return result;
  }

  void addPasses(OpPassManager &pm) const {
    if (functions) {
      // These are the complex and math operations that xla-expand-math leaves.
      pm.addPass(createConvertComplexToLibm());
      pm.addPass(createConvertComplexToStandardPass());
      pm.addPass(std::make_unique<CallLibm>());
    }
    if (strides) {
      // The offsets of strided subviews must be arithmetic before memrefs become descriptors.
      pm.addPass(memref::createExpandStridedMetadataPass());
      pm.addPass(createLowerAffinePass());
    }
    if (expand)
      pm.addPass(arith::createArithExpandOpsPass());
    if (vectors)
      pm.addPass(createConvertVectorToLLVMPass());
  }

private:
  void look(Operation *op) {
    StringRef dialect = op->getName().getDialectNamespace();
    if (dialect == "complex" || isFunctionOfLibm(op))
      functions = true;
    else if (dialect == "affine" || (dialect == "memref" && !isa<memref::LoadOp, memref::StoreOp, memref::ViewOp, memref::AllocOp,
                                                                memref::AllocaOp, memref::DeallocOp, memref::PrefetchOp,
                                                                memref::ExtractAlignedPointerAsIndexOp>(op)))
      strides = true;
    else if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp, arith::MaximumFOp, arith::MinimumFOp,
                 arith::MaxNumFOp, arith::MinNumFOp>(op))
      expand = true;
    auto hasDimensions = [](Type type) {
      auto vector = dyn_cast<VectorType>(type);
      return vector && (vector.getRank() != 1 || vector.isScalable());
    };
    vectors |= (dialect == "vector" && !isDirect(op)) || llvm::any_of(op->getOperandTypes(), hasDimensions) ||
               llvm::any_of(op->getResultTypes(), hasDimensions);
  }

  /// Returns true for vector operations of rank 1 that LLVM has.
  static bool isDirect(Operation *op) {
    if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
      return !isa<VectorType>(broadcast.getSourceType());
    return isa<vector::LoadOp, vector::StoreOp, vector::MaskedLoadOp, vector::MaskedStoreOp, vector::FMAOp, vector::ShuffleOp,
               vector::ExtractOp, vector::InsertOp, vector::BitCastOp, vector::ReductionOp, vector::CreateMaskOp,
               vector::FromElementsOp, vector::InterleaveOp>(op);
  }
};

/// LlvmLowering::convert as a pass.
struct ConvertKernelsToLLVM : PassWrapper<ConvertKernelsToLLVM, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertKernelsToLLVM)
  StringRef getName() const override { return "ConvertKernelsToLLVM"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, cf::ControlFlowDialect, arith::ArithDialect, vector::VectorDialect>();
  }
  LogicalResult initialize(MLIRContext *context) override {
    lowering = std::make_shared<LlvmLowering>(context);
    return success();
  }
  void runOnOperation() override {
    if (failed(lowering->convert(getOperation())))
      signalPassFailure();
  }
  std::shared_ptr<LlvmLowering> lowering;
};

} // namespace

struct LlvmLowering::Patterns {
  explicit Patterns(MLIRContext *context) : converter(context, LowerToLLVMOptions(context)) {
    RewritePatternSet loops(context);
    populateSCFToControlFlowConversionPatterns(loops);
    loopsToBlocks = std::move(loops);

    RewritePatternSet all(context);
    // Masks are computed with 32-bit indices, as in the upstream conversion of vectors.
    vector::populateVectorMaskMaterializationPatterns(all, /*force32BitVectorIndices=*/true);
    populateVectorToLLVMConversionPatterns(converter, all, /*reassociateFPReductions=*/false, /*force32BitVectorIndices=*/true);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, all);
    populateComplexToLLVMConversionPatterns(converter, all);
    populateMathToLLVMConversionPatterns(converter, all);
    arith::populateArithToLLVMConversionPatterns(converter, all);
    index::populateIndexToLLVMConversionPatterns(converter, all);
    cf::populateControlFlowToLLVMConversionPatterns(converter, all);
    cf::populateAssertToLLVMConversionPattern(converter, all);
    populateFuncToLLVMConversionPatterns(converter, all);
    ub::populateUBToLLVMConversionPatterns(converter, all);
    toLLVM = std::move(all);
  }

  LLVMTypeConverter converter;
  FrozenRewritePatternSet loopsToBlocks, toLLVM;
};

LlvmLowering::LlvmLowering(MLIRContext *context) : patterns(std::make_unique<Patterns>(context)) {}
LlvmLowering::~LlvmLowering() = default;

LogicalResult LlvmLowering::convert(ModuleOp module) const {
  MLIRContext &context = *module.getContext();
  // Blocks are converted first: arguments that loops carry are converted with their function.
  ConversionTarget blocks(context);
  blocks.addIllegalOp<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp, scf::ExecuteRegionOp, scf::ForallOp, scf::ParallelOp>();
  blocks.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  if (failed(applyPartialConversion(module, blocks, patterns->loopsToBlocks)))
    return failure();

  LLVMConversionTarget target(context);
  target.addLegalOp<ModuleOp, UnrealizedConversionCastOp>();
  target.addIllegalDialect<arith::ArithDialect, cf::ControlFlowDialect, complex::ComplexDialect, func::FuncDialect,
                           index::IndexDialect, math::MathDialect, memref::MemRefDialect, ub::UBDialect, vector::VectorDialect>();
  if (failed(applyPartialConversion(module, target, patterns->toLLVM)))
    return failure();
  SmallVector<UnrealizedConversionCastOp> casts, left;
  module.walk([&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
  reconcileUnrealizedCasts(casts, &left);
  return left.empty() ? success() : left.front().emitError("is between types that do not meet in LLVM");
}

LogicalResult LlvmLowering::run(ModuleOp module, bool verifyEach) const {
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  pm.enableVerifier(verifyEach);
  Preparation::of(module).addPasses(pm);
  if (!pm.empty() && failed(pm.run(module)))
    return failure();
  return convert(module);
}

void addLowerToLLVMPasses(OpPassManager &pm) {
  Preparation::everything().addPasses(pm);
  pm.addPass(std::make_unique<ConvertKernelsToLLVM>());
}

} // namespace millrace::lowering
