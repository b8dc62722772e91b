// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelModelViews.cpp - Add slices, pads and reshapes of buffers -----===//
#include "lowering/cpu/emitters/model/KernelModelBuilder.h"

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace millrace::lowering {

/// Recognizes a slice of a buffer that is inserted into a splat tensor as the padded buffer.
LogicalResult KernelModelBuilder::insertIntoFill(tensor::InsertSliceOp insert, bool &done) {
  auto source = viewOf.find(insert.getSource());
  auto fill = scalarOf.find(insert.getDest());
  if (source == viewOf.end() || fill == scalarOf.end())
    return success();
  KernelView view = views[source->second];
  if (!view.pads.empty() || !insert.hasUnitStride() ||
      insert.getSourceType().getRank() != insert.getResultType().getRank() ||
      llvm::any_of(insert.getStaticOffsets(), ShapedType::isDynamic))
    return success();
  view.padding = fill->second;
  for (auto [d, size] : llvm::enumerate(insert.getResultType().getShape())) {
    int64_t low = insert.getStaticOffset(d);
    if (size == view.sizes[d])
      continue;
    view.pads.push_back({static_cast<int>(d), low, view.sizes[d]});
    view.offset -= low * view.strides[d];
    view.sizes[d] = size;
  }
  viewOf[insert.getResult()] = views.size();
  views.push_back(view);
  done = true;
  return success();
}

/// Adds slices, pads and reshapes of a buffer as the buffer at other addresses.
LogicalResult KernelModelBuilder::addView(Operation &op, bool &done) {
  if (op.getNumOperands() == 0 || op.getNumResults() != 1)
    return success();
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    if (failed(insertIntoFill(insert, done)))
      return failure();
    // Otherwise it is a piece of an output (addOutput); as an operand it is refused.
    done = true;
    return success();
  }
  Value source = op.getOperand(0), result = op.getResult(0);
  if (auto it = scalarOf.find(source); it != scalarOf.end() &&
                                       isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
                                           tensor::ExtractSliceOp>(op)) {
    TypedAttr scalar = it->second;
    scalarOf[result] = scalar;
    done = true;
    return success();
  }
  auto it = viewOf.find(source);
  if (it == viewOf.end())
    return success();
  KernelView view = views[it->second];
  if (isa<tensor::CastOp>(op)) {
    // The view stays the same.
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    SmallVector<int64_t> strides;
    auto sizes = expand.getResultType().getShape();
    auto groups = expand.getReassociationIndices(); // by value: a loop over one of its elements would outlive the temporary
    for (KernelView::Pad &pad : view.pads) {
      // A padded dimension cannot be split; unit dimensions may be added next to it.
      int padded = -1;
      for (int64_t d : groups[pad.dim])
        if (sizes[d] == view.sizes[pad.dim])
          padded = d;
      if (padded < 0)
        return success();
      pad.dim = padded;
    }
    for (auto [dim, group] : llvm::enumerate(groups)) {
      int64_t stride = view.strides[dim];
      SmallVector<int64_t> reversed;
      for (int64_t d : llvm::reverse(group)) {
        reversed.push_back(stride);
        stride *= sizes[d];
      }
      strides.append(reversed.rbegin(), reversed.rend());
    }
    // A rank-0 source has no groups: every result dimension is a unit dimension.
    strides.resize(sizes.size(), 1);
    view.sizes.assign(sizes.begin(), sizes.end());
    view.strides = strides;
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    SmallVector<int64_t> sizes, strides;
    if (!view.pads.empty() && collapse.getReassociationIndices().empty())
      return success(); // no dimension is left that may be padded
    for (auto [dim, group] : llvm::enumerate(collapse.getReassociationIndices()))
      for (KernelView::Pad &pad : view.pads) {
        if (!llvm::is_contained(group, pad.dim))
          continue;
        for (int64_t d : group)
          if (d != pad.dim && view.sizes[d] != 1)
            return success();
      }
    for (KernelView::Pad &pad : view.pads)
      for (auto [dim, group] : llvm::enumerate(collapse.getReassociationIndices()))
        if (llvm::is_contained(group, pad.dim)) {
          pad.dim = dim;
          break;
        }
    for (auto group : collapse.getReassociationIndices()) {
      int64_t size = 1, stride = 1;
      bool first = true;
      for (int64_t d : llvm::reverse(group)) {
        if (view.sizes[d] == 1)
          continue;
        if (first)
          stride = view.strides[d];
        else if (view.strides[d] != stride * size)
          return success(); // no single stride, so the reshape is an operation of its own
        first = false;
        size *= view.sizes[d];
      }
      sizes.push_back(size);
      strides.push_back(stride);
    }
    view.sizes = sizes;
    view.strides = strides;
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (!slice.hasUnitStride() && llvm::any_of(slice.getStaticStrides(), ShapedType::isDynamic))
      return fail("slice at run-time strides");
    if (llvm::any_of(slice.getStaticOffsets(), ShapedType::isDynamic) ||
        llvm::any_of(slice.getStaticSizes(), ShapedType::isDynamic) || !view.pads.empty())
      return fail("slice at run-time offsets or of padding");
    auto dropped = slice.getDroppedDims();
    SmallVector<int64_t> sizes, strides;
    for (int64_t d = 0; d < static_cast<int64_t>(view.sizes.size()); ++d) {
      view.offset += slice.getStaticOffset(d) * view.strides[d];
      if (dropped.test(d))
        continue;
      sizes.push_back(slice.getStaticSize(d));
      strides.push_back(view.strides[d] * slice.getStaticStride(d));
    }
    view.sizes = sizes;
    view.strides = strides;
  } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value padding = pad.getConstantPaddingValue();
    Attribute attr;
    if (!padding || !matchPattern(padding, m_Constant(&attr)) || !view.pads.empty())
      return fail("padding that is not one constant");
    view.padding = cast<TypedAttr>(attr);
    auto low = pad.getStaticLow(), high = pad.getStaticHigh();
    for (int64_t d = 0; d < static_cast<int64_t>(view.sizes.size()); ++d) {
      if (ShapedType::isDynamic(low[d]) || ShapedType::isDynamic(high[d]))
        return fail("padding of run-time size");
      if (!low[d] && !high[d])
        continue;
      view.pads.push_back({static_cast<int>(d), low[d], view.sizes[d]});
      view.offset -= low[d] * view.strides[d];
      view.sizes[d] += low[d] + high[d];
    }
  } else {
    return success();
  }
  viewOf[result] = views.size();
  views.push_back(view);
  done = true;
  return success();
}

