// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HloText.h - A StableHLO module as HLO text -------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace llvm {
class raw_ostream;
}

namespace millrace::hlo {

/// Writes `module` as the text of an HLO module, as XLA's parser reads it (`hlo_module_from_text`). The entry is @main
/// or the only function; functions that it does not call are left out. `module`, whose shardings are rewritten on the way,
/// may hold func, stablehlo and check operations and sdy shardings only; chlo and deprecated operations have to be legalized before. Fails with a diagnostic at the first
/// operation that HLO cannot express: quantized and unranked types, run-time shapes without bounds, values captured by
/// a region that HLO cannot pass them to. Nothing is written then.
mlir::LogicalResult exportHloText(mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace millrace::hlo
