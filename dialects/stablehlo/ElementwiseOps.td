// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_DIALECTS_STABLEHLO_ELEMENTWISEOPS_TD
#define MILLRACE_DIALECTS_STABLEHLO_ELEMENTWISEOPS_TD
include "dialects/stablehlo/Attrs.td"
#endif
