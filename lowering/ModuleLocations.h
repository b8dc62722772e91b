// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ModuleLocations.h - The user's lines, apart from the program --------===//
// Two modules that differ in locations alone compute the same and share an entry of the cache. The entry names locations by numbers: those of
// the operations and block arguments of a module, in its order. A program that is found gets the locations of the module that asked for it.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace millrace {

/// The locations that `module` has when this is made. hide(), number() and restore() change them; between these calls nothing else may change the
/// module.
class ModuleLocations {
public:
  explicit ModuleLocations(mlir::ModuleOp module);

  void hide();    ///< every location is unknown: for hashes of what is computed
  void number();  ///< every location says where it is from, and its number (lowering/program/ProgramTypes.h)
  void restore(); ///< what they were
  /// The text of a number; empty if that is unknown, or no number of this module.
  std::string text(uint32_t number) const;

private:
  void set(llvm::function_ref<mlir::Location(uint32_t)> locationOf);

  mlir::ModuleOp module;
  std::vector<mlir::Location> locations;
};

/// A copy of `module` with unknown locations.
mlir::OwningOpRef<mlir::ModuleOp> withoutLocations(mlir::ModuleOp module);

} // namespace millrace
