// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OrderSteps.h - Steps in the order that needs the least memory -------===//
#pragma once

#include "dialects/millrace/Attributes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace millrace::lowering {

/// The entries of a program's metadata that hold these numbers of the entry function.
inline constexpr char kGivenLiveBytesKey[] = "live bytes as written", kLeastLiveBytesKey[] = "live bytes at least";

/// Puts the operations of every block into the order that StepOrder.h finds.
std::unique_ptr<mlir::Pass> createOrderStepsPass();
void registerOrderStepsPass();

} // namespace millrace::lowering
