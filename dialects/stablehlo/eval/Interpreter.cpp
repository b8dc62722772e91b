// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Interpreter.cpp - Functions, regions and operations ----------------===//
#include "dialects/stablehlo/eval/Interpreter.h"

#include "dialects/stablehlo/ElementCount.h"
#include "dialects/stablehlo/eval/Grid.h"
#include "runtime/base/FloatModes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace mlir;

namespace millrace::eval {

char EvalError::ID = 0;

void EvalError::log(llvm::raw_ostream &os) const { os << location << ": " << message; }

llvm::Error Call::error(const llvm::Twine &message) const {
  return llvm::make_error<EvalError>(op->getLoc(), (op->getName().getStringRef() + ": " + message).str());
}

Type Call::resultElementType(unsigned i) const {
  if (i < resultElementTypes.size() && resultElementTypes[i]) return resultElementTypes[i];
  return cast<ShapedType>(op->getResult(i).getType()).getElementType();
}

RankedTensorType Call::typeWith(ArrayRef<int64_t> shape, unsigned i) const {
  auto declared = dyn_cast<RankedTensorType>(op->getResult(i).getType());
  Type elementType = resultElementType(i);
  if (declared && !declared.getEncoding() && declared.getElementType() == elementType && declared.getShape() == shape)
    return declared;
  return RankedTensorType::get(shape, elementType);
}

const Dispatch &Dispatch::get() {
  static const Dispatch table = [] {
    Dispatch dispatch;
    addElementwise(dispatch);
    addConversions(dispatch);
    addDataMovement(dispatch);
    addIndexing(dispatch);
    addContraction(dispatch);
    addConvolution(dispatch);
    addFactorization(dispatch);
    addReduction(dispatch);
    addWindow(dispatch);
    addBatchNorm(dispatch);
    addControlFlow(dispatch);
    addCollective(dispatch);
    addDynamism(dispatch);
    addRandom(dispatch);
    addFft(dispatch);
    addQuantized(dispatch);
    addChecks(dispatch);
    addProbes(dispatch);
    return dispatch;
  }();
  return table;
}

std::string toString(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Returns why a value of `type` is not supported; empty if it is.
static std::string whyNot(Type type, int64_t maxBytes) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    for (Type element : tuple.getTypes())
      if (std::string why = whyNot(element, maxBytes); !why.empty()) return why;
    return {};
  }
  if (isa<MemRefType>(type)) return "buffers cannot be evaluated";
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped) return {};
  std::optional<Kind> kind = kindOf(shaped.getElementType());
  if (!kind || !shaped.hasRank()) return (llvm::Twine("values of type ") + toString(type) + " cannot be evaluated").str();
  if (!shaped.hasStaticShape() || stablehlo::elementCount(shaped.getShape(), maxBytes / byteSize(*kind))) return {};
  return (llvm::Twine("a tensor of type ") + toString(type) + " is larger than the limit of " + llvm::Twine(maxBytes) + " bytes").str();
}

llvm::Error checkSize(const Call &call, ArrayRef<int64_t> shape, Type elementType) {
  for (int64_t size : shape)
    if (size < 0) return call.error("expects sizes >= 0, but got " + llvm::Twine(size));
  const int64_t most = call.interpreter.options.maxTensorBytes;
  if (stablehlo::elementCount(shape, most / byteSize(*kindOf(elementType)))) return llvm::Error::success();
  return call.error("the result is larger than the limit of " + llvm::Twine(most) + " bytes");
}

