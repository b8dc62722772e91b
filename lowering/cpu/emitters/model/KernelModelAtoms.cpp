// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelModelAtoms.cpp - Number the indices, compute addresses --------===//
#include "lowering/cpu/emitters/model/KernelModelBuilder.h"

#include "dialects/millrace/Attributes.h"

using namespace mlir;

namespace millrace::lowering {

AtomSet KernelModelBuilder::toSet(ArrayRef<int> list, bool &duplicate) {
  AtomSet set = 0;
  for (int atom : atoms.resolve(list)) {
    AtomSet bit = atomBit(dense.find(atom)->second);
    duplicate |= (set & bit) != 0;
    set |= bit;
  }
  return set;
}

LogicalResult KernelModelBuilder::addDimension(ArrayRef<int> list, int64_t scale, LinearExpr &out) {
  AtomList resolved = atoms.resolve(list); // a temporary would not live as long as the loop over its reverse
  for (int atom : llvm::reverse(resolved)) {
    out.add(dense.find(atom)->second, scale);
    scale *= atoms.size(atom);
  }
  return success();
}

LogicalResult KernelModelBuilder::linear(AffineExpr expr, ArrayRef<AtomList> loops, int64_t scale, LinearExpr &out) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return addDimension(loops[dim.getPosition()], scale, out);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    out.offset += scale * constant.getValue();
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && expr.getKind() == AffineExprKind::Add)
    return success(succeeded(linear(binary.getLHS(), loops, scale, out)) &&
                   succeeded(linear(binary.getRHS(), loops, scale, out)));
  if (binary && expr.getKind() == AffineExprKind::Mul) {
    if (auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS()))
      return linear(binary.getLHS(), loops, scale * factor.getValue(), out);
  }
  return fail("an index that is not linear");
}

LogicalResult KernelModelBuilder::access(const RawOperand &raw, ArrayRef<AtomList> loops, Access &out) {
  const KernelView &view = views[raw.view];
  out.buffer = view.buffer;
  out.elementType = view.elementType;
  out.numElements = view.numElements;
  out.address.offset = view.offset;
  out.padding = view.padding;
  for (auto [dim, expr] : llvm::enumerate(raw.map.getResults()))
    if (failed(linear(expr, loops, view.strides[dim], out.address)))
      return failure();
  for (const KernelView::Pad &pad : view.pads) {
    Guard guard;
    guard.size = pad.size;
    guard.index.offset = -pad.low;
    if (failed(linear(raw.map.getResult(pad.dim), loops, 1, guard.index)))
      return failure();
    out.guards.push_back(guard);
  }
  return success();
}

bool KernelModelBuilder::hasDuplicates() const {
  for (const RawNode &raw : raws) {
    SmallVector<int> seen;
    for (const AtomList &list : raw.loops)
      for (int atom : atoms.resolve(list)) {
        if (llvm::is_contained(seen, atom))
          return true;
        seen.push_back(atom);
      }
  }
  return false;
}

/// Gives two operations that read one view of a buffer the same indices where that is consistent, so that the sweeps of a row share values. (In
/// x + transpose(x) it is not.)
void KernelModelBuilder::shareBufferIndices() {
  if (hasDuplicates())
    return;
  struct Use {
    const RawOperand *operand;
    ArrayRef<AtomList> loops;
  };
  DenseMap<int, SmallVector<Use>> uses;
  for (const RawNode &raw : raws)
    for (const RawOperand &input : raw.inputs)
      if (input.view >= 0)
        uses[input.view].push_back({&input, raw.loops});
  for (int view = 0; view < static_cast<int>(views.size()); ++view) {
    auto it = uses.find(view);
    if (it == uses.end())
      continue;
    const Use &first = it->second.front();
    for (const Use &other : ArrayRef<Use>(it->second).drop_front())
      for (auto [left, right] : llvm::zip(first.operand->map.getResults(), other.operand->map.getResults())) {
        auto x = dyn_cast<AffineDimExpr>(left), y = dyn_cast<AffineDimExpr>(right);
        if (!x || !y)
          continue;
        IndexAtoms before = atoms;
        if (failed(atoms.unify(first.loops[x.getPosition()], other.loops[y.getPosition()])) || hasDuplicates())
          atoms = before;
      }
  }
}

