// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SparseProduct.h - Sparse matrix times dense matrix or vector --------===//
#pragma once
#include "runtime/kernels/CustomCall.h"

namespace millrace::runtime {

/// cpu_csr_sparse_dense_ffi of JAX's sparse arrays: values [e], row starts [m + 1], columns [e] (i32 or i64), dense [n] or [n, k] -> [m] or [m, k].
/// Row starts and columns out of range are errors. Values are of all float and complex types of at least 32 bits, and all integers of at least 8
/// bits.
Status sparseProduct(const CustomCall &call);

} // namespace millrace::runtime
