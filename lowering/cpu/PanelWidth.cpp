// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PanelWidth.cpp - Width of packed panels of a contraction -----------===//
#include "lowering/cpu/PanelWidth.h"

#include "lowering/cpu/emitters/contraction/ContractionPlan.h"

namespace millrace::lowering {

fusion::PanelWidth panelWidth(const CpuTarget &cpu) {
  return [target = kernelTarget(cpu)](int64_t rows, int64_t columns, mlir::Type element) {
    return choosePanelWidth(rows, columns, element, target);
  };
}

} // namespace millrace::lowering