LogicalResult KernelModelBuilder::finish() {
  shareBufferIndices();
  // The remaining atoms are numbered.
  auto number = [&](ArrayRef<int> list) {
    for (int atom : atoms.resolve(list))
      if (dense.try_emplace(atom, model.atomSizes.size()).second)
        model.atomSizes.push_back(atoms.size(atom));
  };
  for (const RawOutput &out : rawOutputs)
    for (const AtomList &list : out.dims)
      number(list);
  for (const RawNode &raw : raws) {
    for (const AtomList &list : raw.loops)
      number(list);
    number(raw.kept);
  }
  if (model.atomSizes.size() > kMaxAtoms)
    return fail("too many loop indices");

  for (auto [node, raw] : llvm::zip(model.nodes, raws)) {
    AtomList all;
    for (const AtomList &list : raw.loops)
      all.append(list);
    bool duplicate = false;
    node.iteration = toSet(all, duplicate);
    node.kept = toSet(raw.kept, duplicate);
    if (duplicate)
      return fail("a value read at two index orders");
    for (RawOperand &input : raw.inputs) {
      if (input.view >= 0 && failed(access(input, raw.loops, input.operand.access)))
        return failure();
      node.inputs.push_back(input.operand);
    }
    for (RawOperand &init : raw.inits) {
      if (init.view >= 0 && failed(access(init, raw.loops, init.operand.access)))
        return failure();
      node.inits.push_back(init.operand);
    }
    for (auto &[value, operand] : raw.captured) {
      if (operand.view >= 0 && failed(access(operand, raw.loops, operand.operand.access)))
        return failure();
      node.captured.push_back({value, operand.operand});
    }
    for (RawRead &read : raw.reads) {
      for (auto [loop, stride] : read.terms)
        if (failed(addDimension(raw.loops[loop], stride, read.read.access.address)))
          return failure();
      node.reads.push_back(read.read);
    }
    if (node.usesIndex)
      for (const AtomList &list : raw.loops) {
        node.loops.emplace_back();
        if (failed(addDimension(list, 1, node.loops.back())))
          return failure();
      }
    for (Value result : node.op->getResults())
      model.maxElementBits =
          std::max<int>(model.maxElementBits, getElementTypeOrSelf(result.getType()).getIntOrFloatBitWidth());
  }
  for (RawOutput &raw : rawOutputs) {
    Output out;
    if (raw.value.view >= 0 && failed(access(raw.value, raw.dims, raw.value.operand.access)))
      return failure();
    out.value = raw.value.operand;
    out.store.buffer = raw.buffer;
    out.store.elementType = raw.type.getElementType();
    out.store.numElements = raw.type.getNumElements();
    SmallVector<int64_t> strides = rowMajor(raw.type.getShape());
    for (auto [list, stride, offset, step] : llvm::zip(raw.dims, strides, raw.offsets, raw.steps)) {
      out.store.address.offset += offset * stride;
      if (failed(addDimension(list, stride * step, out.store.address)))
        return failure();
    }
    if (out.value.kind == Operand::None)
      return fail("a result without a value");
    model.outputs.push_back(out);
  }
  // Buffers of indices do not make the lanes shorter: they are mostly read one by one.
  DenseMap<int, int> uses, asIndex;
  model.forEachAccess([&](const Access &access, bool) { ++uses[access.buffer]; });
  for (const Node &node : model.nodes) {
    for (int buffer : node.indexBuffers)
      ++asIndex[buffer];
    for (const Read &read : node.reads)
      asIndex[read.access.buffer] += read.isIndex;
  }
  for (auto [buffer, type] : llvm::enumerate(model.bufferTypes))
    if (uses.lookup(buffer) != asIndex.lookup(buffer))
      model.maxElementBits = std::max<int>(model.maxElementBits, type.getIntOrFloatBitWidth());

  coarsen();
  findRows();

  model.allAtoms = model.atomSizes.empty() ? 0 : (AtomSet(1) << model.atomSizes.size()) - 1;
  for (Node &node : model.nodes) {
    for (const Operand &input : node.inputs)
      node.level = std::max(node.level, model.level(input));
    for (const Operand &init : node.inits)
      node.level = std::max(node.level, model.level(init));
    for (const auto &[value, operand] : node.captured)
      node.level = std::max(node.level, model.level(operand));
    node.level += node.reduction;
    node.depends = node.kept | (node.level ? kInsideTask : 0);
  }
  return success();
}

/// The index that counts up along the rows of all results, whose strides the function's attribute has: what it is at row r, no other row of a
/// result depends on.
void KernelModelBuilder::findRows() {
  auto rows = fn->getAttrOfType<DenseI64ArrayAttr>(kRowsAttr);
  if (!rows || rows.size() != static_cast<int64_t>(1 + fn.getNumResults()))
    return;
  int64_t bound = rows[0];
  auto strideOf = [&](const Output &output) { return rows[1 + output.store.buffer - static_cast<int64_t>(fn.getNumArguments())]; };
  auto isAlongRows = [&](int atom) {
    int64_t size = model.atomSizes[atom];
    return size % bound == 0 && llvm::all_of(model.outputs, [&](const Output &output) {
             const LinearExpr &address = output.store.address;
             int64_t stride = strideOf(output), own = address.coefficient(atom);
             if (own * (size / bound) != stride)
               return false;
             // The other indices stay within a row, or go over whole sets of rows.
             int64_t least = address.offset % (stride * bound), most = least + own * (size / bound - 1);
             for (auto [other, coefficient] : address.terms)
               if (other != atom && coefficient % (stride * bound) != 0)
                 (coefficient < 0 ? least : most) += coefficient * (model.atomSizes[other] - 1);
             return least >= 0 && most < stride;
           });
  };
  for (int atom = 0; atom < static_cast<int>(model.atomSizes.size()); ++atom)
    if (isAlongRows(atom)) {
      model.rowAtom = atom;
      model.rowIndices = model.atomSizes[atom] / bound;
      // The plan is made for so many; addresses are those of the larger buffers.
      if (auto few = fn->getAttrOfType<IntegerAttr>(kFewRowsAttr))
        model.atomSizes[atom] = std::min(bound, few.getInt()) * model.rowIndices;
      return;
    }
}