llvm::Error Interpreter::checkResult(Operation *op, unsigned i, const Value &value) {
  Type declared = op->getResult(i).getType();
  auto mismatch = [&](llvm::StringRef got) {
    std::string message;
    llvm::raw_string_ostream(message) << op->getName().getStringRef() << ": expects result " << i << " of type "
                                      << declared << ", but got " << got;
    return llvm::make_error<EvalError>(op->getLoc(), std::move(message));
  };
  auto tensorType = dyn_cast<RankedTensorType>(declared);
  if (!tensorType) return llvm::Error::success();
  if (!value.isTensor()) return mismatch("no tensor");
  RankedTensorType got = value.tensor().getType();
  bool fits = got.getRank() == tensorType.getRank() && got.getElementType() == tensorType.getElementType();
  for (int64_t d = 0; fits && d < got.getRank(); ++d)
    fits = tensorType.isDynamicDim(d) || tensorType.getDimSize(d) == got.getDimSize(d);
  if (!fits) return mismatch(toString(got));
  return llvm::Error::success();
}

llvm::Error Interpreter::runOp(Operation *op, ArrayRef<Value> operands, SmallVectorImpl<Value> &results,
                               const Scope *scope) {
  const Dispatch::Entry *entry = Dispatch::get().find(op);
  if (!entry)
    return llvm::make_error<EvalError>(op->getLoc(),
                                       ("the evaluator does not know the operation '" + op->getName().getStringRef() + "'").str());
  if (options.maxSteps && ++steps > options.maxSteps)
    return llvm::make_error<EvalError>(op->getLoc(), "evaluation takes more than " + std::to_string(options.maxSteps) + " operations");
  for (Type type : op->getResultTypes())
    if (std::string why = whyNot(type, options.maxTensorBytes); !why.empty())
      return llvm::make_error<EvalError>(op->getLoc(), (op->getName().getStringRef() + ": " + why).str());

  Call call{op, operands, results, *this, scope};
  bool quantized = false;
  auto isQuantized = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && isa<quant::QuantizedType>(shaped.getElementType());
  };
  if (entry->quantization == Quantization::Expressed)
    quantized = llvm::any_of(operands, [&](const Value &v) { return v.isTensor() && isQuantized(v.tensor().getType()); }) ||
                llvm::any_of(op->getResultTypes(), isQuantized);
  if (!quantized) {
    if (llvm::Error error = entry->handler(call)) return error;
  } else {
    SmallVector<Value> expressedOperands;
    for (const Value &operand : operands)
      expressedOperands.push_back(operand.isTensor() && isQuantized(operand.tensor().getType())
                                      ? Value(dequantize(operand.tensor()))
                                      : operand);
    SmallVector<Type> elementTypes;
    for (Type type : op->getResultTypes())
      elementTypes.push_back(isQuantized(type) ? cast<quant::QuantizedType>(cast<ShapedType>(type).getElementType()).getExpressedType()
                                               : Type());
    SmallVector<Value> expressedResults;
    Call expressed{op, expressedOperands, expressedResults, *this, scope, elementTypes};
    if (llvm::Error error = entry->handler(expressed)) return error;
    for (auto [i, value] : llvm::enumerate(expressedResults))
      results.push_back(elementTypes[i] && value.isTensor()
                            ? Value(quantize(value.tensor(), cast<ShapedType>(op->getResult(i).getType()).getElementType()))
                            : std::move(value));
  }
  if (results.size() != op->getNumResults())
    return call.error("evaluation gave " + llvm::Twine(results.size()) + " results instead of " + llvm::Twine(op->getNumResults()));
  for (unsigned i = 0; i < results.size(); ++i)
    if (llvm::Error error = checkResult(op, i, results[i])) return error;
  return llvm::Error::success();
}

