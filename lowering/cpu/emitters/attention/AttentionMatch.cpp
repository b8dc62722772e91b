// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AttentionMatch.cpp - Recognize attention in a kernel ----------------===//
#include "lowering/cpu/emitters/attention/AttentionEmitter.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace millrace::lowering::attention {

AttentionEmitter::Reach AttentionEmitter::reachOf(const Operand &operand) const {
  return operand.kind == Operand::Intermediate ? reachOf(model.nodeOf(operand)) : Reach();
}

const Source *AttentionEmitter::sourceOf(Value tensor) const {
  auto found = llvm::find_if(sources, [&](const Source &source) { return source.sum.node->op->getResult(0) == tensor; });
  return found == sources.end() ? nullptr : found;
}

/// Finds sources and products, and the dependences between them.
LogicalResult AttentionEmitter::match() {
  std::string ignored;
  reach.resize(model.nodes.size());
  for (auto [index, node] : llvm::enumerate(model.nodes)) {
    Reach &here = reach[index];
    auto join = [&](const Operand &operand) {
      here.sources |= reachOf(operand).sources;
      here.products |= reachOf(operand).products;
    };
    for (const Operand &input : node.inputs)
      join(input);
    for (const auto &[value, operand] : node.captured)
      join(operand);
    if (node.reduction && here.products)
      return fail("a reduction of a product's result");
    SumOfProducts found;
    if (!node.reduction || failed(matchSumOfProducts(node, found, ignored)))
      continue;
    if (sources.size() + products.size() > 16)
      break; // refused below
    if (!here.sources) {
      here.sources = 1u << sources.size();
      sources.emplace_back();
      sources.back().sum = found;
      continue;
    }
    bool inA = dependsOnScores(*found.a.operand);
    if (inA && dependsOnScores(*found.b.operand))
      return fail("both factors of a product depend on the scores");
    here.products = 1u << products.size();
    Product &product = products.emplace_back();
    product.sum = found;
    product.weights = inA ? found.a : found.b;
    product.values = inA ? found.b : found.a;
  }
  if (sources.size() > 2 || products.size() > 4)
    return fail("more sums of products than attention has");
  if (sources.size() + products.size() < 2)
    return fail("no two sums of products");
  if (products.empty())
    return fail("one sum of products is not a factor of the other");
  type = sources[0].sum.accType;
  auto isOther = [&](const auto &one) { return one.sum.accType != type; };
  if (!isa<FloatType>(type) || llvm::any_of(sources, isOther) || llvm::any_of(products, isOther))
    return fail("sums of different types or of integers");
  return success();
}

/// Returns the indices on which the elements depend: for repeated heads, without those along which they are repeated.
AtomSet AttentionEmitter::reads(const Operand &operand) const {
  if (operand.kind == Operand::Buffer)
    return operand.access.atoms();
  if (operand.kind != Operand::Intermediate)
    return 0;
  const Node &node = model.nodeOf(operand);
  if (node.reduction || node.usesIndex)
    return node.kept;
  AtomSet atoms = 0;
  for (const Operand &input : node.inputs)
    atoms |= reads(input);
  for (const auto &[value, captured] : node.captured)
    atoms |= reads(captured);
  return atoms;
}

static int single(AtomSet atoms) { return atoms && !(atoms & (atoms - 1)) ? members(atoms).front() : -1; }

/// Finds the index of the keys: the one along which rows are reduced; without reductions the one that the fewest products contract.
LogicalResult AttentionEmitter::findKeys() {
  AtomSet reduced = 0;
  for (const Node &node : model.nodes) {
    if (!node.reduction || sourceOf(node.op->getResult(0)) || llvm::any_of(products, [&](const Product &p) { return p.sum.node == &node; }))
      continue;
    Value element;
    Operation *combine = matchCombiner(node.body, node.inputs.size(), element);
    if (!combine || !identityOf(combine, combine->getResult(0).getType()))
      return fail("a reduction whose neutral element is not known");
    if (reduced && node.reduced() != reduced)
      return fail("reductions along different indices");
    reduced = node.reduced();
    lastLevel = std::max(lastLevel, node.level);
  }
  if (!reduced) {
    size_t fewest = SIZE_MAX;
    for (const Product &product : products) {
      size_t count = llvm::count_if(products, [&](const Product &other) { return other.sum.node->reduced() == product.sum.node->reduced(); });
      if (count < fewest)
        reduced = product.sum.node->reduced();
      fewest = std::min(fewest, count);
    }
  }
  n = single(reduced);
  return n >= 0 ? success() : fail("more than one index to sum over");
}

