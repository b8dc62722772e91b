// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_PASSES_TESTING_PASSES_TD
#define MILLRACE_PASSES_TESTING_PASSES_TD

include "mlir/Pass/PassBase.td"

def HloTestInferPass : Pass<"hlo-test-infer", "::mlir::func::FuncOp"> {
  let summary = "Show the results' types and shapes that an operation infers";
  let description = [{
    Queries the operation that defines the operand of a test operation. `hlo_test_infer.get_return_types` becomes `hlo_test_infer.return_types` with
    the inferred types as attributes `types0`, `types1`...; `hlo_test_infer.get_return_type_components` becomes
    `hlo_test_infer.return_type_components` likewise; `hlo_test_infer.reify_return_type_shapes` becomes the values that compute the shapes. If an
    operation infers nothing, the test operation stays.
  }];
  let dependentDialects = ["::mlir::shape::ShapeDialect", "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def HloTestSpeculatabilityPass : Pass<"hlo-test-speculatability", "::mlir::func::FuncOp"> {
  let summary = "Erase tests of speculatability that hold";
  let description = [{
    `hlo_test_speculatability.is_speculatable`, `.is_not_speculatable` and `.is_recursively_speculatable` are erased together with the operation that
    defines their operand if that operation is speculatable always, never, or depending on the operations in its regions, respectively. A test that
    does not hold stays.
  }];
}

def HloTestBroadcastPass : Pass<"hlo-test-broadcast", "::mlir::func::FuncOp"> {
  let summary = "Broadcast the operands of test operations to their common shape";
  let description = [{
    `hlo_test_broadcast.numpy_broadcast` becomes a call of `@numpy_broadcasted` whose operands have the shape of NumPy's rule;
    `hlo_test_broadcast.broadcast_if_needed` becomes its operand, broadcast to the shape of its result along `broadcast_dimensions`. A dimension with
    a bound is broadcast to the bound, then given its size.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

def HloTestCreateSortPass : Pass<"hlo-test-create-sort", "::mlir::func::FuncOp"> {
  let summary = "Replace each hlo_test_create_sort.build by a sort along dimension 0";
  let description = [{
    All operands are sorted together, unstably and ascending, by the first of them.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
}

#endif
