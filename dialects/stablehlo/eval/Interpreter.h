// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Interpreter.h - Implementation of the evaluator (private) -----------===//
#pragma once

#include "dialects/stablehlo/eval/Evaluator.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace millrace::eval {

class Interpreter;
class Grid;

/// The values of one region's block arguments and results; other values are looked up in the enclosing scope.
class Scope {
public:
  explicit Scope(const Scope *parent) : parent(parent) {}
  /// Returns null if `value` has no value, which only an operation outside of the evaluated program can cause.
  const Value *find(mlir::Value value) const {
    for (const Scope *scope = this; scope; scope = scope->parent)
      if (auto it = scope->values.find(value); it != scope->values.end()) return &it->second;
    return nullptr;
  }
  void set(mlir::Value value, Value content) { values[value] = std::move(content); }
  void clear() { values.clear(); }

private:
  const Scope *parent;
  llvm::DenseMap<mlir::Value, Value> values;
};

/// The evaluation of one operation.
struct Call {
  mlir::Operation *op;
  llvm::ArrayRef<Value> operands;
  llvm::SmallVectorImpl<Value> &results;
  Interpreter &interpreter;
  const Scope *scope;
  /// Element types of the results if they differ from the operation's own (see Quantized.cpp).
  llvm::ArrayRef<mlir::Type> resultElementTypes = {};

  const Tensor &in(unsigned i) const { return operands[i].tensor(); }
  unsigned numInputs() const { return operands.size(); }
  mlir::Type resultElementType(unsigned i = 0) const;
  /// Returns `shape` with the element type of result `i`.
  mlir::RankedTensorType typeWith(llvm::ArrayRef<int64_t> shape, unsigned i = 0) const;
  void push(Value value) { results.push_back(std::move(value)); }
  llvm::Error error(const llvm::Twine &message) const;
};

using Handler = llvm::Error (*)(Call &call);

/// How an operation treats quantized tensors.
enum class Quantization : uint8_t {
  Storage,    ///< moves stored values or handles them itself
  Expressed,  ///< dequantize operands, evaluate in the expressed type, quantize results
};

/// The table of operations and their handlers. Each family adds its own.
class Dispatch {
public:
  struct Entry {
    Handler handler = nullptr;
    Quantization quantization = Quantization::Storage;
  };
  void add(llvm::StringRef name, Handler handler, Quantization quantization = Quantization::Storage) {
    entries[name] = {handler, quantization};
  }
  const Entry *find(mlir::Operation *op) const {
    auto it = entries.find(op->getName().getStringRef());
    return it == entries.end() ? nullptr : &it->second;
  }
  static const Dispatch &get();

private:
  llvm::StringMap<Entry> entries;
};

void addElementwise(Dispatch &dispatch);
void addConversions(Dispatch &dispatch);
void addDataMovement(Dispatch &dispatch);
void addIndexing(Dispatch &dispatch);
void addContraction(Dispatch &dispatch);
void addConvolution(Dispatch &dispatch);
void addFactorization(Dispatch &dispatch);
void addReduction(Dispatch &dispatch);
void addWindow(Dispatch &dispatch);
void addBatchNorm(Dispatch &dispatch);
void addControlFlow(Dispatch &dispatch);
void addCollective(Dispatch &dispatch);
void addDynamism(Dispatch &dispatch);
void addRandom(Dispatch &dispatch);
void addFft(Dispatch &dispatch);
void addQuantized(Dispatch &dispatch);
void addChecks(Dispatch &dispatch);
void addProbes(Dispatch &dispatch);

/// The position of a process in the grid of devices.
struct Process {
  int64_t replica = 0, partition = 0;
  Grid *grid = nullptr;
};

/// The state of one process: depth, steps, constants that have been read.
class Interpreter {
public:
  Interpreter(const Options &options, Process process) : options(options), process(process) {}

  llvm::Error callFunction(mlir::Operation *function, llvm::ArrayRef<Value> arguments,
                           llvm::SmallVectorImpl<Value> &results, mlir::Operation *caller);
  /// Evaluates the region's only block in a new scope inside `parent`; `results` receives the terminator's operands.
  llvm::Error runRegion(mlir::Region &region, llvm::ArrayRef<Value> arguments, llvm::SmallVectorImpl<Value> &results,
                        const Scope *parent);
  llvm::Error runBlock(mlir::Block &block, llvm::ArrayRef<Value> arguments, llvm::SmallVectorImpl<Value> &results,
                       Scope &scope);
  llvm::Error runOp(mlir::Operation *op, llvm::ArrayRef<Value> operands, llvm::SmallVectorImpl<Value> &results,
                    const Scope *scope);
  /// The constant's value, read once per process.
  llvm::Expected<Tensor> constant(mlir::Operation *op, mlir::ElementsAttr attr, mlir::RankedTensorType type);

