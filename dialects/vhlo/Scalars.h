// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Scalars.h - Tables of parameterless types and of enumerations ------===//
#pragma once
#include "dialects/vhlo/Version.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/Types.h"

namespace millrace::vhlo {

/// A type without parameters. `code` identifies it in bytecode and in ScalarV1Type.
struct ScalarDef {
  unsigned code;
  llvm::StringLiteral mnemonic;
  Version min;
  mlir::Type (*make)(mlir::MLIRContext *); ///< the type it stands for
};
llvm::ArrayRef<ScalarDef> scalarTable();
const ScalarDef *lookupScalar(unsigned code);
const ScalarDef *lookupScalar(llvm::StringRef mnemonic);

/// An enumeration. Values are encoded as their position in `values`; an empty name marks an unused position.
struct EnumDef {
  unsigned code;
  llvm::StringLiteral mnemonic;
  Version min;
  llvm::ArrayRef<llvm::StringLiteral> values;

  std::optional<unsigned> parse(llvm::StringRef name) const;
};
llvm::ArrayRef<EnumDef> enumTable();
const EnumDef *lookupEnum(unsigned code);
const EnumDef *lookupEnum(llvm::StringRef mnemonic);

/// Codes that other files refer to by name.
namespace code {
enum Attr : unsigned {
  Array = 1, Bool = 2, ComparisonDirection = 3, ComparisonType = 4, CustomCallApiVersion = 5, Dict = 6, FftType = 7,
  Float = 8, Integer = 9, OutputOperandAlias = 10, Precision = 11, RngAlgorithm = 12, RngDistribution = 13, String = 14,
  Tensor = 15, Transpose = 16, Type = 17, TypeExtensions = 18, ResultAccuracyMode = 19, ResultAccuracy = 20,
  SubAxisInfo = 21, AxisRef = 22, ReplicaGroupMeshAxes = 23, MeshAxis = 24, Mesh = 25
};
enum Type : unsigned {
  Boolean = 0, Complex = 1, Function = 8, Index = 9, I64 = 14, RankedTensor = 20, EncodedTensor = 21, Token = 22,
  Tuple = 23, UniformQuantized = 24, UnrankedTensor = 25, Witness = 26, UniformQuantizedPerAxis = 30, None = 33,
  RankedBuffer = 41, Future = 42
};
} // namespace code

} // namespace millrace::vhlo
