// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StorageTypes.h - Types of elements in memory and in registers ------===//
// element type            storage (tensor element)   compute (SSA scalar)
// i1                      i1                         i1
// i8 .. i64, ui8 .. ui64  i8 .. i64                  i8 .. i64 (signedness is in the operation)
// i2 i4 ui2 ui4           i8 (sign-/zero-extended)   i2 i4
// f16 bf16 f32 f64        itself                     itself
// f8* f6* f4*             i8 (the bit pattern)       f32, rounded back after every operation
// complex<f32|f64>        itself                     itself
// !quant.uniform<iN:..>   as iN                      as iN
#pragma once

#include "mlir/Transforms/DialectConversion.h"

namespace millrace::lowering {

/// Returns the type of one element of `elementType` in a storage tensor; null if the type has no storage form.
mlir::Type storageElementType(mlir::Type elementType);

/// Returns the type in which arithmetic on elements of `elementType` is done.
mlir::Type computeElementType(mlir::Type elementType);

/// Returns true for f8*, f6* and f4*, which are stored as bit patterns in i8 and computed in f32.
bool isSmallFloat(mlir::Type elementType);

/// Returns true for the unsigned integers and i1, which orders false < true.
bool isUnsignedElement(mlir::Type elementType);

/// Converts a tensor of a stablehlo element type to a storage tensor of the same shape (without bounds encodings). Tuples are flattened to their
/// leaves (1:N), tokens disappear (1:0). Other types are not changed.
class StorageTypeConverter : public mlir::TypeConverter {
public:
  explicit StorageTypeConverter(mlir::MLIRContext *context);
};

} // namespace millrace::lowering
