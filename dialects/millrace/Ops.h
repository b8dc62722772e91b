// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Ops.h - The compiler's own operation -------------------------------===//
#pragma once

#include "dialects/millrace/Dialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "dialects/millrace/Ops.h.inc"
