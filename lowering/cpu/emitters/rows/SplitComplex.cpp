// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitComplex.cpp - Rewrite complex kernels on real tensors ---------===//
// Input:   func @k(%a: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> with linalg operations on complex elements
// Output:  func @k.parts(%a: tensor<8x2xf32>) -> tensor<8x2xf32>: every complex value becomes two real ones. Those of arguments are strided slices of
//          the buffer; results are joined by insertions. A body computes both components, but a sum whose components are independent becomes two
//          reductions.
//          Complex elements of two f32 that are only moved become integers of 64 bits instead.
// Leaves alone functions that call the runtime, regions other than linalg bodies, dynamic shapes.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/rows/SplitComplex.h"

#include "lowering/cpu/math/Functions.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

bool isComplex(Type type) { return isa<ComplexType>(getElementTypeOrSelf(type)); }
bool isComplex(Value value) { return isComplex(value.getType()); }

/// Returns the real type of one component.
Type partOf(Type type) {
  auto part = cast<ComplexType>(getElementTypeOrSelf(type)).getElementType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? Type(RankedTensorType::get(tensor.getShape(), part)) : part;
}

/// Returns the type of the tensor of both components of each element, as in memory.
RankedTensorType joinedType(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(2);
  return RankedTensorType::get(shape, cast<ComplexType>(type.getElementType()).getElementType());
}

struct Parts {
  Value re, im;
};

class Splitter {
public:
  Splitter(func::FuncOp fn, std::string &why) : fn(fn), why(why) {}
  FailureOr<func::FuncOp> run();

private:
  LogicalResult fail(const Twine &message) {
    why = message.str();
    return failure();
  }
  Parts partsOf(Value value) { return known.lookup(value); }
  Value plain(Value value) { return map.lookupOrDefault(value); }
  void copy(OpBuilder &b, Operation &op) { b.clone(op, map); }
  LogicalResult addOperation(OpBuilder &b, Operation &op);
  LogicalResult addTensorOperation(OpBuilder &b, Operation &op);
  LogicalResult addGeneric(OpBuilder &b, linalg::GenericOp op);
  LogicalResult addScalar(OpBuilder &b, Operation &op);
  void splitSums(OpBuilder &b, linalg::GenericOp op);

  func::FuncOp fn;
  std::string &why;
  IRMapping map;               ///< of values that are not complex
  DenseMap<Value, Parts> known; ///< of complex values
};

/// Returns the two components of a complex constant.
Parts constantParts(OpBuilder &b, Location loc, ArrayAttr value) {
  return {arith::ConstantOp::create(b, loc, cast<TypedAttr>(value[0])), arith::ConstantOp::create(b, loc, cast<TypedAttr>(value[1]))};
}

/// Returns a splat tensor; a constant for a constant scalar.
Value tensorOf(OpBuilder &b, Location loc, RankedTensorType type, Value scalar) {
  Attribute attr;
  if (matchPattern(scalar, m_Constant(&attr)))
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, attr));
  return tensor::FromElementsOp::create(b, loc, type, scalar);
}