llvm::Error Interpreter::runBlock(Block &block, ArrayRef<Value> arguments, SmallVectorImpl<Value> &results,
                                  Scope &scope) {
  if (arguments.size() != block.getNumArguments())
    return llvm::make_error<EvalError>(block.getParentOp()->getLoc(),
                                       "expects " + std::to_string(block.getNumArguments()) + " arguments, but got " +
                                           std::to_string(arguments.size()));
  if (depth >= options.maxDepth)
    return llvm::make_error<EvalError>(block.getParentOp()->getLoc(),
                                       "calls and regions are nested deeper than " + std::to_string(options.maxDepth));
  ++depth;
  llvm::scope_exit leave([&] { --depth; });
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments)) scope.set(argument, value);
  SmallVector<Value, 4> operands, opResults;
  for (Operation &op : block) {
    operands.clear();
    for (mlir::Value operand : op.getOperands()) {
      const Value *value = scope.find(operand);
      if (!value) return llvm::make_error<EvalError>(op.getLoc(), "operand has no value here");
      operands.push_back(*value);
    }
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      results.assign(operands.begin(), operands.end());
      return llvm::Error::success();
    }
    opResults.clear();
    if (llvm::Error error = runOp(&op, operands, opResults, &scope)) return error;
    for (auto [result, value] : llvm::zip(op.getResults(), opResults)) scope.set(result, std::move(value));
  }
  return llvm::make_error<EvalError>(block.getParentOp()->getLoc(), "block has no terminator");
}

llvm::Error Interpreter::runRegion(Region &region, ArrayRef<Value> arguments, SmallVectorImpl<Value> &results,
                                   const Scope *parent) {
  if (!region.hasOneBlock())
    return llvm::make_error<EvalError>(region.getLoc(), "expects a region with one block");
  Scope scope(parent);
  return runBlock(region.front(), arguments, results, scope);
}

llvm::Error Interpreter::callFunction(Operation *function, ArrayRef<Value> arguments, SmallVectorImpl<Value> &results,
                                      Operation *caller) {
  auto callable = cast<FunctionOpInterface>(function);
  Location location = caller ? caller->getLoc() : function->getLoc();
  if (callable.isExternal())
    return llvm::make_error<EvalError>(location, ("function @" + callable.getName() + " has no body").str());
  if (callable.getNumArguments() != arguments.size())
    return llvm::make_error<EvalError>(location, ("function @" + callable.getName() + " expects " +
                                                  llvm::Twine(callable.getNumArguments()) + " arguments, but got " +
                                                  llvm::Twine(arguments.size()))
                                                     .str());
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    auto declared = dyn_cast<RankedTensorType>(callable.getArgumentTypes()[i]);
    if (!declared) continue;
    bool fits = argument.isTensor() && argument.tensor().getElementType() == declared.getElementType() &&
                argument.tensor().rank() == declared.getRank();
    for (int64_t d = 0; fits && d < declared.getRank(); ++d)
      fits = declared.isDynamicDim(d) || declared.getDimSize(d) == argument.tensor().dim(d);
    if (!fits) {
      std::string message;
      llvm::raw_string_ostream os(message);
      os << "argument " << i << " of @" << callable.getName() << " expects type " << declared << ", but got ";
      if (argument.isTensor()) os << argument.tensor().getType();
      else os << "no tensor";
      return llvm::make_error<EvalError>(location, std::move(message));
    }
  }
  if (depth >= options.maxDepth)
    return llvm::make_error<EvalError>(location, "calls and regions are nested deeper than " + std::to_string(options.maxDepth));
  return runRegion(callable.getFunctionBody(), arguments, results, nullptr);
}

llvm::Expected<Tensor> Interpreter::constant(Operation *op, ElementsAttr attr, RankedTensorType type) {
  auto it = constants.find(op);
  if (it != constants.end()) return it->second;
  llvm::Expected<Tensor> tensor = Tensor::fromAttr(attr, type);
  if (!tensor) return llvm::make_error<EvalError>(op->getLoc(), llvm::toString(tensor.takeError()));
  constants[op] = *tensor;
  return tensor;
}

llvm::Error Body::operator()(ArrayRef<Value> arguments, SmallVectorImpl<Value> &results) {
  if (!region.hasOneBlock()) return llvm::make_error<EvalError>(region.getLoc(), "expects a region with one block");
  scope.clear();
  return interpreter.runBlock(region.front(), arguments, results, scope);
}