LogicalResult KernelModelBuilder::addReshape(Operation *op, Value source, Value result, ArrayRef<ReassociationIndices> groups,
                                  bool expand) {
  RawNode raw;
  RawOperand input;
  auto sourceType = cast<RankedTensorType>(source.getType()), resultType = cast<RankedTensorType>(result.getType());
  SmallVector<AtomList> sourceDims, resultDims;
  for (int64_t size : sourceType.getShape())
    sourceDims.push_back(atoms.dimension(size));
  if (failed(operandFor(source, AffineMap::getMultiDimIdentityMap(sourceDims.size(), fn.getContext()), sourceDims,
                        input)))
    return failure();
  for (int64_t size : resultType.getShape())
    resultDims.push_back(atoms.dimension(size));
  auto &wide = expand ? resultDims : sourceDims;
  auto &narrow = expand ? sourceDims : resultDims;
  for (auto [dim, group] : llvm::enumerate(groups)) {
    AtomList joined;
    for (int64_t d : group)
      joined.append(wide[d]);
    if (failed(atoms.unify(narrow[dim], joined)))
      return fail("reshape without a common refinement of its dimensions");
  }
  raw.loops = sourceDims;
  raw.inputs.push_back(input);
  for (const AtomList &list : resultDims)
    raw.kept.append(list);
  Node node;
  node.op = op;
  model.producer[result] = {static_cast<int>(model.nodes.size()), 0};
  model.nodes.push_back(node);
  raws.push_back(raw);
  dimsOf[result] = resultDims;
  return success();
}

} // namespace millrace::lowering