LogicalResult Splitter::addScalar(OpBuilder &builder, Operation &op) {
  MathBuilder b(builder, op.getLoc());
  auto define = [&](std::pair<Value, Value> parts) {
    known[op.getResult(0)] = {parts.first, parts.second};
    return success();
  };
  auto operand = [&](unsigned i) {
    Parts parts = partsOf(op.getOperand(i));
    return ComplexParts{parts.re, parts.im};
  };
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](complex::ConstantOp constant) {
        known[constant] = constantParts(builder, op.getLoc(), constant.getValue());
        return success();
      })
      .Case([&](complex::CreateOp create) { return define({plain(create.getReal()), plain(create.getImaginary())}); })
      .Case([&](complex::ReOp part) {
        map.map(part.getResult(), operand(0).re);
        return success();
      })
      .Case([&](complex::ImOp part) {
        map.map(part.getResult(), operand(0).im);
        return success();
      })
      .Case([&](arith::SelectOp select) {
        Value condition = plain(select.getCondition());
        ComplexParts yes = operand(1), no = operand(2);
        return define({b.select(condition, yes.re, no.re), b.select(condition, yes.im, no.im)});
      })
      .Case([&](complex::AbsOp abs) {
        map.map(abs.getResult(), complexAbs(b, operand(0)));
        return success();
      })
      .Case([&](complex::ExpOp) {
        ComplexParts result = complexExp(b, operand(0));
        return define({result.re, result.im});
      })
      .Case([&](complex::SqrtOp) {
        ComplexParts result = complexSqrt(b, operand(0));
        return result.re ? define({result.re, result.im}) : fail("square root of complex<f64>");
      })
      .Case([&](complex::TanhOp) {
        ComplexParts result = complexTanh(b, operand(0));
        return result.re ? define({result.re, result.im}) : fail("tanh of complex<f64>");
      })
      .Case([&](complex::DivOp) {
        ComplexParts result = complexDivision(b, operand(0), operand(1));
        return result.re ? define({result.re, result.im}) : fail("division of complex<f64>");
      })
      .Case([&](complex::PowOp) {
        ComplexParts result = complexPower(b, operand(0), operand(1));
        return result.re ? define({result.re, result.im}) : fail("power of complex<f64>");
      })
      .Case([&](tensor::ExtractOp extract) {
        SmallVector<Value> indices;
        for (Value index : extract.getIndices())
          indices.push_back(plain(index));
        Parts from = partsOf(extract.getTensor());
        return define({tensor::ExtractOp::create(builder, op.getLoc(), from.re, indices),
                       tensor::ExtractOp::create(builder, op.getLoc(), from.im, indices)});
      })
      .Default([&](Operation *other) { return fail("'" + other->getName().getStringRef() + "' of complex numbers"); });
}

/// Returns true if the yielded value of `body` depends on the accumulator.
bool needs(Block *body, Value yielded, Value accumulator) {
  SmallVector<Value> pending{yielded};
  SmallPtrSet<Operation *, 16> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (value == accumulator)
      return true;
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == body && seen.insert(op).second)
      pending.append(op->operand_begin(), op->operand_end());
  }
  return false;
}

/// Splits a reduction with two results that do not depend on each other's accumulator into two reductions, each with its own operands.
void Splitter::splitSums(OpBuilder &b, linalg::GenericOp op) {
  Block *body = op.getBody();
  unsigned inputs = op.getNumDpsInputs();
  if (op.getNumReductionLoops() == 0 || op->getNumResults() != 2)
    return;
  Operation *yield = body->getTerminator();
  for (unsigned result = 0; result < 2; ++result)
    if (needs(body, yield->getOperand(result), body->getArgument(inputs + 1 - result)))
      return;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (unsigned result = 0; result < 2; ++result) {
    SmallVector<Value> operands;
    SmallVector<AffineMap> used;
    SmallVector<unsigned> arguments;
    for (unsigned input = 0; input < inputs; ++input)
      if (needs(body, yield->getOperand(result), body->getArgument(input))) {
        operands.push_back(op.getDpsInputOperand(input)->get());
        used.push_back(maps[input]);
        arguments.push_back(input);
      }
    // An operand must give the sizes of the reduced dimensions.
    if (operands.empty()) {
      operands.push_back(op.getDpsInputOperand(result)->get());
      used.push_back(maps[result]);
      arguments.push_back(result);
    }
    used.push_back(maps[inputs + result]);
    arguments.push_back(inputs + result);
    Value init = op.getDpsInitOperand(result)->get();
    auto sum = linalg::GenericOp::create(b, op.getLoc(), init.getType(), operands, init, used, op.getIteratorTypesArray(),
                                         [&](OpBuilder &inner, Location loc, ValueRange args) {
                                           IRMapping inBody;
                                           for (auto [argument, arg] : llvm::zip_equal(arguments, args))
                                             inBody.map(body->getArgument(argument), arg);
                                           SmallPtrSet<Operation *, 16> wanted;
                                           SmallVector<Value> pending{yield->getOperand(result)};
                                           while (!pending.empty())
                                             if (Operation *source = pending.pop_back_val().getDefiningOp();
                                                 source && source->getBlock() == body && wanted.insert(source).second)
                                               pending.append(source->operand_begin(), source->operand_end());
                                           for (Operation &inside : body->without_terminator())
                                             if (wanted.contains(&inside))
                                               inner.clone(inside, inBody);
                                           linalg::YieldOp::create(inner, loc, inBody.lookupOrDefault(yield->getOperand(result)));
                                         });
    op->getResult(result).replaceAllUsesWith(sum.getResult(0));
    for (auto &[value, parts] : known) {
      Value &part = result == 0 ? parts.re : parts.im;
      if (part == op->getResult(result))
        part = sum.getResult(0);
    }
  }
  op.erase();
}

