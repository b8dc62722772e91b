// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FourierCalls.cpp - Replace Fourier transforms by runtime calls ------===//
// Input:   stablehlo.fft %y, type = RFFT, length = [400]; transpose(fft(transpose(%z))), which is a transform along other axes than the last ones
//          (jnp.fft.fft(z, axis=0))
// Output:  stablehlo.custom_call @millrace_fft(%y) {type = "RFFT", length = [400]}; the same on %z with {axes = [0]} and no transposes: the
//          runtime reads neighbouring lines together
// Leaves alone dynamic shapes, lengths of 0; transposes around real transforms.
//===----------------------------------------------------------------------===//
#include "passes/Remarks.h"
#include "passes/calls/RuntimeCall.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::calls {
namespace {

/// Returns the axes of the transposed operand that are transformed, if all users of the transform transpose it back; otherwise none.
SmallVector<int64_t> axesBetweenTransposes(FftOp op) {
  auto from = op.getOperand().getDefiningOp<TransposeOp>();
  if (!from || (op.getFftType() != FftType::FFT && op.getFftType() != FftType::IFFT))
    return {};
  ArrayRef<int64_t> there = from.getPermutation();
  for (Operation *user : op->getUsers()) {
    auto back = dyn_cast<TransposeOp>(user);
    if (!back)
      return {};
    for (auto [dim, source] : llvm::enumerate(back.getPermutation()))
      if (there[source] != int64_t(dim))
        return {};
  }
  return SmallVector<int64_t>(there.take_back(op.getFftLength().size()));
}

} // namespace

void callFft(FftOp op) {
  if (!hasStaticShapes(op))
    return remarkMissed(op, "xla-call-runtime", "sizes are not known");
  if (llvm::is_contained(op.getFftLength(), 0))
    return remarkMissed(op, "xla-call-runtime", "a length is 0");
  OpBuilder b(op);
  Type element = getElementTypeOrSelf(op.getOperand().getType());
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  SmallVector<NamedAttribute> config = {b.getNamedAttr("type", b.getStringAttr(stringifyFftType(op.getFftType()))),
                                        b.getNamedAttr("wide", b.getBoolAttr(element.isF64())),
                                        b.getNamedAttr("length", b.getDenseI64ArrayAttr(op.getFftLength()))};
  SmallVector<int64_t> axes = axesBetweenTransposes(op);
  if (axes.empty()) {
    op->replaceAllUsesWith(callRuntime(b, op.getLoc(), "millrace_fft", op->getResultTypes(), op.getOperand(), config));
    op.erase();
    return;
  }
  config.push_back(b.getNamedAttr("axes", b.getDenseI64ArrayAttr(axes)));
  auto from = op.getOperand().getDefiningOp<TransposeOp>();
  Value whole = from.getOperand();
  auto call = callRuntime(b, op.getLoc(), "millrace_fft", whole.getType(), whole, config);
  for (Operation *back : llvm::make_early_inc_range(op->getUsers())) {
    back->replaceAllUsesWith(call);
    back->erase();
  }
  op.erase();
  if (from->use_empty())
    from.erase();
}

} // namespace millrace::calls
