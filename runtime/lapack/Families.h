// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Families.h - LAPACK handlers by family ------------------------------===//
#pragma once
#include "runtime/lapack/Lapack.h"

#include <complex>

namespace millrace::runtime::lapack {

using Handlers = std::vector<std::pair<std::string, CustomCallHandler>>;
using Function = Status (*)(const CustomCall &);

/// Adds the handlers lapack_s<real>_ffi, lapack_d<real>_ffi, lapack_c<complex>_ffi and lapack_z<complex>_ffi.
inline void add(Handlers &handlers, const std::string &real, const std::string &complex, Function s, Function d,
                Function c, Function z) {
  handlers.emplace_back("lapack_s" + real + "_ffi", s);
  handlers.emplace_back("lapack_d" + real + "_ffi", d);
  handlers.emplace_back("lapack_c" + complex + "_ffi", c);
  handlers.emplace_back("lapack_z" + complex + "_ffi", z);
}
#define MILLRACE_ADD_LAPACK(handlers, realName, complexName, function)                                                 \
  add(handlers, realName, complexName, function<float>, function<double>, function<std::complex<float>>,                      \
      function<std::complex<double>>)

void addFactorizations(Handlers &handlers); // Factorizations.cpp: Cholesky, LU, QR
void addEigenvalues(Handlers &handlers);    // Eigenvalues.cpp: symmetric and general, Schur, Hessenberg, tridiagonal
void addSingularValues(Handlers &handlers); // SingularValues.cpp
void addSolvers(Handlers &handlers);        // Solvers.cpp: triangular and tridiagonal systems
void addRealMatrices(Handlers &handlers);   // RealMatrices.cpp: without a library, for the compiler
void addPivots(Handlers &handlers);         // Pivots.cpp: row exchanges, indefinite matrices

} // namespace millrace::runtime::lapack