  const Options &options;
  Process process;
  uint64_t rngCounter = 0;
  size_t infeedPosition = 0;

private:
  llvm::Error checkResult(mlir::Operation *op, unsigned i, const Value &value);
  llvm::DenseMap<mlir::Operation *, Tensor> constants;
  unsigned depth = 0;
  int64_t steps = 0;
};

/// Evaluates a region repeatedly with one scope; its arguments usually are tensors of rank 0.
class Body {
public:
  Body(const Call &call, mlir::Region &region)
      : interpreter(call.interpreter), region(region), scope(call.scope) {}
  llvm::Error operator()(llvm::ArrayRef<Value> arguments, llvm::SmallVectorImpl<Value> &results);
  /// Returns the type of block argument `i`.
  mlir::RankedTensorType argumentType(unsigned i) const;
  /// Returns the operation if the body only applies one elementwise operation to its two arguments in order.
  mlir::Operation *singleBinaryOp() const;

private:
  Interpreter &interpreter;
  mlir::Region &region;
  Scope scope;
};

/// A scalar function of two lanes, whose result is rounded to `kind`; null if `op` is not a known elementwise operation on that kind. Reductions over
/// simple bodies use it instead of the dispatch, with the same results.
using IntBinary = int64_t (*)(Kind kind, int64_t lhs, int64_t rhs);
using FloatBinary = double (*)(double lhs, double rhs);
IntBinary intBinaryOf(mlir::Operation *op);
FloatBinary floatBinaryOf(mlir::Operation *op);

/// A type as text, for messages.
std::string toString(mlir::Type type);

/// Returns attribute `name` of `op` as integers, whether it is an array or an elements attribute; `fallback` if absent.
Shape intsOf(mlir::Operation *op, llvm::StringRef name, llvm::ArrayRef<int64_t> fallback = {});
/// Does the same for flags.
llvm::SmallVector<bool> boolsOf(mlir::Operation *op, llvm::StringRef name, size_t count);
/// Returns the rows of an Nx2 attribute such as `padding`; N zero rows if absent.
llvm::SmallVector<std::pair<int64_t, int64_t>> pairsOf(mlir::Operation *op, llvm::StringRef name, size_t count);

/// Returns the elements of an integer tensor as a shape or index list.
Shape toShape(const Tensor &tensor);
/// Returns an error if a tensor of this shape and element type exceeds the limit of the options.
llvm::Error checkSize(const Call &call, llvm::ArrayRef<int64_t> shape, mlir::Type elementType);

Tensor broadcastScalar(const Tensor &scalar, llvm::ArrayRef<int64_t> shape);
Tensor dequantize(const Tensor &tensor);
Tensor quantize(const Tensor &tensor, mlir::Type quantizedType);

/// Used by the static and the dynamic form of the operation.
Tensor broadcastInDim(const Tensor &operand, llvm::ArrayRef<int64_t> dimensions, mlir::RankedTensorType type);
Tensor sliceOf(const Tensor &operand, llvm::ArrayRef<int64_t> start, llvm::ArrayRef<int64_t> strides,
               mlir::RankedTensorType type);
llvm::Expected<Tensor> padOf(const Call &call, const Tensor &operand, const Tensor &value,
                             llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
                             llvm::ArrayRef<int64_t> interior);
Tensor iotaOf(mlir::RankedTensorType type, int64_t dimension);
Tensor convertTo(const Tensor &operand, mlir::RankedTensorType type);
Tensor transposeOf(const Tensor &operand, llvm::ArrayRef<int64_t> permutation);
Tensor concatenateOf(llvm::ArrayRef<const Tensor *> inputs, int64_t dimension, mlir::RankedTensorType type);
llvm::Error evalGather(Call &call, llvm::ArrayRef<int64_t> sliceSizes);
llvm::Error evalConvolution(Call &call, llvm::ArrayRef<std::pair<int64_t, int64_t>> padding);
/// Evaluates the custom calls @check.*; returns false if `target` is none of them.
llvm::Expected<bool> evalCheckCustomCall(Call &call, llvm::StringRef target);

} // namespace millrace::eval
