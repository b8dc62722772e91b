// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IndexingOps.h - StableHLO op family -----------------------------===//
#pragma once
#include "dialects/stablehlo/Dialect.h"
#include "dialects/stablehlo/Speculation.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#define GET_OP_CLASSES
#include "dialects/stablehlo/IndexingOps.h.inc"
