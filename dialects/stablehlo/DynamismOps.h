// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DynamismOps.h - Operations whose result shape is an operand ---------===//
#pragma once

#include "dialects/stablehlo/Dialect.h"
#include "dialects/stablehlo/Speculation.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "dialects/stablehlo/DynamismOps.h.inc"
