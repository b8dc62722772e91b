// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Evaluator.h - Evaluate StableHLO by its specification ---------------===//
// The evaluator is simple and slow. It serves as the folding engine, as the oracle of tests, and for `--interpret`. It never aborts: an operation
// that cannot be evaluated is an llvm::Error of class EvalError with the operation's location.
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
  /// The folder into which `interpreter.probe` writes; if empty, probing is an error.
  std::string probeDirectory;
  /// How often each probe has run, over all devices of a run.
  std::shared_ptr<llvm::StringMap<int64_t>> probeCounts = std::make_shared<llvm::StringMap<int64_t>>();
  /// The deepest nesting of calls and regions; evaluation fails beyond it.
  unsigned maxDepth = 400;
  /// The largest number of bytes of a single tensor; evaluation fails beyond it.
  int64_t maxTensorBytes = int64_t(1) << 32;
  /// The number of operations after which evaluation fails; 0 for no limit. For folding, whose programs may not terminate.
  int64_t maxSteps = 0;
  /// Seed of `stablehlo.rng`, whose values the specification leaves to the implementation.
  uint64_t rngSeed = 0;
  /// The values of consecutive `stablehlo.infeed` operations, without their tokens (device 0 of a plain evaluation).
  std::vector<std::vector<Value>> infeed;
  /// Receives the values of `stablehlo.outfeed` and host `stablehlo.send`; if null, they are dropped.
  std::function<void(int64_t device, llvm::ArrayRef<Value> values)> onOutfeed;
  /// Evaluates custom calls that the evaluator does not know. Null or an empty optional is an error.
  std::function<std::optional<llvm::Expected<llvm::SmallVector<Value>>>(mlir::Operation *op,
                                                                        llvm::ArrayRef<Value> operands)>
      customCall;
  /// The stream of interpreter.print; null for standard output.
  llvm::raw_ostream *printStream = nullptr;
};

/// Evaluates a call of `function` with `arguments` on one device (replica 0, partition 0 of a 1 x 1 grid).
llvm::Expected<llvm::SmallVector<Value>> evaluate(mlir::func::FuncOp function, llvm::ArrayRef<Value> arguments,
                                                  const Options &options = {});

/// Evaluates one operation whose operands have the given values, for folding.
llvm::Expected<llvm::SmallVector<Value>> evaluateOp(mlir::Operation *op, llvm::ArrayRef<Value> operands,
                                                    const Options &options = {});

/// Evaluates `function` once per device of a grid of `replicas` x `partitions`. `arguments` has the arguments of device (0, 0), then (0, 1), and so
/// on, or one entry for all devices. The results have the same order.
llvm::Expected<std::vector<llvm::SmallVector<Value>>>
evaluateOnGrid(mlir::func::FuncOp function, llvm::ArrayRef<llvm::SmallVector<Value>> arguments, int64_t replicas,
               int64_t partitions, const Options &options = {});

struct RunOptions {
  Options evaluation;
  /// "[dense<1> : tensor<i32>, ...]", or empty.
  std::string arguments;
  /// Prints results as one `dense<...>` attribute per line instead of upstream's multi-line form.
  bool printDense = false;
  bool printResults = true;
};

/// Implements `xla-translate --interpret` and `xla-run --backend=interpreter`: evaluates @main, else the only function, and prints its results to
/// `os`. Errors become diagnostics at the operation that failed. A module without functions succeeds. chlo operations must have been legalized
/// before.
mlir::LogicalResult runWithInterpreter(mlir::ModuleOp module, const RunOptions &options, llvm::raw_ostream &os);
/// Does the same with argument values instead of text; `options.arguments` is ignored.
mlir::FailureOr<llvm::SmallVector<Value>> runWithInterpreter(mlir::ModuleOp module, llvm::ArrayRef<Value> arguments,
                                                             const RunOptions &options);
/// Returns @main, else the only function of the module; null (with a diagnostic) if there are several.
mlir::func::FuncOp entryFunction(mlir::ModuleOp module);
/// Parses "[dense<...> : type, ...]" (or a single attribute), or "@FILE" with that text in the file.
mlir::FailureOr<llvm::SmallVector<Value>> parseArguments(mlir::ModuleOp module, llvm::StringRef text);
/// Reports `error` as a diagnostic at its operation.
void emitDiagnostic(mlir::Location fallback, llvm::Error error);

} // namespace millrace::eval
