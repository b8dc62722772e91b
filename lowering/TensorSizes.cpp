// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TensorSizes.cpp - Tensors larger than any memory are an error ------===//
#include "lowering/TensorSizes.h"

#include "lowering/program/ProgramTypes.h"
#include "runtime/program/Limits.h"

#include "llvm/ADT/DenseSet.h"

#include <limits>

using namespace mlir;

namespace millrace::lowering {
namespace {

/// The bytes of a tensor of static shape as far as they are at most `most`; nothing above.
std::optional<uint64_t> bytesUpTo(RankedTensorType type, uint64_t most) {
  if (llvm::is_contained(type.getShape(), 0))
    return 0;
  unsigned __int128 bytes = std::max<uint64_t>(1, runtime::byteSize(dtypeOf(type.getElementType())));
  for (int64_t size : type.getShape())
    if (bytes *= uint64_t(size); bytes > most)
      return std::nullopt;
  return uint64_t(bytes);
}

/// Each type is looked at once: programs have few.
LogicalResult checkSizes(Operation *root, uint64_t most) {
  constexpr uint64_t countable = std::numeric_limits<int64_t>::max();
  llvm::DenseSet<Type> seen;
  auto check = [&](Value value) -> LogicalResult {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape() || !seen.insert(type).second || bytesUpTo(type, most))
      return success();
    InFlightDiagnostic error = emitError(value.getLoc(), "a tensor of type ") << type << " takes ";
    if (std::optional<uint64_t> bytes = bytesUpTo(type, countable))
      return error << *bytes << " bytes, which is more than the " << most << " bytes that a value in memory can have";
    return error << "2^63 bytes or more, which is more than can be counted";
  };
  WalkResult result = root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (failed(check(argument)))
            return WalkResult::interrupt();
    for (OpResult value : op->getResults())
      if (failed(check(value)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

} // namespace

LogicalResult checkCountableSizes(ModuleOp module) { return checkSizes(module, std::numeric_limits<int64_t>::max()); }

LogicalResult checkHeldSizes(Operation *root) { return checkSizes(root, runtime::maxValueBytes); }

} // namespace millrace::lowering
