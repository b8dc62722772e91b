// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Ops.h - Operations of the sdy dialect ------------------------------===//
#pragma once
#include "dialects/sdy/Dialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "dialects/sdy/ShardingOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/sdy/CollectiveOps.h.inc"
