// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CacheKey.h - What a compiled program depends on --------------------===//
#pragma once

#include "lowering/Compile.h"

#include <string>
#include <utility>
#include <vector>

namespace millrace {

/// Named parts that together decide the bytes that compile() makes of `module` with `options`: program, options, mesh,
/// device count, CPU, features, and the build ids of libmillrace, libMLIR and libLLVM. Equal parts, equal program. The
/// cache compares them one by one to say why an entry does not fit. Locations count if `module` has any (ModuleLocations.h).
std::vector<std::pair<std::string, std::string>> cacheKeyParts(mlir::ModuleOp module, const CompileOptions &options);

/// The build ids alone: what every result of this process's compiler depends on.
const std::vector<std::pair<std::string, std::string>> &compilerVersions();

} // namespace millrace
