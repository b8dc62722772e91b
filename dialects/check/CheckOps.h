// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CheckOps.h - Assertions in test programs ----------------------------===//
#pragma once

#include "dialects/stablehlo/Dialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/check/CheckDialect.h.inc"
#define GET_OP_CLASSES
#include "dialects/check/CheckOps.h.inc"
