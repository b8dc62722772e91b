// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelModelBuilder.h - Build the kernel model from linalg -----------===//
// Input:   a function on static tensors of linalg operations, reshapes, slices and pads of arguments, constants.
// Output:  nodes, accesses and atoms (KernelModel.h).
// Not supported: dynamic shapes, complex elements, computed values read at computed indices or in two different index orders.
// Operations are added one by one while their indices are unified (KernelModelBuilder.cpp, KernelModelViews.cpp, KernelModelBody.cpp); then the
// remaining indices are numbered and every operand becomes an address (KernelModelAtoms.cpp).
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/cpu/emitters/model/KernelModel.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <array>
#include <map>

namespace millrace::lowering {

/// Returns the strides of a dense tensor, in elements.
mlir::SmallVector<int64_t> rowMajor(mlir::ArrayRef<int64_t> sizes);

/// A buffer viewed as a tensor: element (i0, i1, ...) is at offset + sum of i * stride.
struct KernelView {
  int buffer = -1;
  mlir::Type elementType;
  int64_t numElements = 1;
  mlir::SmallVector<int64_t> sizes, strides;
  int64_t offset = 0;
  struct Pad {
    int dim;
    int64_t low, size;
  };
  mlir::SmallVector<Pad> pads;
  mlir::TypedAttr padding;
};

/// Builds the model of one function. Used once; `why` is set to the reason of a failure.
class KernelModelBuilder {
public:
  KernelModelBuilder(mlir::func::FuncOp fn, std::string &why) : fn(fn), why(why) {}
  mlir::LogicalResult run();
  KernelModel model;

private:
  struct RawOperand {
    Operand operand; ///< final except for the access
    int view = -1;
    mlir::AffineMap map; ///< loops -> view dimensions
  };
  struct RawRead {
    Read read; ///< final except for the linear part of the address
    mlir::SmallVector<std::pair<unsigned, int64_t>> terms; ///< loop, stride
  };
  struct RawNode {
    mlir::SmallVector<RawRead, 0> reads;
    mlir::SmallVector<AtomList> loops;
    mlir::SmallVector<RawOperand, 4> inputs;
    mlir::SmallVector<RawOperand, 2> inits;
    mlir::SmallVector<std::pair<mlir::Value, RawOperand>, 1> captured;
    AtomList kept;
  };

  mlir::LogicalResult fail(const llvm::Twine &message) {
    why = message.str();
    return mlir::failure();
  }
  mlir::LogicalResult addOperation(mlir::Operation &op);
  mlir::TypedAttr constantOf(mlir::Value value);
  mlir::LogicalResult insertIntoFill(mlir::tensor::InsertSliceOp insert, bool &done);
  mlir::LogicalResult addLinalg(mlir::linalg::LinalgOp op);
  mlir::LogicalResult addReshape(mlir::Operation *op, mlir::Value source, mlir::Value result,
                                 mlir::ArrayRef<mlir::ReassociationIndices> groups, bool expand);
  mlir::LogicalResult addView(mlir::Operation &op, bool &done);
  mlir::LogicalResult addOutput(mlir::Value value, int buffer);
  struct RawOutput;
  mlir::LogicalResult addPieces(mlir::Value value, const RawOutput &out, mlir::ArrayRef<unsigned> dims, bool isWhole);
  mlir::LogicalResult checkBody(mlir::Block *body, RawNode &raw);
  mlir::LogicalResult addExtracted(mlir::tensor::ExtractOp extract, RawNode &raw, bool &done);
  void decompose(mlir::Value index, int64_t scale, RawRead &out);
  void countWork(mlir::Block *body, RawNode &raw, Node &node);
  mlir::LogicalResult operandFor(mlir::Value value, mlir::AffineMap map, mlir::ArrayRef<AtomList> loops, RawOperand &out);
  mlir::LogicalResult scalarOperand(mlir::Value value, RawOperand &out);
  mlir::LogicalResult finish();
  void shareBufferIndices();
  bool hasDuplicates() const;
  mlir::LogicalResult access(const RawOperand &raw, mlir::ArrayRef<AtomList> loops, Access &out);
  mlir::LogicalResult linear(mlir::AffineExpr expr, mlir::ArrayRef<AtomList> loops, int64_t scale, LinearExpr &out);
  mlir::LogicalResult addDimension(mlir::ArrayRef<int> list, int64_t scale, LinearExpr &out);
  AtomSet toSet(mlir::ArrayRef<int> list, bool &duplicate);
  void coarsen();
  void findRows();

  mlir::func::FuncOp fn;
  std::string &why;
  IndexAtoms atoms;
  mlir::SmallVector<KernelView> views;
  mlir::DenseMap<mlir::Value, int> viewOf;
  mlir::DenseMap<mlir::Value, mlir::TypedAttr> scalarOf;
  mlir::DenseMap<mlir::Value, mlir::SmallVector<AtomList>> dimsOf; ///< intermediates
  std::vector<RawNode> raws;
  struct RawOutput {
    RawOperand value;
    mlir::SmallVector<AtomList> dims;
    mlir::SmallVector<int64_t> offsets, steps; ///< where index i of dimension d is stored: offset + i * step
    int buffer;
    mlir::RankedTensorType type;
  };
  std::vector<RawOutput> rawOutputs;
  std::map<std::array<int64_t, 4>, AtomList> selections; ///< of one result: dimension, offset, step, size
  mlir::DenseMap<int, int> dense; ///< atom of `atoms` -> atom of the model
};

} // namespace millrace::lowering
