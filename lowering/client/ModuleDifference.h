// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ModuleDifference.h - Why a program was compiled anew ----------------===//
// A front end that compiles a function for every new shape and every new static value has programs of one name that differ in an argument's type or in
// a constant. The first difference to the most similar earlier program of that name, with the user's line, says what the user may change.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <list>
#include <mutex>
#include <string>
#include <vector>

namespace millrace {

/// The operations of a module in their order, in a form that outlives its context.
struct ModuleSummary {
  struct Item {
    std::string operation; ///< for example "stablehlo.constant"; empty for an argument of the program
    std::string types;     ///< types of the results
    std::string value;     ///< the attributes, for example "3.0" of a constant; the name of an argument
    uint64_t contents = 0; ///< hash of attributes that are too large for `value`
    std::string place;     ///< the user's line (for a constant, the line of its first user); empty if unknown
    bool isSame(const Item &other) const {
      const bool isEqual = operation == other.operation && types == other.types;
      return isEqual && (operation.empty() || (value == other.value && contents == other.contents));
    }
  };
  std::string name;
  std::vector<Item> items; ///< the arguments of the entry function, then the operations
};

/// Returns the summary of `module`; of a large module, only its first operations (ModuleDifference.cpp says how many).
ModuleSummary summarize(mlir::ModuleOp module);

/// Returns the first difference in one sentence without a period: "argument 0 (x): tensor<32x64xf32> became tensor<33x64xf32>", "constant 3.0 became
/// 4.0 (train.py:7)". Empty if the summaries are equal.
std::string firstDifference(const ModuleSummary &before, const ModuleSummary &now);

/// Summaries of the programs that this process compiled last, by name. Thread-safe.
class ModuleHistory {
public:
  static ModuleHistory &ofProcess();
  /// Returns the first difference to the most similar program of this name that was added before, or that it is the same program; empty if there is
  /// none of this name. Then adds `now`.
  std::string add(ModuleSummary now);

private:
  std::mutex mutex;
  std::list<ModuleSummary> known; ///< the most recent one first
};

} // namespace millrace
