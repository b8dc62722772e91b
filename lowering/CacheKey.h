// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CacheKey.h - What a compiled program depends on --------------------===//
#pragma once

#include "lowering/Compile.h"

#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <utility>
#include <vector>

namespace millrace {

/// Named parts that together decide the bytes that compile() makes of `module` with `options`: program, options, mesh,
/// device count, CPU, features, and the build ids of libmillrace, libMLIR and libLLVM. Equal parts, equal program. The
/// cache compares them one by one to say why an entry does not fit. Locations count: they are part of the program.
std::vector<std::pair<std::string, std::string>> cacheKeyParts(mlir::ModuleOp module, const CompileOptions &options);

/// A copy of `module` with unknown locations: for keys of programs whose errors alone depend on the user's lines.
mlir::OwningOpRef<mlir::ModuleOp> withoutLocations(mlir::ModuleOp module);

/// The build ids alone: what every result of this process's compiler depends on.
const std::vector<std::pair<std::string, std::string>> &compilerVersions();

} // namespace millrace