/// A padded dimension is merged with inner ones of no more indices, which are no vector; more are read vector by vector, each behind one comparison.
/// Unit: indices. Source: judgement, not measured alone; commit 9a33cd8 has the figures of the whole change.
static constexpr int64_t kMaxIndicesInPadding = 16;

/// Counts the guard's index in units of which `by` are one index so far; atom `inner` counts them.
static void scaleGuard(Guard &guard, int64_t by, int inner) {
  for (auto &[atom, coefficient] : guard.index.terms)
    coefficient *= by;
  guard.index.offset *= by;
  guard.size *= by;
  guard.index.add(inner, 1);
}

/// Merges an atom with the next inner one where no address and no value distinguishes them.
void KernelModelBuilder::coarsen() {
  SmallVector<LinearExpr *> exprs;
  SmallVector<Guard *> guards;
  SmallVector<AtomSet *> sets;
  auto addAccess = [&](Access &access) {
    exprs.push_back(&access.address);
    for (Guard &guard : access.guards)
      guards.push_back(&guard);
  };
  for (Node &node : model.nodes) {
    sets.push_back(&node.iteration);
    sets.push_back(&node.kept);
    for (Operand &operand : node.inputs)
      addAccess(operand.access);
    for (Operand &operand : node.inits)
      addAccess(operand.access);
    for (auto &[value, operand] : node.captured)
      addAccess(operand.access);
    for (Read &read : node.reads)
      addAccess(read.access);
    for (LinearExpr &loop : node.loops)
      exprs.push_back(&loop);
  }
  for (Output &out : model.outputs) {
    addAccess(out.value.access);
    addAccess(out.store);
  }

  int count = model.atomSizes.size();
  SmallVector<bool> dead(count, false);
  bool hasReduction = llvm::any_of(model.nodes, [](const Node &node) { return node.reduction; });
  // 0 <= x < n is 0 <= x * size + inner < n * size: the channels of a pixel exist if the pixel does.
  auto canScale = [&](const Guard &guard, int outer, int inner) {
    return !hasReduction && model.atomSizes[inner] <= kMaxIndicesInPadding && guard.index.coefficient(outer) == 1 && guard.index.coefficient(inner) == 0;
  };
  auto isJoined = [&](const LinearExpr &expr, int outer, int inner) {
    return expr.coefficient(outer) == expr.coefficient(inner) * model.atomSizes[inner];
  };
  auto joinable = [&](int outer, int inner) {
    for (LinearExpr *expr : exprs)
      if (!isJoined(*expr, outer, inner))
        return false;
    for (Guard *guard : guards)
      if (!isJoined(guard->index, outer, inner) && !canScale(*guard, outer, inner))
        return false;
    for (AtomSet *set : sets)
      if (!(*set & atomBit(outer)) != !(*set & atomBit(inner)))
        return false;
    return true;
  };
  bool changed = true;
  while (changed) {
    changed = false;
    for (int outer = 0; outer < count; ++outer)
      for (int inner = 0; inner < count; ++inner) {
        if (outer == inner || dead[outer] || dead[inner] || !joinable(outer, inner))
          continue;
        for (Guard *guard : guards)
          if (!isJoined(guard->index, outer, inner))
            scaleGuard(*guard, model.atomSizes[inner], inner);
        auto forget = [&](LinearExpr &expr) { llvm::erase_if(expr.terms, [&](auto &term) { return term.first == outer; }); };
        for (LinearExpr *expr : exprs)
          forget(*expr);
        for (Guard *guard : guards)
          forget(guard->index);
        for (AtomSet *set : sets)
          *set &= ~atomBit(outer);
        model.atomSizes[inner] *= model.atomSizes[outer];
        dead[outer] = true;
        changed = true;
      }
  }
  for (Guard *guard : guards)
    exprs.push_back(&guard->index);
  // The remaining atoms are renumbered without gaps.
  SmallVector<int> renumbered(count, -1);
  SmallVector<int64_t> sizes;
  for (int atom = 0; atom < count; ++atom)
    if (!dead[atom]) {
      renumbered[atom] = sizes.size();
      sizes.push_back(model.atomSizes[atom]);
    }
  for (LinearExpr *expr : exprs)
    for (auto &term : expr->terms)
      term.first = renumbered[term.first];
  for (AtomSet *set : sets) {
    AtomSet next = 0;
    for (int atom : members(*set))
      next |= atomBit(renumbered[atom]);
    *set = next;
  }
  model.atomSizes = sizes;
}

} // namespace millrace::lowering
