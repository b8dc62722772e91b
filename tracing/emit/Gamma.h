// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Gamma.h - Digamma and regularized incomplete gamma functions -------===//
#pragma once
#include "tracing/emit/Emit.h"

namespace millrace::tracing {

struct IncompleteGamma {
  Val lower; ///< P(a, x)
  Val upper; ///< Q(a, x) = 1 - P(a, x)
};
/// Both functions of F64 values with the same dims and at least one element. The results are unspecified unless both operands are positive and
/// finite.
IncompleteGamma incompleteGamma(Emitter &e, const Val &a, const Val &x);
/// At the pole 0 the result is 1 / -x, so that its sign depends on the sign of zero.
Val digamma(Emitter &e, const Val &x);

} // namespace millrace::tracing