LogicalResult Splitter::addGeneric(OpBuilder &b, linalg::GenericOp op) {
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps;
  Block *body = op.getBody();
  auto add = [&](OpOperand &operand, SmallVectorImpl<Value> &list) {
    AffineMap indexing = op.getMatchingIndexingMap(&operand);
    if (isComplex(operand.get())) {
      Parts parts = partsOf(operand.get());
      list.append({parts.re, parts.im});
      maps.append(2, indexing);
    } else {
      list.push_back(plain(operand.get()));
      maps.push_back(indexing);
    }
  };
  for (OpOperand *input : op.getDpsInputOperands())
    add(*input, inputs);
  for (OpOperand &init : op.getDpsInitsMutable())
    add(init, inits);
  bool isKnown = true;
  auto fill = [&](OpBuilder &inner, Location loc, ValueRange args) {
    unsigned next = 0;
    for (BlockArgument argument : body->getArguments()) {
      if (isComplex(argument)) {
        known[argument] = {args[next], args[next + 1]};
        next += 2;
      } else {
        map.map(argument, args[next++]);
      }
    }
    for (Operation &inside : body->without_terminator())
      if (failed(addOperation(inner, inside))) {
        isKnown = false;
        break;
      }
    SmallVector<Value> yielded;
    for (Value value : body->getTerminator()->getOperands()) {
      if (!isKnown) {
        llvm::append_range(yielded, args.take_back(inits.size()));
        break;
      }
      if (isComplex(value)) {
        Parts parts = partsOf(value);
        yielded.append({parts.re, parts.im});
      } else {
        yielded.push_back(plain(value));
      }
    }
    linalg::YieldOp::create(inner, loc, yielded);
  };
  auto split = linalg::GenericOp::create(b, op.getLoc(), ValueRange(inits).getTypes(), inputs, inits, maps, op.getIteratorTypesArray(), fill);
  unsigned next = 0;
  for (Value result : op->getResults()) {
    if (isComplex(result)) {
      known[result] = {split.getResult(next), split.getResult(next + 1)};
      next += 2;
    } else {
      map.map(result, split.getResult(next++));
    }
  }
  if (isKnown)
    splitSums(b, split);
  return success(isKnown);
}

/// Applies an operation that moves elements to each component.
LogicalResult Splitter::addTensorOperation(OpBuilder &b, Operation &op) {
  if (op.getNumRegions() || op.getNumResults() != 1)
    return fail("'" + op.getName().getStringRef() + "' of complex numbers");
  auto once = [&](bool imaginary) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands()) {
      Parts parts = isComplex(operand) ? partsOf(operand) : Parts{plain(operand), plain(operand)};
      operands.push_back(imaginary ? parts.im : parts.re);
    }
    OperationState state(op.getLoc(), op.getName(), operands, partOf(op.getResult(0).getType()), op.getAttrs());
    return b.create(state)->getResult(0);
  };
  Value re = once(false);
  known[op.getResult(0)] = {re, once(true)};
  return success();
}