/// Finds the indices of rows, keys and the batch.
LogicalResult AttentionEmitter::classifySources() {
  AtomSet kept = sources[0].sum.node->kept, inKeys = 0, summed = 0;
  for (Source &source : sources) {
    source.k = single(source.sum.node->reduced());
    if (source.k < 0 || source.sum.node->kept != kept || !(kept & atomBit(n)) || (kept & atomBit(source.k)))
      return fail("scores with other indices");
    AtomSet inA = reads(*source.sum.a.operand), inB = reads(*source.sum.b.operand);
    if (!(inA & atomBit(n)) == !(inB & atomBit(n)))
      return fail("both factors of the scores or none depend on the index of the keys");
    source.keys = inA & atomBit(n) ? source.sum.a : source.sum.b;
    source.query = inA & atomBit(n) ? source.sum.b : source.sum.a;
    inKeys |= reads(*source.keys.operand) & ~atomBit(source.k);
  }
  for (const Product &product : products) {
    AtomSet reduced = product.sum.node->reduced();
    if (reduced == atomBit(n)) {
      inKeys |= reads(*product.values.operand);
      continue;
    }
    if ((reduced & ~kept) || (reduced & atomBit(n)) || (summed && reduced != summed))
      return fail("sums over different rows");
    summed = reduced;
  }
  // Heads that share keys are rows, too, unless sums over rows need them apart.
  rowAtoms = summed ? summed : kept & ~atomBit(n) & ~inKeys;
  batch = kept & ~atomBit(n) & ~rowAtoms;
  if (!rowAtoms)
    return fail("no rows");
  for (const Source &source : sources) {
    AtomSet keys = reads(*source.keys.operand), query = reads(*source.query.operand);
    if ((keys & ~(batch | atomBit(n) | atomBit(source.k))) || !(keys & atomBit(source.k)) || (query & ~(batch | rowAtoms | atomBit(source.k))))
      return fail("factors with other indices than the scores");
  }
  return success();
}

LogicalResult AttentionEmitter::classifyProducts() {
  AtomSet kept = sources[0].sum.node->kept;
  for (Product &product : products) {
    product.isSumOfRows = product.sum.node->reduced() != atomBit(n);
    AtomSet summed = product.isSumOfRows ? rowAtoms : atomBit(n), own = kept & ~summed & ~batch, values = reads(*product.values.operand);
    product.d = single(values & ~batch & ~summed);
    if (product.d < 0 || !(values & summed) || (atomBit(product.d) & kept))
      return fail("values without an index of their own");
    if (product.sum.node->kept != (batch | own | atomBit(product.d)))
      return fail("a result with other indices");
  }
  return success();
}

LogicalResult AttentionEmitter::classifyOutputs() {
  for (const Output &output : model.outputs) {
    AtomSet atoms = output.store.address.atoms();
    Reach from = reachOf(output.value);
    if (from.products) {
      Product &product = products[llvm::countr_zero(from.products)];
      if (!llvm::isPowerOf2_32(from.products) || atoms != product.sum.node->kept)
        return fail("an output of two products");
      product.outputs.push_back(&output);
    } else if (from.sources && atoms == (batch | rowAtoms) && model.level(output.value) <= lastLevel) {
      rowOutputs.push_back(&output);
    } else {
      return fail("an output with other indices");
    }
  }
  return success();
}

LogicalResult AttentionEmitter::classify() {
  if (failed(findKeys()) || failed(classifySources()) || failed(classifyProducts()) || failed(classifyOutputs()))
    return failure();
  batchOrder = outermostFirst(model, batch);
  rowOrder = outermostFirst(model, rowAtoms);
  return success();
}

LogicalResult AttentionEmitter::can() {
  if (failed(match()) || failed(classify()))
    return refuse(kernel, "attention", why);
  return success();
}

/// Returns the values on which all computation after the reductions of `level` depends: they may replace the values that are held.
SmallVector<Value> AttentionEmitter::liveAfter(int level) const {
  llvm::SmallSetVector<Value, 4> live;
  llvm::DenseSet<Value> seen;
  std::function<void(const Operand &)> use = [&](const Operand &operand) {
    if (!dependsOnScores(operand) || !(model.depends(operand) & atomBit(n)) || model.level(operand) >= level || !seen.insert(operand.value).second)
      return;
    const Node &node = model.nodeOf(operand);
    // Slots hold values of the sums' type; values of other types are recomputed from their operands.
    if (getElementTypeOrSelf(operand.value.getType()) == type || node.reduction) {
      live.insert(operand.value);
      return;
    }
    for (const Operand &input : node.inputs)
      use(input);
    for (const auto &[value, captured] : node.captured)
      use(captured);
  };
  for (const Node &node : model.nodes) {
    if (sourceOf(node.op->getResult(0)) || reachOf(node).products || node.level < level || (node.reduction && node.level == level))
      continue;
    for (const Operand &input : node.inputs)
      use(input);
    for (const auto &[value, operand] : node.captured)
      use(operand);
  }
  for (const Product &product : products)
    use(*product.weights.operand);
  return live.takeVector();
}

} // namespace millrace::lowering::attention
