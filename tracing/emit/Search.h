// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Search.h - Binary search in sorted rows -----------------------------===//
#pragma once
#include "tracing/emit/Families.h"

namespace millrace::tracing {

/// i64 of the shape of `values`: before how many elements of `sorted` each belongs. Equal ones: in front of them, or
/// behind if `right`. `sorted` has one row for all values, or a row for each row of values; `order`, if it is valid, says
/// at which positions of `sorted` its elements stand in order.
Val searchSorted(Emitter &e, const Val &sorted, const Val &values, bool right, const Val &order = {});

} // namespace millrace::tracing
