// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DialectHeaders.h - What passes/ and lowering/ include of ours ------===//
// As MlirHeaders.h, with the operations of StableHLO. Not those of chlo and sdy: they have operations of the same names, and code in
// their namespaces would mean another one without saying so.
#pragma once

#include "cmake/MlirHeaders.h"
#include "dialects/stablehlo/Ops.h"
