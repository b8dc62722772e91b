// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Literals.h - Constants as HLO literals -----------------------------===//
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/APFloat.h"

#include <string>

namespace millrace::hlo {

/// The shortest decimal that XLA's parser, which goes through double, reads back as the same value: `0.1`, `-0.0`,
/// `inf`, `nan`, `-nan(0x412345)`.
std::string floatText(const llvm::APFloat &value);

/// `3` for a scalar, else nested braces: `{ {1, 2}, {3, 4} }`.
std::string literalText(mlir::DenseElementsAttr value);

/// `value` as dense elements, also if it is a resource; null if it is neither.
mlir::DenseElementsAttr denseOf(mlir::ElementsAttr value);

/// XLA's parser computes `re + im * i`, which loses infinities and NaNs: true if `value` is complex and has such a part.
/// `complexParts` then gives both parts, to be joined at run time.
bool needsComplexParts(mlir::DenseElementsAttr value);
std::pair<mlir::DenseElementsAttr, mlir::DenseElementsAttr> complexParts(mlir::DenseElementsAttr value);

} // namespace millrace::hlo
