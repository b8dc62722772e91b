// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Sizes.cpp - Programs whose bytes can be counted ---------------------===//
#include "passes/autosharding/Sizes.h"
#include "passes/autosharding/Work.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace millrace::autosharding {

LogicalResult checkSizes(ModuleOp module, StringRef what) {
  // The most bytes of all values of a program. Unit: bytes. Source: arithmetic: an all_reduce moves twice its operand, which 64 bits have to hold.
  constexpr uint64_t kMostBytes = uint64_t(1) << 62;
  uint64_t sum = 0, largest = 0;
  Type largestType;
  Operation *where = module;
  auto add = [&](Type type, Operation *op) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return;
    uint64_t bytes = llvm::is_contained(tensor.getShape(), 0) ? 0 : uint64_t(elementBytes(tensor));
    for (int64_t size : tensor.getShape())
      bytes = llvm::SaturatingMultiply(bytes, uint64_t(size));
    sum = llvm::SaturatingAdd(sum, bytes);
    if (bytes > largest) {
      largest = bytes;
      largestType = type;
      where = op;
    }
  };
  module.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      add(type, op);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          add(argument.getType(), op);
  });
  if (sum <= kMostBytes)
    return success();
  return emitError(where->getLoc(), "UNIMPLEMENTED: ") << what << " of a program whose values have more than 2^62 bytes together; the largest is " << largestType;
}

} // namespace millrace::autosharding
