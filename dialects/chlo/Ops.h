// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Ops.h - CHLO dialect -----------------------------------------------===//
#pragma once
#include "dialects/stablehlo/Dialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/chlo/ChloDialect.h.inc"
#include "dialects/chlo/ChloEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/chlo/ChloAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/chlo/ChloOps.h.inc"