RankedTensorType Body::argumentType(unsigned i) const {
  if (region.empty() || i >= region.getNumArguments()) return {};
  return dyn_cast<RankedTensorType>(region.getArgument(i).getType());
}

Operation *Body::singleBinaryOp() const {
  if (!region.hasOneBlock() || region.getNumArguments() != 2) return nullptr;
  Block &block = region.front();
  if (block.empty() || std::next(block.begin()) == block.end() || std::next(block.begin(), 2) != block.end()) return nullptr;
  Operation *op = &block.front(), *terminator = &block.back();
  if (op->getNumOperands() != 2 || op->getNumResults() != 1 || op->getOperand(0) != block.getArgument(0) ||
      op->getOperand(1) != block.getArgument(1) || terminator->getNumOperands() != 1 ||
      terminator->getOperand(0) != op->getResult(0) ||
      op->getResult(0).getType() != block.getArgument(0).getType() ||
      op->getResult(0).getType() != block.getArgument(1).getType())
    return nullptr;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return type && !isa<quant::QuantizedType>(type.getElementType()) ? op : nullptr;
}

Shape intsOf(Operation *op, StringRef name, ArrayRef<int64_t> fallback) {
  Attribute attr = op->getAttr(name);
  if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(attr)) return Shape(array.asArrayRef());
  if (auto elements = dyn_cast_or_null<DenseIntElementsAttr>(attr)) {
    Shape values;
    for (const APInt &value : elements.getValues<APInt>()) values.push_back(value.getSExtValue());
    return values;
  }
  return Shape(fallback);
}

SmallVector<bool> boolsOf(Operation *op, StringRef name, size_t count) {
  Attribute attr = op->getAttr(name);
  if (auto array = dyn_cast_or_null<DenseBoolArrayAttr>(attr)) return SmallVector<bool>(array.asArrayRef());
  SmallVector<bool> values;
  if (auto elements = dyn_cast_or_null<DenseElementsAttr>(attr))
    for (bool value : elements.getValues<bool>()) values.push_back(value);
  values.resize(count, false);
  return values;
}

SmallVector<std::pair<int64_t, int64_t>> pairsOf(Operation *op, StringRef name, size_t count) {
  Shape flat = intsOf(op, name, Shape(2 * count, 0));
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (size_t i = 0; i + 1 < flat.size(); i += 2) pairs.push_back({flat[i], flat[i + 1]});
  return pairs;
}

Shape toShape(const Tensor &tensor) { return Shape(tensor.ints()); }

Tensor broadcastScalar(const Tensor &scalar, ArrayRef<int64_t> shape) {
  Tensor result(RankedTensorType::get(shape, scalar.getElementType()));
  unsigned width = result.elementBytes();
  char *p = result.mutableData();
  for (int64_t i = 0; i < result.size(); ++i, p += width) std::memcpy(p, scalar.data(), width);
  return result;
}

llvm::Expected<SmallVector<Value>> evaluate(func::FuncOp function, ArrayRef<Value> arguments,
                                                            const Options &options) {
  SmallVector<SmallVector<Value>> perDevice(1, SmallVector<Value>(arguments));
  auto results = evaluateOnGrid(function, perDevice, 1, 1, options);
  if (!results) return results.takeError();
  return std::move(results->front());
}

llvm::Expected<SmallVector<Value>> evaluateOp(Operation *op, ArrayRef<Value> operands,
                                                              const Options &options) {
  const runtime::DefaultFloatModes modes;
  Grid grid(1, 1);
  Interpreter interpreter(options, Process{0, 0, &grid});
  SmallVector<Value> results;
  Scope scope(nullptr);
  if (operands.size() != op->getNumOperands())
    return llvm::make_error<EvalError>(op->getLoc(), "expects one value per operand");
  if (llvm::Error error = interpreter.runOp(op, operands, results, &scope)) return error;
  return results;
}

} // namespace millrace::eval
