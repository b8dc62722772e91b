// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Tensor.h - Values of the evaluator -----------------------------------===//
#pragma once

#include "dialects/stablehlo/eval/Element.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <variant>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace millrace::eval {

using Shape = llvm::SmallVector<int64_t, 4>;
using Ints = llvm::SmallVector<int64_t, 4>;
using Floats = llvm::SmallVector<double, 4>;
using Complexes = llvm::SmallVector<Complex, 2>;

/// Returns the product of the sizes.
int64_t numElements(llvm::ArrayRef<int64_t> shape);
/// Returns row-major strides, in elements.
Shape stridesOf(llvm::ArrayRef<int64_t> shape);
/// Advances `index` in row-major order; returns false after the last one.
bool nextIndex(llvm::MutableArrayRef<int64_t> index, llvm::ArrayRef<int64_t> shape);
/// Calls `body(index, linear)` for every index of `shape` in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t> index, int64_t linear)> body);

/// A tensor value: a type of static shape and row-major bytes as described in Element.h. Copies share the bytes, which are copied before they are
/// written to.
class Tensor {
public:
  Tensor() = default;
  /// Makes a tensor of zero bytes. `type` has a static shape and an element type for which `kindOf` is known.
  explicit Tensor(mlir::RankedTensorType type);

  /// Returns an error if the type is not one of StableHLO's or the shape is dynamic.
  static llvm::Expected<Tensor> fromAttr(mlir::ElementsAttr attr);
  /// Does the same for attributes whose elements have the storage type of quantized values.
  static llvm::Expected<Tensor> fromAttr(mlir::ElementsAttr attr, mlir::RankedTensorType type);
  /// Copies `bytes` (size() * byteSize(kind()) of them).
  static Tensor fromBytes(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes);
  /// Quantized tensors are converted to tensors of their storage type.
  mlir::DenseElementsAttr toAttr() const;

  explicit operator bool() const { return static_cast<bool>(bytes); }
  mlir::RankedTensorType getType() const { return type; }
  mlir::Type getElementType() const { return type.getElementType(); }
  llvm::ArrayRef<int64_t> getShape() const { return type.getShape(); }
  int64_t rank() const { return type.getRank(); }
  int64_t dim(int64_t i) const { return type.getDimSize(i); }
  int64_t size() const { return count; }
  Kind kind() const { return elementKind; }
  unsigned elementBytes() const { return byteSize(elementKind); }
  int64_t numBytes() const { return count * elementBytes(); }

  const char *data() const { return bytes.get(); }
  char *mutableData();
  const char *at(int64_t linear) const { return bytes.get() + linear * elementBytes(); }

  int64_t getInt(int64_t linear) const { return loadInt(elementKind, at(linear)); }
  double getFloat(int64_t linear) const { return loadFloat(elementKind, at(linear)); }
  Complex getComplex(int64_t linear) const { return loadComplex(elementKind, at(linear)); }

  /// Return all elements as lanes of the type that the kind uses.
  Ints ints() const;
  Floats floats() const;
  Complexes complexes() const;
  static Tensor ofInts(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> lanes);
  static Tensor ofFloats(mlir::RankedTensorType type, llvm::ArrayRef<double> lanes);
  static Tensor ofComplexes(mlir::RankedTensorType type, llvm::ArrayRef<Complex> lanes);

  /// Returns the same bytes with another type of the same byte count.
  Tensor withType(mlir::RankedTensorType other) const;
  /// Returns the tensor of rank 0 that holds one element.
  Tensor element(int64_t linear, mlir::RankedTensorType scalarType) const;

  /// Prints "tensor<2xi64> {\n  [1, 2]\n}", like upstream's interpreter, but without omitting elements of large tensors.
  void print(llvm::raw_ostream &os) const;

private:
  mlir::RankedTensorType type;
  Kind elementKind = Kind::I1;
  int64_t count = 0;
  std::shared_ptr<char[]> bytes;
};

struct Token {};

/// The value of an SSA value of a StableHLO program: a tensor, a token, a tuple, or a future (the result of an asynchronous operation, which the
/// evaluator computes at once).
class Value {
public:
  Value() = default;
  Value(Tensor tensor) : content(std::move(tensor)) {}
  Value(Token token) : content(token) {}
  static Value tuple(std::vector<Value> elements);

  bool isTensor() const { return std::holds_alternative<Tensor>(content); }
  bool isToken() const { return std::holds_alternative<Token>(content); }
  bool isTuple() const { return std::holds_alternative<Elements>(content); }
  const Tensor &tensor() const { return std::get<Tensor>(content); }
  Tensor &tensor() { return std::get<Tensor>(content); }
  llvm::ArrayRef<Value> elements() const { return *std::get<Elements>(content); }
  void print(llvm::raw_ostream &os) const;

private:
  using Elements = std::shared_ptr<const std::vector<Value>>;
  std::variant<Token, Tensor, Elements> content;
};

} // namespace millrace::eval
