// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Partition.h - From a global program to the program of one device ---===//
#pragma once

#include "dialects/millrace/Attributes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <string>
#include <vector>

namespace millrace::spmd {

/// The computation of one device for a custom call, and the shardings of its operands and results (`mhlo.sharding` strings).
struct CallPartition {
  mlir::OwningOpRef<mlir::ModuleOp> body; ///< @main on those parts
  std::vector<std::string> operands, results;
};

/// Whoever put custom calls into the program that it splits itself.
class CallPartitioner {
public:
  virtual ~CallPartitioner() = default;
  virtual bool knows(llvm::StringRef target) const = 0;
  /// Asked for a call with the shardings that its operands have and its results are to have; `results` is empty where nothing
  /// is known of them. Reports errors at the call.
  virtual llvm::FailureOr<CallPartition> partition(mlir::Operation *call, llvm::ArrayRef<std::string> operands,
                                                   llvm::ArrayRef<std::string> results) = 0;
};

struct PartitionOptions {
  /// Gets the backend_config of every custom call @InspectSharding (jax.debug.inspect_array_sharding) and the `mhlo.sharding`
  /// string of its operand; the calls are gone afterwards. Without one they are identities.
  std::function<llvm::LogicalResult(mlir::Operation *call, llvm::StringRef config, llvm::StringRef sharding)> onInspect;
  CallPartitioner *calls = nullptr;
  /// The scalar, of the element type of `like`, that fills up the last tiles of dimensions that the devices do not divide. No result depends on it;
  /// without one it is zero.
  std::function<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::Value like)> filling = nullptr;
};

/// True if some value of the module says how it is sharded, and there is something to it.
bool hasShardings(mlir::ModuleOp module);

/// True if no value has a dynamic shape: others are not partitioned.
bool hasStaticShapes(mlir::ModuleOp module);

/// Gives every value the sharding that follows from the annotations: inlines calls and propagates (passes/sharding). Arguments of the program keep
/// theirs: without an annotation they are replicated, unless they have kOpenAttr. Modules for one device, without shardings or with dynamic shapes
/// are not changed. `explain` receives why every tensor is sharded or replicated. `choose` receives the module before propagation and may add
/// annotations, of arguments, too (passes/autosharding).
llvm::LogicalResult propagate(mlir::ModuleOp module, llvm::raw_ostream *explain = nullptr,
                              llvm::function_ref<llvm::LogicalResult(mlir::ModuleOp)> choose = {});

/// Turns the module into the program of each of its `mhlo.num_partitions` devices; propagates first, if that has not been
/// done. Modules for one device or without shardings stay as they are. Errors are reported at the operation that cannot be
/// partitioned.
llvm::LogicalResult partition(mlir::ModuleOp module, const PartitionOptions &options = {});

} // namespace millrace::spmd