LogicalResult Splitter::addOperation(OpBuilder &b, Operation &op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return addGeneric(b, generic);
  bool touches = llvm::any_of(op.getOperandTypes(), [](Type type) { return isComplex(type); }) ||
                 llvm::any_of(op.getResultTypes(), [](Type type) { return isComplex(type); });
  if (!touches) {
    if (op.getNumRegions() || isa<CallOpInterface>(op))
      return fail("'" + op.getName().getStringRef() + "' beside complex numbers");
    copy(b, op);
    return success();
  }
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    Parts value = partsOf(fill.getInputs()[0]), into = partsOf(fill.getOutputs()[0]);
    known[fill.getResult(0)] = {linalg::FillOp::create(b, op.getLoc(), value.re, into.re).getResult(0),
                                linalg::FillOp::create(b, op.getLoc(), value.im, into.im).getResult(0)};
    return success();
  }
  if (auto single = dyn_cast<tensor::FromElementsOp>(op)) {
    if (single.getElements().size() != 1)
      return fail("several numbers as a tensor");
    Parts parts = partsOf(single.getElements()[0]);
    auto type = cast<RankedTensorType>(partOf(single.getType()));
    known[single] = {tensorOf(b, op.getLoc(), type, parts.re), tensorOf(b, op.getLoc(), type, parts.im)};
    return success();
  }
  if (isa<tensor::EmptyOp, tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
          tensor::SplatOp>(op))
    return addTensorOperation(b, op);
  return addScalar(b, op);
}

FailureOr<func::FuncOp> Splitter::run() {
  OpBuilder b(fn.getContext());
  b.setInsertionPointAfter(fn);
  auto joined = [](Type type) { return isComplex(type) ? Type(joinedType(cast<RankedTensorType>(type))) : type; };
  SmallVector<Type> inputs, results;
  llvm::append_range(inputs, llvm::map_range(fn.getArgumentTypes(), joined));
  llvm::append_range(results, llvm::map_range(fn.getResultTypes(), joined));
  auto split = func::FuncOp::create(b, fn.getLoc(), (fn.getName() + ".parts").str(), b.getFunctionType(inputs, results));
  split.setPrivate();
  Location loc = fn.getLoc();
  b.setInsertionPointToStart(split.addEntryBlock());
  auto attr = [&](int64_t value) { return OpFoldResult(b.getIndexAttr(value)); };
  // The place of a tensor's component in the joined tensor.
  struct Place {
    SmallVector<OpFoldResult> offsets, sizes, strides;
  };
  auto place = [&](RankedTensorType type, int64_t part) {
    Place where;
    for (int64_t size : type.getShape()) {
      where.offsets.push_back(attr(0));
      where.sizes.push_back(attr(size));
    }
    where.offsets.push_back(attr(part));
    where.sizes.push_back(attr(1));
    where.strides.assign(where.sizes.size(), attr(1));
    return where;
  };
  for (auto [from, to] : llvm::zip_equal(fn.getArguments(), split.getArguments())) {
    if (!isComplex(from)) {
      map.map(from, to);
      continue;
    }
    auto slice = [&](int64_t part) -> Value {
      Place where = place(cast<RankedTensorType>(from.getType()), part);
      return tensor::ExtractSliceOp::create(b, loc, cast<RankedTensorType>(partOf(from.getType())), to, where.offsets, where.sizes, where.strides);
    };
    Value re = slice(0);
    known[from] = {re, slice(1)};
  }
  for (Operation &op : fn.getBody().front().without_terminator())
    if (failed(addOperation(b, op))) {
      split.erase();
      return failure();
    }
  SmallVector<Value> returned;
  for (Value value : fn.getBody().front().getTerminator()->getOperands()) {
    if (!isComplex(value)) {
      returned.push_back(plain(value));
      continue;
    }
    auto type = cast<RankedTensorType>(value.getType());
    Parts parts = partsOf(value);
    Value whole = tensor::EmptyOp::create(b, loc, joinedType(type).getShape(), joinedType(type).getElementType());
    for (int64_t part = 0; part < 2; ++part) {
      Place where = place(type, part);
      whole = tensor::InsertSliceOp::create(b, loc, part ? parts.im : parts.re, whole, where.offsets, where.sizes, where.strides);
    }
    returned.push_back(whole);
  }
  func::ReturnOp::create(b, loc, returned);
  return split;
}

