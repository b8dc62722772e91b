// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatrixParts.h - Matrices that are computed from packed words --------===//
// Input:   matrix[i, p, j] = f((word[i, j] >> 4 * p) & 15, scale[...], zero[...]): along one dimension, the same words are read for all p
// Output:  for each p the values matrix[:, p, :], computed from the words, with constants instead of what varies along p
// A code is an integer function of a word and of its position in it; a value is a function of a code. How programs write the codes (a constant of
// shift amounts, a concatenation of shifted words, a bitcast to 4 bits, a permutation of columns by constant indices), in which integer types and
// between which reshapes, makes no difference: every integer is followed to bits of a word, or to numbers of which the range is known.
//
// MatrixParts.cpp recognizes such a matrix, MatrixPartsWords.cpp codes as bits of words, MatrixPartsNumbers.cpp integers computed from codes, and
// MatrixPartsScales.cpp the operands that words share; MatrixPartsCreation.cpp creates the values.
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/stablehlo/eval/Tensor.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

#include <map>
#include <optional>

namespace millrace::fusion {

/// Returns true for tensors of integers or floats that have a static shape and at least one element.
bool isStaticTensor(mlir::Value value);

class MatrixParts {
public:
  /// Returns none if `matrix` is not computed from words that several elements share, by operations whose results nothing else reads. Creates nothing.
  static std::optional<MatrixParts> of(mlir::Value matrix);

  /// Returns a shape of the matrix that divides all shapes in which it is computed; it has no unit dimensions.
  llvm::ArrayRef<int64_t> shape() const { return whole; }
  /// Returns the first of the dims() dimensions of shape() whose neighbours are computed from the same words, count() of them.
  int64_t dim() const { return partDim - (dims() - 1); }
  int64_t dims() const { return bytesOfWord > 1 ? 2 : 1; }
  int64_t count() const { return codesOfElement() * bytesOfWord; }
  /// Returns shape() without those dimensions.
  llvm::SmallVector<int64_t> partShape() const;
  /// Words of which each has as many codes as bits for them: a matrix [outer, count(), inner] in row-major order is, at position p, bits
  /// [shifts[p], shifts[p] + bits) of words [outer, inner].
  struct Words {
    mlir::Value words; ///< in any shape
    llvm::SmallVector<int64_t> shifts;
    int64_t bits = 0;
    bool isSigned = false;
    int64_t inner = 1;
  };
  /// Returns the words of a matrix of integers that is their codes and nothing else, else none. Creates nothing.
  std::optional<Words> words() const;
  /// Takes four neighbouring bytes for one word of 32 bits: vectors have fewer of them to widen. Returns false if bytes are not the last dimension, in
  /// fours. make() fails if the words are no bytes, or if something else differs between them.
  bool joinBytes();
  /// The values of the matrix at each position of a word: (part - subtrahend) * factors.
  struct Parts {
    llvm::SmallVector<mlir::Value> values;  ///< empty: it is not known how to compute them
    mlir::Value subtrahend;                 ///< null: none
    llvm::SmallVector<mlir::Value> factors;
  };
  /// Creates the parts, before the insertion point, or nothing at all. If `isShared`, what is equal for all codes of a word (their scale and zero point)
  /// is returned apart from them; else there are values alone.
  Parts make(mlir::OpBuilder &b, bool isShared);
  /// Creates the matrix in shape(), before the insertion point, with words that are shifted by constants along dim() in place of how the program has
  /// written its codes; null, and nothing is created, if that is not possible.
  mlir::Value makeWhole(mlir::OpBuilder &b);

private:
  /// An integer as 32 bits with sign, in the shape of a part, and the range in which it is. No value: it is the same constant everywhere.
  struct Number {
    mlir::Value value;
    int64_t low = 0, high = 0;
    bool isConstant() const { return low == high; }
  };
  /// Bits [shift, shift + bits) of words, moved up by `up` bits.
  struct Field {
    mlir::Value words; ///< as the program has them
    int64_t shift = 0, bits = 0, up = 0;
    bool isSigned = false;
    bool isLike(const Field &other) const { return words == other.words && bits == other.bits && up == other.up && isSigned == other.isSigned; }
  };
  using Key = std::pair<void *, int64_t>;

