// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InterpreterOps.h - Operations that only the evaluator supports -----===//
#pragma once

#include "dialects/stablehlo/Dialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/interpreter/InterpreterDialect.h.inc"
#define GET_OP_CLASSES
#include "dialects/interpreter/InterpreterOps.h.inc"
