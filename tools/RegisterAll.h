// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RegisterAll.h - Register the tools' dialects and passes ------------===//
#pragma once

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace millrace {

/// Adds our dialects and the upstream ones that our pipelines produce or accept, and no others, because every registered dialect adds to the start-up
/// time of each tool.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers our passes and the upstream MLIR passes that our pipelines use, for pass drivers only. Libraries must not call it, because an option
/// that is registered twice in one process aborts it.
void registerAllPasses();

} // namespace millrace
