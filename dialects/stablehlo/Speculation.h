// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Speculation.h - Conditions under which an operation may be hoisted -===//
// A dynamic dimension may contradict the operation's constraints at run time; such an operation must not run earlier than in the program. There is
// one trait per condition, which implements ConditionallySpeculatable.
#pragma once
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace millrace::stablehlo::speculation {

bool allOperandsStatic(mlir::Operation *op);
/// Returns true if every static dimension of the first result is static in the first operand.
bool staticResultDimsAreStaticInInput(mlir::Operation *op);
/// Does the same if dimension `d` of the result is dimension `inputDim(d)` of `input`; without one it agrees.
bool staticResultDimsAreStaticIn(mlir::Type input, mlir::Type result,
                                 llvm::function_ref<std::optional<int64_t>(int64_t)> inputDim);
/// Returns true if no dimension of `type` is static.
bool allDimensionsDynamic(mlir::Type type);
/// Returns true if all operands but the first are constants.
bool shapeOperandsConstant(mlir::Operation *op);

inline mlir::Speculation::Speculatability speculatableIf(bool condition) {
  return condition ? mlir::Speculation::Speculatable : mlir::Speculation::NotSpeculatable;
}
inline mlir::Speculation::Speculatability recursivelySpeculatableIf(bool condition) {
  return condition ? mlir::Speculation::RecursivelySpeculatable : mlir::Speculation::NotSpeculatable;
}

template <typename ConcreteType>
struct IfAllInputsStatic : mlir::OpTrait::TraitBase<ConcreteType, IfAllInputsStatic> {
  mlir::Speculation::Speculatability getSpeculatability() {
    return speculatableIf(allOperandsStatic(this->getOperation()));
  }
};
template <typename ConcreteType>
struct RecursivelyIfAllInputsStatic : mlir::OpTrait::TraitBase<ConcreteType, RecursivelyIfAllInputsStatic> {
  mlir::Speculation::Speculatability getSpeculatability() {
    return recursivelySpeculatableIf(allOperandsStatic(this->getOperation()));
  }
};
template <typename ConcreteType>
struct IfStaticResultDimsAreStaticInInput : mlir::OpTrait::TraitBase<ConcreteType, IfStaticResultDimsAreStaticInInput> {
  mlir::Speculation::Speculatability getSpeculatability() {
    return speculatableIf(staticResultDimsAreStaticInInput(this->getOperation()));
  }
};
template <typename ConcreteType>
struct RecursivelyIfStaticResultDimsAreStaticInInput
    : mlir::OpTrait::TraitBase<ConcreteType, RecursivelyIfStaticResultDimsAreStaticInInput> {
  mlir::Speculation::Speculatability getSpeculatability() {
    return recursivelySpeculatableIf(staticResultDimsAreStaticInInput(this->getOperation()));
  }
};
} // namespace millrace::stablehlo::speculation
