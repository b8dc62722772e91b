// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Npy.h - Tensors in NumPy files -------------------------------------===//
#pragma once

#include "dialects/stablehlo/eval/Tensor.h"

namespace millrace::eval {

/// Writes `tensor` as .npy, version 1.0. Types that NumPy lacks are written as bytes of their size (`|V2` for bf16, `|V1` for f8), narrow integers as
/// int8 or uint8.
llvm::Error writeNpy(llvm::StringRef path, const Tensor &tensor);
/// Reads a file, whose type and shape must be those of `type`.
llvm::Expected<Tensor> readNpy(llvm::StringRef path, mlir::RankedTensorType type);

/// Writes `<directory>/<id>_<iteration>.npy`, with characters that are not allowed in file names replaced by '_', and a row `id,type,path` of
/// `<directory>/index.csv`.
llvm::Error writeProbe(llvm::StringRef directory, llvm::StringRef id, int64_t iteration, const Tensor &tensor);
/// Reads what writeProbe wrote last for this id and iteration; an error if the index has another type.
llvm::Expected<Tensor> readProbe(llvm::StringRef directory, llvm::StringRef id, int64_t iteration, mlir::RankedTensorType type);

} // namespace millrace::eval
