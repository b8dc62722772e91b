// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlFlowOps.h - while, case, if, return, barrier, composite, custom_call, tuples -===//
#pragma once
#include "mlir/IR/SymbolTable.h"
#include "dialects/stablehlo/Dialect.h"
#include "dialects/stablehlo/Speculation.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "dialects/stablehlo/ControlFlowOps.h.inc"
