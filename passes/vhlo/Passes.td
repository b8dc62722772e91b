// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - Between StableHLO and its portable format --------------===//
#ifndef MILLRACE_PASSES_VHLO_PASSES_TD
#define MILLRACE_PASSES_VHLO_PASSES_TD

include "mlir/Pass/PassBase.td"

def StablehloLegalizeToVhloPass : Pass<"stablehlo-legalize-to-vhlo", "::mlir::ModuleOp"> {
  let summary = "Convert StableHLO and func to the current version of the portable format";
  let options = [Option<"allowOtherDialects", "allow-other-dialects", "bool", "false",
                        "do not convert operations and attributes of other dialects">];
  let dependentDialects = ["::millrace::vhlo::VhloDialect"];
}

def VhloToVersionPass : Pass<"vhlo-to-version", "::mlir::ModuleOp"> {
  let summary = "Convert the portable format to another of its versions";
  let options = [Option<"targetVersion", "target", "std::string", "", "version X.Y.Z to convert to">];
  let dependentDialects = ["::millrace::vhlo::VhloDialect"];
}

def VhloLegalizeToStablehloPass : Pass<"vhlo-legalize-to-stablehlo", "::mlir::ModuleOp"> {
  let summary = "Convert the current version of the portable format to StableHLO and func";
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::mlir::func::FuncDialect",
                           "::mlir::quant::QuantDialect", "::mlir::shape::ShapeDialect"];
}

#endif
