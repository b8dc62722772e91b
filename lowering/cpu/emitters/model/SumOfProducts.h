// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SumOfProducts.h - A reduction as a sum of products of two operands -===//
#pragma once

#include "lowering/cpu/emitters/model/PointEvaluator.h"

#include <string>

namespace millrace::lowering {

/// One factor of the products.
struct Factor {
  const Operand *operand = nullptr;
  unsigned bodyArgument = 0;
  mlir::Value element;   ///< factor in the body: the argument or a conversion of it
  bool converts = false; ///< element is not the argument itself
};

struct SumOfProducts {
  const Node *node = nullptr;
  mlir::Operation *combine = nullptr, *multiply = nullptr;
  Factor a, b;
  mlir::Type accType; ///< of the sums while they grow: f32 for narrower floats
};

/// Reads `node` as result = init + sum of a * b over distinct operands a, b; on failure `why` tells what else it is.
mlir::LogicalResult matchSumOfProducts(const Node &node, SumOfProducts &out, std::string &why);

/// The factor where `at` stands, as a number of the accumulator's type (scalar or vector).
mlir::Value factorAt(PointEvaluator &at, const SumOfProducts &sum, const Factor &factor);

/// init + `sum` in the type of the result.
mlir::Value finishSum(PointEvaluator &at, const SumOfProducts &products, mlir::Value sum);

/// sum + x * y, rounded once where the processor can.
mlir::Value accumulateProduct(PointEvaluator &at, mlir::Value x, mlir::Value y, mlir::Value sum, bool fma);

} // namespace millrace::lowering
