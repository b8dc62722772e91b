// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RegisterAll.cpp - Register the tools' dialects and passes ----------===//
#include "tools/RegisterAll.h"

#include "dialects/check/CheckOps.h"
#include "dialects/interpreter/Passes.h"
#include "dialects/chlo/Ops.h"
#include "dialects/millrace/Dialect.h"
#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/Passes.h"
#include "dialects/vhlo/Dialect.h"
#include "lowering/PredictMemory.h"
#include "lowering/cpu/emitters/Emitter.h"
#include "lowering/cpu/math/Passes.h"
#include "lowering/linalg/Passes.h"
#include "lowering/program/OpenRows.h"
#include "lowering/program/OrderSteps.h"
#include "lowering/program/OutlineReducers.h"
#include "passes/autosharding/Passes.h"
#include "passes/calls/Passes.h"
#include "passes/chlo/Passes.h"
#include "passes/fusion/Passes.h"
#include "passes/layout/Passes.h"
#include "passes/loops/Passes.h"
#include "passes/sharding/Passes.h"
#include "passes/sharding/ProgramPasses.h"
#include "passes/sharding/exchange/RoundTrip.h"
#include "passes/simplify/Passes.h"
#include "passes/testing/Passes.h"
#include "passes/vhlo/Passes.h"
#include "passes/spmd/Passes.h"
#include "passes/xla/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Transforms/Passes.h"

void millrace::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<MillraceDialect, check::CheckDialect, chlo::ChloDialect, interpreter::InterpreterDialect, sdy::SdyDialect,
                  stablehlo::StablehloDialect, vhlo::VhloDialect>();
  registry.insert<mlir::arith::ArithDialect, mlir::bufferization::BufferizationDialect, mlir::cf::ControlFlowDialect,
                  mlir::complex::ComplexDialect, mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                  mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::memref::MemRefDialect,
                  mlir::quant::QuantDialect, mlir::scf::SCFDialect, mlir::shape::ShapeDialect,
                  mlir::sparse_tensor::SparseTensorDialect, mlir::tensor::TensorDialect, mlir::vector::VectorDialect>();
  mlir::func::registerInlinerExtension(registry);
}

void millrace::registerAllPasses() {
  chlo::registerChloPasses();
  chlo::registerChloPipelines();
  interpreter::registerInterpreterPasses();
  stablehlo::registerStablehloDialectPasses();
  lowering::registerEmitKernelsPass();
  lowering::registerCpuMathPasses();
  lowering::registerLinalgPasses();
  lowering::registerMarkRowsPass();
  lowering::registerOrderStepsPass();
  lowering::registerOutlineReducersPass();
  autosharding::registerPasses([] { return memoryPredictor(); });
  calls::registerCallsPasses();
  fusion::registerFusionPasses();
  layout::registerLayoutPasses();
  loops::registerLoopsPasses();
  simplify::registerSimplifyPasses();
  vhlo::registerVhloPasses();
  vhlo::registerVhloPipelines();
  sharding::registerShardingPasses();
  sharding::registerShardingProgramPasses();
  sharding::registerShardingPipelines();
  sharding::registerShardingRoundTripPasses();
  sharding::registerRoundTripPipelines();
  spmd::registerSpmdPasses();
  testing::registerHloTestPasses();
  xla_semantics::registerXlaSemanticsPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerInlinerPass();
  mlir::registerSymbolDCEPass();
  mlir::registerStripDebugInfoPass();
}
