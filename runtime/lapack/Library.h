// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Library.h - Call routines of OpenBLAS -------------------------------===//
#pragma once
#include "runtime/base/Status.h"

#include <complex>
#include <string>
#include <type_traits>

namespace millrace::runtime::lapack {

/// Returns the address of a Fortran routine, for example "dpotrf_". MILLRACE_OPENBLAS names another library file. Errors: FailedPrecondition (with
/// the package to install) if OpenBLAS is missing.
StatusOr<void *> routine(const std::string &name);

/// Fortran passes all arguments by address; the length of each character argument (`one`) follows at the end.
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

/// Returns the name of a routine for elements of type T: with s, d, c or z in front and _ behind.
template <typename T>
StatusOr<void *> routineFor(const char *name) {
  constexpr bool isSingle = std::is_same_v<Real<T>, float>;
  char prefix = isComplexType<T> ? (isSingle ? 'c' : 'z') : (isSingle ? 's' : 'd');
  return routine(prefix + std::string(name) + "_");
}

} // namespace millrace::runtime::lapack
