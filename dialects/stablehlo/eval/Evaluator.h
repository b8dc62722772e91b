// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Evaluator.h - StableHLO programs by their specification ------------===//
// Slow and obvious: the folding engine, the oracle of tests, and `--interpret`. Nothing here aborts: what cannot be
// evaluated is an llvm::Error of class EvalError that knows the operation's location.
#pragma once

#include "dialects/stablehlo/eval/Tensor.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <string>

namespace mlir {
class ModuleOp;
class Operation;
namespace func {
class FuncOp;
} // namespace func
} // namespace mlir

namespace millrace::eval {

class EvalError : public llvm::ErrorInfo<EvalError> {
public:
  static char ID;
  EvalError(mlir::Location location, std::string message) : location(location), message(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
  mlir::Location getLocation() const { return location; }
  llvm::StringRef getMessage() const { return message; }

private:
  mlir::Location location;
  std::string message;
};

struct Options {
  /// Where `interpreter.probe` writes; empty: probing is an error.
  std::string probeDirectory;
  /// How often each probe has run, over all devices of a run.
  std::shared_ptr<llvm::StringMap<int64_t>> probeCounts = std::make_shared<llvm::StringMap<int64_t>>();
  /// Nesting of calls and regions beyond which evaluation fails.
  unsigned maxDepth = 400;
  /// Bytes beyond which a single tensor is refused.
  int64_t maxTensorBytes = int64_t(1) << 32;
  /// Operations after which evaluation fails; 0 = no limit. For folding programs that may not terminate.
  int64_t maxSteps = 0;
  /// Seed of `stablehlo.rng`, whose values the specification leaves to the implementation.
  uint64_t rngSeed = 0;
  /// Values that `stablehlo.infeed` takes, in order, each ending without its token (device 0 of a plain evaluation).
  std::vector<std::vector<Value>> infeed;
  /// What `stablehlo.outfeed` and host `stablehlo.send` hand over; may be null: dropped.
  std::function<void(int64_t device, llvm::ArrayRef<Value> values)> onOutfeed;
  /// Custom calls that the evaluator does not know itself. Null or an empty optional: an error.
  std::function<std::optional<llvm::Expected<llvm::SmallVector<Value>>>(mlir::Operation *op,
                                                                        llvm::ArrayRef<Value> operands)>
      customCall;
  /// Where interpreter.print writes; null: standard output.
  llvm::raw_ostream *printStream = nullptr;
};

/// Evaluates a call of `function` with `arguments` on one device (replica 0, partition 0 of a 1 x 1 grid).
llvm::Expected<llvm::SmallVector<Value>> evaluate(mlir::func::FuncOp function, llvm::ArrayRef<Value> arguments,
                                                  const Options &options = {});

/// Evaluates one operation; its operands have the given values. For folding.
llvm::Expected<llvm::SmallVector<Value>> evaluateOp(mlir::Operation *op, llvm::ArrayRef<Value> operands,
                                                    const Options &options = {});

/// Evaluates `function` once per device of a grid of `replicas` x `partitions`; `arguments` holds the arguments of
/// device (0, 0), then (0, 1), and so on; one entry: the same for all. Results in the same order.
llvm::Expected<std::vector<llvm::SmallVector<Value>>>
evaluateOnGrid(mlir::func::FuncOp function, llvm::ArrayRef<llvm::SmallVector<Value>> arguments, int64_t replicas,
               int64_t partitions, const Options &options = {});

struct RunOptions {
  Options evaluation;
  /// "[dense<1> : tensor<i32>, ...]", or empty.
  std::string arguments;
  /// Print results as one `dense<...>` attribute per line instead of upstream's multi-line form.
  bool printDense = false;
  bool printResults = true;
};

/// What `xla-translate --interpret` and `xla-run --backend=interpreter` do: evaluates @main, else the only function,
/// and prints its results to `os`. Errors become diagnostics at the operation that failed. A module without functions
/// succeeds. chlo operations must have been legalized before.
mlir::LogicalResult runWithInterpreter(mlir::ModuleOp module, const RunOptions &options, llvm::raw_ostream &os);
/// The same with argument values instead of text; `options.arguments` is not looked at.
mlir::FailureOr<llvm::SmallVector<Value>> runWithInterpreter(mlir::ModuleOp module, llvm::ArrayRef<Value> arguments,
                                                             const RunOptions &options);
/// @main, else the only function of the module; null (with a diagnostic) if there is more than one candidate.
mlir::func::FuncOp entryFunction(mlir::ModuleOp module);
/// Parses "[dense<...> : type, ...]" (or a single attribute), or "@FILE" with that text in the file.
mlir::FailureOr<llvm::SmallVector<Value>> parseArguments(mlir::ModuleOp module, llvm::StringRef text);
/// Reports `error` as a diagnostic at the operation it belongs to.
void emitDiagnostic(mlir::Location fallback, llvm::Error error);

} // namespace millrace::eval
