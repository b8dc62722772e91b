// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RegisterAll.h - Dialects and passes that the tools know ------------===//
#pragma once

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace millrace {

/// Adds our dialects and the upstream ones that our pipelines produce or accept, and nothing else: every
/// registered dialect is paid at the start of each tool run.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers our passes and the upstream MLIR passes that our pipelines use, for pass drivers only. Must not be
/// called by a library: an option registered twice in one process aborts it.
void registerAllPasses();

} // namespace millrace
