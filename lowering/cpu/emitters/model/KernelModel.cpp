// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelModel.cpp - Queries of the kernel model -----------------------===//
#include "lowering/cpu/emitters/model/KernelModel.h"

using namespace mlir;

namespace millrace::lowering {

void LinearExpr::add(int atom, int64_t coefficient) {
  for (auto &term : terms)
    if (term.first == atom) {
      term.second += coefficient;
      return;
    }
  terms.push_back({atom, coefficient});
}

int64_t LinearExpr::coefficient(int atom) const {
  for (auto [a, c] : terms)
    if (a == atom)
      return c;
  return 0;
}

AtomSet LinearExpr::atoms() const {
  AtomSet set = 0;
  for (auto [a, c] : terms)
    if (c)
      set |= atomBit(a);
  return set;
}

AtomSet Access::atoms() const {
  AtomSet set = address.atoms();
  for (const Guard &guard : guards)
    set |= guard.index.atoms();
  return set;
}

SmallVector<int> members(AtomSet set) {
  SmallVector<int> out;
  for (int i = 0; i < kMaxAtoms; ++i)
    if (set & atomBit(i))
      out.push_back(i);
  return out;
}

AtomSet KernelModel::depends(const Operand &operand) const {
  switch (operand.kind) {
  case Operand::Intermediate:
    return nodeOf(operand).depends;
  case Operand::Buffer:
    return operand.access.atoms();
  default:
    return 0;
  }
}

int KernelModel::level(const Operand &operand) const {
  return operand.kind == Operand::Intermediate ? nodeOf(operand).level : 0;
}

int64_t KernelModel::product(AtomSet atoms) const {
  int64_t product = 1;
  for (int atom : members(atoms & allAtoms))
    product *= atomSizes[atom];
  return product;
}

void KernelModel::forEachAccess(llvm::function_ref<void(const Access &, bool)> visit) const {
  for (const Node &node : nodes) {
    for (const Operand &operand : node.inputs)
      if (operand.kind == Operand::Buffer)
        visit(operand.access, false);
    for (const Operand &operand : node.inits)
      if (operand.kind == Operand::Buffer)
        visit(operand.access, false);
    for (auto &[value, operand] : node.captured)
      if (operand.kind == Operand::Buffer)
        visit(operand.access, false);
    for (const Read &read : node.reads)
      visit(read.access, false);
  }
  for (const Output &output : outputs) {
    if (output.value.kind == Operand::Buffer)
      visit(output.value.access, false);
    visit(output.store, true);
  }
}

double KernelModel::totalOperations() const {
  double total = 0;
  for (const Node &node : nodes)
    total += node.cost * product(node.iteration);
  return total;
}

double KernelModel::totalBytes() const {
  // `gathered` counts the elements that are gathered from a large table.
  DenseMap<int, double> gathered;
  for (const Node &node : nodes)
    for (const Read &read : node.reads)
      gathered[read.access.buffer] += product(node.iteration);
  double total = 0;
  for (auto [buffer, elements, type] : llvm::enumerate(bufferElements, bufferTypes)) {
    auto it = gathered.find(buffer);
    double touched = it == gathered.end() ? double(elements) : std::min(double(elements), it->second);
    total += touched * type.getIntOrFloatBitWidth() / 8;
  }
  return total;
}

bool KernelModel::hasComputedReads() const {
  return llvm::any_of(nodes, [](const Node &node) { return !node.reads.empty(); });
}

Operation *matchCombiner(Block *body, unsigned numInputs, Value &element) {
  auto yield = body->getTerminator();
  if (yield->getNumOperands() != 1 || body->getNumArguments() != numInputs + 1)
    return nullptr;
  BlockArgument acc = body->getArgument(numInputs);
  Operation *combine = yield->getOperand(0).getDefiningOp();
  if (!combine || combine->getNumOperands() != 2 || !acc.hasOneUse() || combine->getBlock() != body)
    return nullptr;
  if (combine->getOperand(0) == acc)
    element = combine->getOperand(1);
  else if (combine->getOperand(1) == acc)
    element = combine->getOperand(0);
  else
    return nullptr;
  return combine;
}

} // namespace millrace::lowering