/// Returns true if no body computes with a complex element, and all of them have 64 bits.
bool onlyMoves(func::FuncOp fn) {
  bool moves = true;
  auto isShort = [](Type type) { return !isComplex(type) || cast<ComplexType>(getElementTypeOrSelf(type)).getElementType().isF32(); };
  fn.walk([&](Operation *op) {
    bool touches = false;
    for (Type type : op->getOperandTypes())
      touches |= isComplex(type), moves &= isShort(type);
    for (Type type : op->getResultTypes())
      touches |= isComplex(type), moves &= isShort(type);
    if (touches)
      moves &= isa<linalg::LinalgOp, linalg::YieldOp, complex::ConstantOp, arith::SelectOp, func::ReturnOp>(op) ||
               isa<tensor::TensorDialect>(op->getDialect());
  });
  return moves;
}

/// Returns the copy of `fn` with integers instead of complex elements.
func::FuncOp asIntegers(func::FuncOp fn) {
  OpBuilder b(fn.getContext());
  b.setInsertionPointAfter(fn);
  auto moved = cast<func::FuncOp>(b.clone(*fn.getOperation()));
  moved.setName((fn.getName() + ".parts").str());
  auto integer = [&](Type type) -> Type {
    if (!isComplex(type))
      return type;
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? Type(RankedTensorType::get(tensor.getShape(), b.getI64Type())) : b.getI64Type();
  };
  SmallVector<complex::ConstantOp> constants;
  moved.walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setType(integer(argument.getType()));
    if (auto constant = dyn_cast<complex::ConstantOp>(op))
      constants.push_back(constant);
    else
      for (Value result : op->getResults())
        result.setType(integer(result.getType()));
  });
  for (complex::ConstantOp constant : constants) {
    b.setInsertionPoint(constant);
    uint64_t bits[2];
    for (unsigned part = 0; part < 2; ++part)
      bits[part] = cast<FloatAttr>(constant.getValue()[part]).getValue().bitcastToAPInt().getZExtValue();
    Value number = arith::ConstantOp::create(b, constant.getLoc(), b.getI64IntegerAttr(int64_t(bits[0] | bits[1] << 32)));
    constant.replaceAllUsesWith(number);
    constant.erase();
  }
  SmallVector<Type> results;
  llvm::append_range(results, llvm::map_range(fn.getResultTypes(), integer));
  moved.setFunctionType(b.getFunctionType(moved.getBody().getArgumentTypes(), results));
  return moved;
}

} // namespace

bool usesComplex(func::FuncOp fn) {
  return fn.walk([](Operation *op) {
             auto check = [](Type type) { return isComplex(type); };
             return llvm::any_of(op->getOperandTypes(), check) || llvm::any_of(op->getResultTypes(), check) ? WalkResult::interrupt()
                                                                                                            : WalkResult::advance();
           })
      .wasInterrupted();
}

FailureOr<func::FuncOp> splitComplex(func::FuncOp fn, std::string &why) {
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  if (!llvm::all_of(fn.getArgumentTypes(), isStatic) || !llvm::all_of(fn.getResultTypes(), isStatic) || !fn.getBody().hasOneBlock()) {
    why = "run-time shapes";
    return failure();
  }
  if (onlyMoves(fn))
    return asIntegers(fn);
  return Splitter(fn, why).run();
}

} // namespace millrace::lowering
