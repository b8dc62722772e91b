// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DynamicShapes.cpp - One program for all sizes -----------------------===//
// Input:  @main(%x: tensor<5x4xf32>) { %0 = broadcast_in_dim %c : tensor<f32> -> tensor<5x4xf32> ... }, and the same for 7 and 11 instead of 5
// Output: @main(%x: tensor<?x4xf32>) { %s = get_dimension_size %x, dim = 0 ... %0 = dynamic_broadcast_in_dim %c, [%s, 4] ... }
// The operations of all samples are visited in parallel, and those of the first sample are changed.
#include "tracing/sizes/DynamicShapes.h"

#include "lowering/Compile.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <map>

using namespace mlir;

namespace millrace::tracing {
namespace {

using mlir::Value;

class Generalizer {
public:
  Generalizer(const std::vector<std::vector<int64_t>> &samples, const std::vector<SizeSymbol> &symbols, MLIRContext &context)
      : samples(samples), symbols(symbols), context(context), builder(&context) {}

  runtime::StatusOr<std::string> run(const std::vector<std::string> &texts) {
    std::vector<OwningOpRef<ModuleOp>> modules;
    std::vector<func::FuncOp> functions;
    for (const std::string &text : texts) {
      modules.push_back(parseSourceString<ModuleOp>(text, &context));
      if (!modules.back())
        return runtime::internalError("a sample cannot be parsed");
      functions.push_back(modules.back()->lookupSymbol<func::FuncOp>("main"));
    }
    function = functions[0];
    std::vector<Block *> blocks;
    for (func::FuncOp f : functions)
      blocks.push_back(&f.getBody().front());
    Block &entry = *blocks[0];
    size_t parameters = entry.getNumArguments();
    for (Block *block : blocks)
      if (block->getNumArguments() != parameters)
        return runtime::unimplemented("the number of parameters depends on sizes");
    for (size_t i = 0; i < parameters; ++i) {
      std::vector<Value> values;
      for (Block *block : blocks)
        values.push_back(block->getArgument(unsigned(i)));
      retype(values);
    }
    builder.setInsertionPointToStart(&entry);
    for (const SizeSymbol &symbol : symbols)
      symbolValues.push_back(sizeOf(symbol, entry));
    visit(blocks);
    if (!error.empty())
      return runtime::unimplemented(error);
    Operation *end = entry.getTerminator();
    function.setType(builder.getFunctionType(TypeRange(entry.getArguments()), end->getOperandTypes()));
    // The memory of a parameter can be donated to a result of the same size only.
    for (unsigned i = 0; i < parameters; ++i)
      function.removeArgAttr(i, "tf.aliasing_output");
    std::string diagnostics;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (diagnostics.empty())
        diagnostics = diagnostic.str();
      return success();
    });
    if (failed(verify(*modules[0])))
      return runtime::unimplemented("no program for all sizes: " + diagnostics);
    std::string text;
    llvm::raw_string_ostream stream(text);
    modules[0]->print(stream);
    return text;
  }

private:
  void fail(const std::string &reason) {
    if (error.empty())
      error = reason;
  }

  std::optional<SizeExpr> fit(const std::vector<int64_t> &values, StringRef what) {
    auto [at, isNew] = fitted.try_emplace(values);
    std::optional<SizeExpr> &known = at->second;
    if (!isNew && known)
      return known;
    std::optional<SizeExpr> made = fitSize(samples, values);
    if (!made)
      fail(what.str() + " depends on sizes in another way than as a polynomial");
    return known = made;
  }

  //===-- Values that the program computes ----------------------------------===//

