// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Ops.h - All StableHLO ops ------------------------------------------===//
#pragma once
#include "dialects/stablehlo/CollectiveOps.h"
#include "dialects/stablehlo/ContractionOps.h"
#include "dialects/stablehlo/ControlFlowOps.h"
#include "dialects/stablehlo/DataMovementOps.h"
#include "dialects/stablehlo/DynamismOps.h"
#include "dialects/stablehlo/ElementwiseOps.h"
#include "dialects/stablehlo/IndexingOps.h"
#include "dialects/stablehlo/RandomOps.h"
#include "dialects/stablehlo/ReductionOps.h"
