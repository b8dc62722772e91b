// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PreparationAttributes.h - Attributes of constant arguments ---------===//
// Apart from Attributes.h because few files need them.
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace millrace {

//===-- Of functions --------------------------------------------------------===//

/// Dictionary, of a kernel: its argument `panels` holds its argument `operand` in the order that `layout` describes, see
/// xla-prepare-constants. The body reads the operand; code that knows the layout may read the panels instead.
inline constexpr llvm::StringLiteral kPanelsAttr = "millrace.panels";
/// Symbol, of the entry function: the function whose results are its last arguments.
inline constexpr llvm::StringLiteral kPrepareAttr = "millrace.prepare";
/// Dense i64 array, of the function that kPrepareAttr names: the entry function's arguments that its arguments are.
inline constexpr llvm::StringLiteral kPreparedFromAttr = "millrace.prepared_from";

//===-- Of arguments --------------------------------------------------------===//

/// Unit, of an argument of the entry function: executions one after the other are expected to get the same buffer.
inline constexpr llvm::StringLiteral kConstantAttr = "millrace.constant";

} // namespace millrace