  Value make(StringRef name, ValueRange operands, Type type, ArrayRef<NamedAttribute> attributes = {}) {
    OperationState state(UnknownLoc::get(&context), name);
    state.addOperands(operands);
    state.addTypes(type);
    state.addAttributes(attributes);
    return builder.create(state)->getResult(0);
  }
  RankedTensorType scalar() { return RankedTensorType::get({}, builder.getI32Type()); }
  Value number(int64_t value) {
    auto attribute = DenseElementsAttr::get(scalar(), builder.getI32IntegerAttr(int32_t(value)).getValue());
    return make("stablehlo.constant", {}, scalar(), builder.getNamedAttr("value", attribute));
  }
  Value sizeOf(const SizeSymbol &symbol, Block &entry) {
    if (symbol.kind == SizeSymbol::Kind::Quotient && symbol.divisor.isConstant() && symbol.divisor.evaluate({}) == 1)
      return compute(symbol.dividend);
    if (symbol.kind != SizeSymbol::Kind::Size)
      return make(symbol.kind == SizeSymbol::Kind::Quotient ? "stablehlo.divide" : "stablehlo.remainder",
                  {compute(symbol.dividend), compute(symbol.divisor)}, scalar());
    Value size = make("stablehlo.get_dimension_size", entry.getArgument(unsigned(symbol.parameter)), scalar(),
                      builder.getNamedAttr("dimension", builder.getI64IntegerAttr(symbol.dim)));
    if (symbol.offset)
      size = make("stablehlo.subtract", {size, number(symbol.offset)}, scalar());
    if (symbol.factor != 1)
      size = make("stablehlo.divide", {size, number(symbol.factor)}, scalar());
    return size;
  }
  Value compute(const SizeExpr &expr) {
    Value sum;
    for (const SizeExpr::Term &term : expr.terms) {
      Value value;
      for (uint32_t symbol : term.symbols)
        value = value ? make("stablehlo.multiply", {value, symbolValues[symbol]}, scalar()) : symbolValues[symbol];
      if (!value)
        value = number(term.factor);
      else if (term.factor != 1)
        value = make("stablehlo.multiply", {value, number(term.factor)}, scalar());
      sum = sum ? make("stablehlo.add", {sum, value}, scalar()) : value;
    }
    return sum ? sum : number(0);
  }
  /// Computes a vector of sizes; `lists[k]` has those of sample k.
  Value vectorOf(const std::vector<SmallVector<int64_t>> &lists, StringRef what) {
    SmallVector<Value> parts;
    auto one = RankedTensorType::get({1}, builder.getI32Type());
    for (size_t i = 0; i < lists[0].size(); ++i) {
      std::optional<SizeExpr> expr = fit(column(lists, i), what);
      if (!expr)
        return {};
      parts.push_back(make("stablehlo.reshape", compute(*expr), one));
    }
    auto type = RankedTensorType::get({int64_t(parts.size())}, builder.getI32Type());
    if (parts.empty())
      return make("stablehlo.constant", {}, type,
                  builder.getNamedAttr("value", DenseElementsAttr::get(type, ArrayRef<int32_t>())));
    return make("stablehlo.concatenate", parts, type, builder.getNamedAttr("dimension", builder.getI64IntegerAttr(0)));
  }

  //===-- Comparison of the samples -------------------------------------------===//

  template <typename List>
  static std::vector<int64_t> column(const std::vector<List> &lists, size_t i) {
    std::vector<int64_t> values;
    for (const List &list : lists)
      values.push_back(list[i]);
    return values;
  }
  static std::vector<SmallVector<int64_t>> shapes(const std::vector<Value> &values) {
    std::vector<SmallVector<int64_t>> lists;
    for (Value value : values)
      lists.emplace_back(cast<RankedTensorType>(value.getType()).getShape());
    return lists;
  }

  /// Replaces sizes that differ by `?`. Returns true if there are any.
  bool retype(const std::vector<Value> &values) {
    auto type = dyn_cast<RankedTensorType>(values[0].getType());
    if (!type)
      return false;
    SmallVector<int64_t> dims(type.getShape());
    bool changed = false;
    for (Value value : values)
      if (cast<RankedTensorType>(value.getType()).getRank() != type.getRank())
        return fail("a rank depends on sizes"), false;
    std::vector<SmallVector<int64_t>> lists = shapes(values);
    for (size_t d = 0; d < dims.size(); ++d) {
      std::optional<SizeExpr> expr = fit(column(lists, d), "a size");
      if (expr && !expr->isConstant()) {
        dims[d] = ShapedType::kDynamic;
        changed = true;
      }
    }
    if (changed)
      Value(values[0]).setType(type.clone(dims));
    return changed;
  }

