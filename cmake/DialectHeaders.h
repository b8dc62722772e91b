// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DialectHeaders.h - What passes/ and lowering/ include of ours ------===//
// As MlirHeaders.h, with the operations of our dialects.
#pragma once

#include "cmake/MlirHeaders.h"
#include "dialects/chlo/Ops.h"
#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"
