// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Lapack.cpp - Matrix factorizations as custom calls ------------------===//
#include "runtime/lapack/Lapack.h"
#include "runtime/lapack/Families.h"

namespace millrace::runtime {

std::vector<std::pair<std::string, CustomCallHandler>> lapackCustomCalls() {
  lapack::Handlers handlers;
  lapack::addFactorizations(handlers);
  lapack::addEigenvalues(handlers);
  lapack::addSingularValues(handlers);
  lapack::addSolvers(handlers);
  lapack::addPivots(handlers);
  lapack::addRealMatrices(handlers);
  return handlers;
}

} // namespace millrace::runtime