  void visit(const std::vector<Block *> &blocks) {
    std::vector<SmallVector<Operation *>> lists;
    for (Block *block : blocks) {
      lists.emplace_back();
      for (Operation &op : *block)
        if (block != blocks[0] || !isOurs(op))
          lists.back().push_back(&op);
    }
    for (const auto &list : lists)
      if (list.size() != lists[0].size())
        return fail("the number of operations depends on sizes");
    for (size_t i = 0; i < lists[0].size() && error.empty(); ++i) {
      std::vector<Operation *> ops;
      for (const auto &list : lists)
        ops.push_back(list[i]);
      visit(ops);
    }
  }
  /// Returns true for the operations that compute the symbols; they precede all others.
  bool isOurs(Operation &op) {
    return llvm::any_of(op.getResults(), [&](Value v) { return llvm::is_contained(symbolValues, v); }) ||
           (op.getParentOp() == function.getOperation() && !symbolValues.empty() &&
            op.isBeforeInBlock(symbolValues.back().getDefiningOp()));
  }

  void visit(const std::vector<Operation *> &ops) {
    Operation *op = ops[0];
    for (Operation *other : ops)
      if (other->getName() != op->getName() || other->getNumOperands() != op->getNumOperands() ||
          other->getNumResults() != op->getNumResults() || other->getNumRegions() != op->getNumRegions())
        return fail("whether there is " + op->getName().getStringRef().str() + " depends on sizes");
    for (unsigned r = 0; r < op->getNumRegions(); ++r) {
      std::vector<Block *> blocks;
      for (Operation *other : ops)
        blocks.push_back(&other->getRegion(r).front());
      for (unsigned a = 0; a < blocks[0]->getNumArguments(); ++a) {
        std::vector<Value> values;
        for (Block *block : blocks)
          values.push_back(block->getArgument(a));
        retype(values);
      }
      visit(blocks);
    }
    std::vector<SmallVector<int64_t>> results;
    if (op->getNumResults() >= 1 && isa<RankedTensorType>(op->getResult(0).getType())) {
      std::vector<Value> values;
      for (Operation *other : ops)
        values.push_back(other->getResult(0));
      results = shapes(values);
    }
    bool changed = false;
    for (unsigned i = 0; i < op->getNumResults(); ++i) {
      std::vector<Value> values;
      for (Operation *other : ops)
        values.push_back(other->getResult(i));
      changed |= retype(values);
    }
    bool isSame = llvm::all_of(ops, [&](Operation *other) { return other->getAttrDictionary() == op->getAttrDictionary(); });
    if (!error.empty() || (!changed && isSame))
      return;
    builder.setInsertionPoint(op);
    rewrite(ops, results, isSame);
  }