  /// Returns the word that a bitcast takes apart, or null.
  static mlir::Value wordsOfBitcast(mlir::Operation *op);

  explicit MatrixParts(mlir::Value matrix) : matrix(matrix), total(mlir::cast<mlir::RankedTensorType>(matrix.getType()).getNumElements()) {}
  bool collect(mlir::Value value);
  bool collectGather(mlir::Operation *gather);
  bool choosePartDim();
  bool isPart(mlir::Value value) const;
  int64_t codesOfElement() const { return whole[partDim]; }
  /// Returns the position among the codes of one element of words.
  int64_t inElement(int64_t position) const { return position % codesOfElement(); }
  llvm::SmallVector<llvm::SmallVector<int64_t, 2>> groupsOf(llvm::ArrayRef<int64_t> of) const;
  std::optional<int64_t> positionBehind(mlir::Value gather, int64_t position) const;
  std::optional<int64_t> integerAt(mlir::Value value, int64_t position) const;

  bool isShared(mlir::Value value) const;
  mlir::Value withoutShared(mlir::Value value, Parts &parts);
  mlir::Value part(mlir::Value value, int64_t position);
  mlir::Value computed(mlir::Value value, int64_t position);
  mlir::Value broadcast(mlir::Operation *op, int64_t position);
  mlir::Value gathered(mlir::Operation *op, int64_t position);
  mlir::Value operandPart(mlir::Value operand, llvm::SmallVectorImpl<int64_t> &dims, int64_t position);
  std::optional<Number> number(mlir::Value value, int64_t position);
  std::optional<Number> computedNumber(mlir::Value value, int64_t position);
  std::optional<Field> field(mlir::Value value, int64_t position) const;
  mlir::Value wordsOfPart(mlir::Value stored, int64_t position);
  std::optional<Number> numberOfBits(mlir::Value value, int64_t position);
  mlir::Value amounts(llvm::ArrayRef<int64_t> values);
  template <typename Make> llvm::SmallVector<mlir::Value> erasingUnused(Make make);
  mlir::Value valueOf(const Number &number);
  mlir::Value splat(mlir::Type element, int64_t value);
  mlir::Value reshaped(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  llvm::SmallVector<int64_t> shapeOfResult() const { return isWhole ? whole : partShape(); }
  mlir::RankedTensorType typeOfResult(mlir::Type element) const { return mlir::RankedTensorType::get(shapeOfResult(), element); }
  int64_t dimOfResult(int64_t dim) const { return !isWhole && dim > partDim ? dim - dims() : dim; }
  bool isOfPart(int64_t number) const { return number <= partDim && number >= dim(); }

  mlir::Value matrix;
  int64_t total = 0, partDim = -1, bytesOfWord = 1;
  llvm::SmallVector<int64_t> whole;
  llvm::SetVector<mlir::Operation *> followed;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> differing;             ///< values that differ along one of their dimensions by constants
  llvm::DenseMap<mlir::Value, eval::Tensor> constants;                      ///< what broadcasts and gathers read
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t>> positions;  ///< of gathers: the position that is read for each
  // While values are created: those of a part, or of the whole matrix, for which positions have no meaning.
  mlir::OpBuilder *builder = nullptr;
  bool isWhole = false;
  std::map<Key, mlir::Value> made;
  std::map<Key, std::optional<Number>> numbers;
  llvm::DenseMap<mlir::Value, mlir::Value> wordsFrom; ///< what is taken apart, in the shape of a part
  llvm::DenseMap<mlir::Value, mlir::Value> inFront; ///< operands with the dimension of parts first
};

} // namespace millrace::fusion
