// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StorageConstants.h - Constants as storage tensors ------------------===//
#pragma once

#include "mlir/IR/BuiltinAttributes.h"

namespace millrace::lowering {

/// Converts `value`, of any stablehlo element type but complex, to its storage form (StorageTypes.h). Returns null if `value` is not dense.
mlir::DenseElementsAttr storageConstant(mlir::ElementsAttr value);

} // namespace millrace::lowering