  /// Replaces an operation whose types or attributes differ by the dynamic one that takes them as operands.
  void rewrite(const std::vector<Operation *> &ops, const std::vector<SmallVector<int64_t>> &results, bool isSame) {
    Operation *op = ops[0];
    StringRef name = op->getName().getStringRef();
    auto replace = [&](StringRef with, ArrayRef<Value> operands, ArrayRef<StringRef> kept) {
      SmallVector<NamedAttribute> attributes;
      for (StringRef key : kept)
        if (Attribute value = op->getAttr(key))
          attributes.push_back(builder.getNamedAttr(key, value));
      if (llvm::any_of(operands, [](Value v) { return !v; }))
        return;
      op->getResult(0).replaceAllUsesWith(make(with, operands, op->getResult(0).getType(), attributes));
      op->erase();
    };
    auto lists = [&](StringRef key) {
      std::vector<SmallVector<int64_t>> made;
      for (Operation *other : ops)
        made.emplace_back(cast<DenseI64ArrayAttr>(other->getAttr(key)).asArrayRef());
      return made;
    };
    if (name == "stablehlo.constant")
      return rewriteConstant(ops, results);
    if (name == "stablehlo.broadcast_in_dim")
      return replace("stablehlo.dynamic_broadcast_in_dim", {op->getOperand(0), vectorOf(results, "a size")},
                     {"broadcast_dimensions"});
    if (name == "stablehlo.reshape")
      return replace("stablehlo.dynamic_reshape", {op->getOperand(0), vectorOf(results, "a size")}, {});
    if (name == "stablehlo.iota")
      return replace("stablehlo.dynamic_iota", {vectorOf(results, "a size")}, {"iota_dimension"});
    if (name == "stablehlo.slice" && !isSame)
      return replace("stablehlo.real_dynamic_slice",
                     {op->getOperand(0), vectorOf(lists("start_indices"), "a slice"),
                      vectorOf(lists("limit_indices"), "a slice"), vectorOf(lists("strides"), "a slice")}, {});
    if (name == "stablehlo.pad" && !isSame)
      return replace("stablehlo.dynamic_pad",
                     {op->getOperand(0), op->getOperand(1), vectorOf(lists("edge_padding_low"), "padding"),
                      vectorOf(lists("edge_padding_high"), "padding"), vectorOf(lists("interior_padding"), "padding")}, {});
    if (name == "stablehlo.gather" && !isSame)
      return replace("stablehlo.dynamic_gather", {op->getOperand(0), op->getOperand(1), vectorOf(lists("slice_sizes"), "a slice")},
                     {"dimension_numbers", "indices_are_sorted"});
    if (std::optional<int64_t> dim = name == "stablehlo.reduce_window" && !isSame ? runningDimension(ops, results) : std::nullopt)
      return rewriteRunning(op, *dim);
    if (name == "stablehlo.reduce_window" && !isSame && rewritePadding(ops, results))
      return;
    if (!isSame)
      return fail("an attribute of " + name.str() + " depends on sizes");
    if (name == "stablehlo.custom_call" || name == "stablehlo.rng_bit_generator" || name == "stablehlo.rng" ||
        name == "stablehlo.fft")
      fail(name.str() + " has a size that is not known");
    // The result types of every other operation follow from its operands' types.
  }

  /// Returns the dimension of a cumulative sum, product or extremum (emit/Cumulative.cpp), whose windows reach from the first element to each
  /// element.
  static std::optional<int64_t> runningDimension(const std::vector<Operation *> &ops, const std::vector<SmallVector<int64_t>> &results) {
    std::optional<int64_t> found;
    for (auto [op, shape] : llvm::zip_equal(ops, results)) {
      auto window = op->getAttrOfType<DenseI64ArrayAttr>("window_dimensions");
      auto padding = op->getAttrOfType<DenseIntElementsAttr>("padding");
      if (op->getNumOperands() != 2 || op->getAttrDictionary().size() != 2 || !window || !padding || op->getRegion(0).front().getOperations().size() != 2)
        return std::nullopt;
      SmallVector<int64_t> expected(shape.size() * 2, 0);
      for (auto [i, size] : llvm::enumerate(window.asArrayRef())) {
        if (size == 1)
          continue;
        if (size != shape[i] || (found && *found != int64_t(i)))
          return std::nullopt;
        found = i;
        expected[2 * i] = size - 1;
      }
      if (!llvm::equal(padding.getValues<int64_t>(), expected))
        return std::nullopt;
    }
    return found;
  }

