// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Search.h - Binary search in sorted rows -----------------------------===//
#pragma once
#include "tracing/emit/Families.h"

namespace millrace::tracing {

/// Returns (i64, shape of `values`) for each value the number of elements of `sorted` that precede its place: those that are smaller, or with `right`
/// not greater. `sorted` has one row for all values, or a row for each row of `values`. If `order` is valid, it has the positions of the elements of
/// `sorted` in sorted order.
Val searchSorted(Emitter &e, const Val &sorted, const Val &values, bool right, const Val &order = {});

} // namespace millrace::tracing
