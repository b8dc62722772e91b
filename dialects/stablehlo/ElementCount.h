// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ElementCount.h - The number of elements of static sizes ------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

namespace millrace::stablehlo {

/// Returns the product of `sizes`, which are not negative: 0 where one of them is 0, however large the others are. None if it is larger than `most`.
inline std::optional<int64_t> elementCount(llvm::ArrayRef<int64_t> sizes, int64_t most) {
  if (llvm::is_contained(sizes, 0))
    return 0;
  int64_t count = 1;
  for (int64_t size : sizes)
    if (llvm::MulOverflow(count, size, count) || count > most)
      return std::nullopt;
  return count;
}

} // namespace millrace::stablehlo