  /// Pools are recorded with the padding that their last window reaches, which depends on the size where strides leave a rest. The only padding with
  /// which windows have as many places as in all samples is that for every size. False if there is none, or more than one.
  static bool rewritePadding(const std::vector<Operation *> &ops, const std::vector<SmallVector<int64_t>> &results) {
    Operation *op = ops[0];
    auto pads = [](Operation *each) { return each->getAttrOfType<DenseIntElementsAttr>("padding"); };
    auto numbers = [&](StringRef key, size_t d) {
      auto list = op->getAttrOfType<DenseI64ArrayAttr>(key);
      return list ? list[d] : 1;
    };
    for (Operation *each : ops) {
      NamedAttrList own(each->getAttrDictionary()), first(op->getAttrDictionary());
      if (!pads(each) || each->hasAttr("base_dilations"))
        return false;
      own.erase("padding");
      first.erase("padding");
      if (own.getDictionary(op->getContext()) != first.getDictionary(op->getContext()))
        return false;
    }
    SmallVector<int64_t> chosen(pads(op).getValues<int64_t>());
    for (size_t d = 0; d < results[0].size(); ++d) {
      SmallVector<int64_t> highs;
      for (Operation *each : ops) {
        if (pads(each).getValues<int64_t>()[2 * d] != chosen[2 * d])
          return false;
        highs.push_back(pads(each).getValues<int64_t>()[2 * d + 1]);
      }
      if (llvm::all_equal(highs))
        continue;
      const int64_t span = (numbers("window_dimensions", d) - 1) * numbers("window_dilations", d) + 1, stride = numbers("window_strides", d);
      // The first sample's types are those of all sizes already.
      auto isRight = [&](int64_t high) {
        for (size_t k = 1; k < ops.size(); ++k) {
          int64_t size = cast<RankedTensorType>(ops[k]->getOperand(0).getType()).getDimSize(d) + chosen[2 * d] + high;
          if (size < span || (size - span) / stride + 1 != results[k][d])
            return false;
        }
        return true;
      };
      int64_t greatest = *llvm::max_element(highs), found = 0;
      for (int64_t high = greatest; high < greatest + stride; ++high)
        if (isRight(high)) {
          ++found;
          chosen[2 * d + 1] = high;
        }
      if (found != 1)
        return false;
    }
    op->setAttr("padding", DenseIntElementsAttr::get(cast<RankedTensorType>(pads(op).getType()), chosen));
    return true;
  }

  /// Combines every element with those 1, 2, 4, ... positions before it, in a loop whose number of iterations is the number of bits of the size.
  void rewriteRunning(Operation *op, int64_t dim) {
    Value x = op->getOperand(0), init = op->getOperand(1);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Location loc = op->getLoc();
    OperationState state(loc, "stablehlo.while");
    state.addOperands({number(1), x, init});
    state.addTypes({scalar(), x.getType(), init.getType()});
    Block *blocks[2];
    for (Block *&block : blocks) {
      block = new Block;
      block->addArguments(state.types, SmallVector<Location>(3, loc));
      state.addRegion()->push_back(block);
    }
    Operation *loop = builder.create(state);

    builder.setInsertionPointToEnd(blocks[0]);
    Value size = make("stablehlo.get_dimension_size", blocks[0]->getArgument(1), scalar(),
                      builder.getNamedAttr("dimension", builder.getI64IntegerAttr(dim)));
    Value isInside = make("stablehlo.compare", {blocks[0]->getArgument(0), size}, RankedTensorType::get({}, builder.getI1Type()),
                          builder.getNamedAttr("comparison_direction", parseAttribute("#stablehlo<comparison_direction LT>", &context)));
    makeReturn(isInside);

    builder.setInsertionPointToEnd(blocks[1]);
    Value step = blocks[1]->getArgument(0), here = blocks[1]->getArgument(1), neutral = blocks[1]->getArgument(2);
    auto vector = RankedTensorType::get({type.getRank()}, builder.getI32Type());
    auto numbers = [&](ArrayRef<int32_t> values) {
      return make("stablehlo.constant", {}, vector, builder.getNamedAttr("value", DenseElementsAttr::get(vector, values)));
    };
    SmallVector<int32_t> unit(type.getRank(), 0);
    Value none = numbers(unit);
    unit[dim] = 1;
    Value steps = make("stablehlo.broadcast_in_dim", step, vector, builder.getNamedAttr("broadcast_dimensions", builder.getDenseI64ArrayAttr({})));
    Value low = make("stablehlo.multiply", {steps, numbers(unit)}, vector);
    Value high = make("stablehlo.negate", low, vector);
    Value before = make("stablehlo.dynamic_pad", {here, neutral, low, high, none}, here.getType());
    Value combined = make(op->getRegion(0).front().front().getName().getStringRef(), {before, here}, here.getType());
    makeReturn({make("stablehlo.add", {step, step}, scalar()), combined, neutral});

    op->getResult(0).replaceAllUsesWith(loop->getResult(1));
    op->erase();
  }

