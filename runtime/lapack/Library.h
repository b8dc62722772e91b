// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Library.h - Routines of OpenBLAS and how to call them ---------------===//
#pragma once
#include "runtime/base/Status.h"

#include <complex>
#include <string>
#include <type_traits>

namespace millrace::runtime::lapack {

/// Address of a Fortran routine, "dpotrf_". FailedPrecondition (with what to install) if OpenBLAS is missing.
/// MILLRACE_OPENBLAS names another library file.
StatusOr<void *> routine(const std::string &name);

/// Fortran passes everything by address; the length of each character argument follows at the end (`one`).
inline constexpr size_t one = 1;
template <typename... Args>
void callFortran(void *routine, Args... args) {
  reinterpret_cast<void (*)(Args...)>(routine)(args...);
}

template <typename T>
inline constexpr bool isComplexType = !std::is_floating_point_v<T>;
template <typename T>
struct RealOf {
  using type = T;
};
template <typename T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <typename T>
using Real = typename RealOf<T>::type;

/// Routine `name` for elements of type T: s, d, c, z before it, _ behind it.
template <typename T>
StatusOr<void *> routineFor(const char *name) {
  constexpr bool isSingle = std::is_same_v<Real<T>, float>;
  char prefix = isComplexType<T> ? (isSingle ? 'c' : 'z') : (isSingle ? 's' : 'd');
  return routine(prefix + std::string(name) + "_");
}

} // namespace millrace::runtime::lapack
