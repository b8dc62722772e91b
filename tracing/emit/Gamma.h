// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Gamma.h - Digamma and regularized incomplete gamma functions -------===//
#pragma once
#include "tracing/Emit.h"

namespace millrace::tracing {

struct IncompleteGamma {
  Val lower; ///< P(a, x)
  Val upper; ///< Q(a, x) = 1 - P(a, x)
};
/// Of F64 values with the same dims and at least one element. Meaningless unless both are positive and finite.
IncompleteGamma incompleteGamma(Emitter &e, const Val &a, const Val &x);
/// Its pole at 0 has a side: where 1 / -x goes.
Val digamma(Emitter &e, const Val &x);

} // namespace millrace::tracing