  void makeReturn(ValueRange values) {
    OperationState state(UnknownLoc::get(&context), "stablehlo.return");
    state.addOperands(values);
    builder.create(state);
  }

  void rewriteConstant(const std::vector<Operation *> &ops, const std::vector<SmallVector<int64_t>> &results) {
    Operation *op = ops[0];
    std::vector<DenseElementsAttr> values;
    for (Operation *other : ops)
      values.push_back(dyn_cast<DenseElementsAttr>(other->getAttr("value")));
    Type element = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
    auto scalarType = RankedTensorType::get({}, element);
    auto allSplat = llvm::all_of(values, [](DenseElementsAttr v) { return v && v.isSplat(); });
    if (!allSplat)
      return fail("a table of constants depends on sizes");
    Value value;
    bool isEqual = llvm::all_of(values, [&](DenseElementsAttr v) {
      return v.getSplatValue<Attribute>() == values[0].getSplatValue<Attribute>();
    });
    if (isEqual) {
      value = make("stablehlo.constant", {}, scalarType,
                   builder.getNamedAttr("value", DenseElementsAttr::get(scalarType, values[0].getSplatValue<Attribute>())));
    } else {
      value = computedConstant(values, element);
      if (!value)
        return;
    }
    if (cast<RankedTensorType>(op->getResult(0).getType()).getRank())
      value = make("stablehlo.dynamic_broadcast_in_dim", {value, vectorOf(results, "a size")}, op->getResult(0).getType(),
                   builder.getNamedAttr("broadcast_dimensions", builder.getDenseI64ArrayAttr({})));
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  /// Computes a constant that is a size, or the reciprocal of a size.
  Value computedConstant(const std::vector<DenseElementsAttr> &values, Type element) {
    auto type = RankedTensorType::get({}, element);
    std::vector<int64_t> integers, inverses;
    for (DenseElementsAttr value : values) {
      if (isa<IntegerType>(element)) {
        integers.push_back(value.getSplatValue<APInt>().getSExtValue());
        continue;
      }
      if (!isa<FloatType>(element))
        return fail("a complex constant depends on sizes"), Value();
      double number = value.getSplatValue<APFloat>().convertToDouble();
      if (number == std::round(number) && std::abs(number) < 1e15)
        integers.push_back(int64_t(number));
      else if (std::abs(number) < 1)
        inverses.push_back(int64_t(std::llround(1 / number)));
    }
    bool isInverse = inverses.size() == values.size();
    if (!isInverse && integers.size() != values.size())
      return fail("a constant depends on sizes"), Value();
    std::optional<SizeExpr> expr = fit(isInverse ? inverses : integers, "a constant");
    if (!expr)
      return {};
    Value value = make("stablehlo.convert", compute(*expr), type);
    if (isInverse) {
      Value one = make("stablehlo.constant", {}, type,
                       builder.getNamedAttr("value", DenseElementsAttr::get(type, builder.getFloatAttr(element, 1.0).getValue())));
      value = make("stablehlo.divide", {one, value}, type);
    }
    return value;
  }

  const std::vector<std::vector<int64_t>> &samples;
  const std::vector<SizeSymbol> &symbols;
  MLIRContext &context;
  OpBuilder builder;
  func::FuncOp function;
  SmallVector<Value> symbolValues;
  std::map<std::vector<int64_t>, std::optional<SizeExpr>> fitted; ///< by the values in the samples
  std::string error;
};

} // namespace

runtime::StatusOr<std::string> generalize(const std::vector<std::string> &texts,
                                          const std::vector<std::vector<int64_t>> &samples,
                                          const std::vector<SizeSymbol> &symbols) {
  if (texts.size() != samples.size() || texts.size() < samplesFor(symbols.size()))
    return runtime::invalidArgument("expects " + std::to_string(samplesFor(symbols.size())) + " samples, but got " +
                                    std::to_string(texts.size()));
  DialectRegistry registry;
  registerCompilerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadDialect<func::FuncDialect>();
  context.getOrLoadDialect("stablehlo");
  context.getOrLoadDialect("chlo");
  return Generalizer(samples, symbols, context).run(texts);
}

} // namespace millrace::tracing
