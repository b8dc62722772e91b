// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SumOfProducts.h - Recognize contractions among reductions ----------===//
#pragma once

#include "lowering/cpu/emitters/model/PointEvaluator.h"

#include <string>

namespace millrace::lowering {

/// One operand of the products.
struct Factor {
  const Operand *operand = nullptr;
  unsigned bodyArgument = 0;
  mlir::Value element;   ///< the operand's element in the body: the argument or a conversion of it
  bool converts = false; ///< element is not the argument itself
};

struct SumOfProducts {
  const Node *node = nullptr;
  mlir::Operation *combine = nullptr, *multiply = nullptr;
  Factor a, b;
  mlir::Type accType; ///< of the accumulators: f32 for narrower floats
};

/// Matches `node` as result = init + sum of a * b over distinct operands a, b; on failure `why` is set to the reason.
mlir::LogicalResult matchSumOfProducts(const Node &node, SumOfProducts &out, std::string &why);

/// Returns the operand's element at the point `at`, converted to the accumulator's type (scalar or vector).
mlir::Value factorAt(PointEvaluator &at, const SumOfProducts &sum, const Factor &factor);

/// Returns init + `sum` in the type of the result.
mlir::Value finishSum(PointEvaluator &at, const SumOfProducts &products, mlir::Value sum);

/// Returns sum + x * y, rounded once if the processor can.
mlir::Value accumulateProduct(PointEvaluator &at, mlir::Value x, mlir::Value y, mlir::Value sum, bool fma);

} // namespace millrace::lowering
