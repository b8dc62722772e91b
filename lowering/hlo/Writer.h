// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Writer.h - HLO computations under construction ---------------------===//
// The families (Elementwise.cpp, Reduction.cpp, ..) translate one operation each through a Computation, which names
// instructions and appends their lines; regions and functions become computations of the same Module.
#pragma once

#include "lowering/hlo/Shapes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <optional>
#include <string>
#include <vector>

namespace millrace::hlo {

/// `, name=value` parts after the operands of an instruction.
class Attributes {
public:
  Attributes &add(llvm::StringRef name, const llvm::Twine &value);
  Attributes &list(llvm::StringRef name, llvm::ArrayRef<int64_t> values); // name={1,2}
  Attributes &flag(llvm::StringRef name, bool value);                     // name=true, or nothing
  Attributes &quoted(llvm::StringRef name, llvm::StringRef value);        // name="value"
  Attributes &config(llvm::StringRef name, llvm::StringRef value);        // as quoted, but {..} stays as it is
  llvm::StringRef str() const { return text; }

private:
  std::string text;
};

std::string quote(llvm::StringRef text);
/// `{1,2}`.
std::string braces(llvm::ArrayRef<int64_t> values);
/// `text` if it is a dictionary whose braces close, as HLO text writes it, else quoted.
std::string quoteUnlessBraces(llvm::StringRef text);
/// `text` with everything that HLO names cannot hold replaced by `_`.
std::string identifier(llvm::StringRef text);

class Module;

/// How the arguments of a region reach its computation.
enum class Passing {
  Flat, ///< one parameter each; captured values other than constants are an error
  Tuple ///< one parameter: the value, or the tuple of the arguments and then the captured values
};

class Computation {
public:
  Computation(Module &module, llvm::StringRef name);

  /// The instruction that computes `value` here.
  std::string operator[](mlir::Value value) const;
  std::vector<std::string> operator[](mlir::ValueRange values) const;
  void bind(mlir::Value value, llvm::StringRef name) { names[value] = name.str(); }

  /// Appends `name = shape opcode(operands), attributes` with the metadata of the current operation; returns the name.
  std::string add(llvm::StringRef opcode, llvm::StringRef shape, llvm::ArrayRef<std::string> operands,
                  const Attributes &attributes = {});
  /// Appends the instruction that stands for the whole of `op`, with its shardings, and binds its results: elements of
  /// a tuple unless there is just one.
  mlir::LogicalResult result(mlir::Operation *op, llvm::StringRef opcode, llvm::ArrayRef<std::string> operands,
                             Attributes attributes = {});
  mlir::LogicalResult result(mlir::Operation *op, llvm::StringRef opcode, const Attributes &attributes = {});
  /// Binds the results of `op` to the elements of `tuple`, or to `tuple` itself if there is one.
  void unpack(mlir::Operation *op, llvm::StringRef tuple);

  std::string element(llvm::StringRef tuple, llvm::StringRef shape, int64_t index);
  /// The value itself if there is one, else their tuple. HLO's loops and branches take and give one value.
  std::string packed(llvm::ArrayRef<std::string> values, mlir::TypeRange types);
  std::string constant(mlir::DenseElementsAttr value);
  std::string reshape(llvm::StringRef operand, llvm::ArrayRef<int64_t> sizes, mlir::Type element);
  std::string transpose(llvm::StringRef operand, llvm::ArrayRef<int64_t> operandSizes,
                        llvm::ArrayRef<int64_t> permutation, mlir::Type element);
  /// `value`, or if it is a scalar and `type` is not, its broadcast.
  std::string broadcastTo(mlir::Value value, mlir::RankedTensorType type);
  /// `value`, converted if its elements are not of type `element`: reductions promote their operands.
  std::string convertedTo(mlir::Value value, mlir::Type element);

  /// Translates all operations of `block` but its terminator.
  mlir::LogicalResult addOperations(mlir::Block &block);
  mlir::LogicalResult addOperation(mlir::Operation *op);
  /// Makes the parameter of a computation.
  std::string parameter(int64_t index, llvm::StringRef shape, const llvm::Twine &attributes = "");
  void setRoot(llvm::StringRef name) { root = name.str(); }
  /// Name of the computation in calls.
  llvm::StringRef getName() const { return name; }
  void print(llvm::raw_ostream &os, bool isEntry) const;
  /// Operation whose location goes to the metadata of what is added next.
  void setSource(mlir::Operation *op) { source = op; }

  Module &module;

private:
  struct Line {
    std::string name, text;
  };
  std::string name, root;
  std::vector<Line> lines;
  llvm::DenseMap<mlir::Value, std::string> names;
  mlir::Operation *source = nullptr;
};

class Module {
public:
  explicit Module(mlir::ModuleOp op) : op(op) {}

  /// A name nothing else has: `base.1`, `base.2`, ..
  std::string uniqueName(llvm::StringRef base);

  /// The computation of a region: its name. `captured` are the values that Passing::Tuple hands over besides the
  /// arguments; with `returnCaptured` the computation returns them too, as the body of a loop must.
  mlir::FailureOr<std::string> region(mlir::Region &region, Passing passing = Passing::Flat,
                                      mlir::ValueRange captured = {}, bool returnCaptured = false);
  /// The computation of the function that `symbol` names, translated once.
  mlir::FailureOr<std::string> function(mlir::Operation *user, mlir::FlatSymbolRefAttr symbol);
  mlir::LogicalResult entry(mlir::func::FuncOp function);
  void print(llvm::raw_ostream &os) const;

private:
  std::string header(mlir::func::FuncOp function);

  mlir::ModuleOp op;
  llvm::StringMap<int> counters;
  llvm::StringMap<std::string> functions; // symbol -> computation; empty while it is being translated
  std::string headerText;
  std::vector<std::string> computations; // callees first
};

/// What the operations of a region (and the regions within) use from outside of it, constants excepted: these are
/// repeated inside, since an HLO computation sees nothing but its parameters.
mlir::SmallVector<mlir::Value> capturedValues(mlir::MutableArrayRef<mlir::Region> regions);

/// `sharding=` and `frontend_attributes=` from `mhlo.sharding` and `mhlo.frontend_attributes`.
void annotate(mlir::DictionaryAttr discardable, Attributes &attributes);

/// ` metadata={..}` of a location, with a comma before; empty if it says nothing.
std::string metadataText(mlir::Location loc);

/// The families: nothing if `op` is none of theirs.
using Visit = std::optional<mlir::LogicalResult>;
Visit visitElementwise(mlir::Operation *op, Computation &to);
Visit visitDataMovement(mlir::Operation *op, Computation &to);
Visit visitContraction(mlir::Operation *op, Computation &to);
Visit visitIndexing(mlir::Operation *op, Computation &to);
Visit visitReduction(mlir::Operation *op, Computation &to);
Visit visitControlFlow(mlir::Operation *op, Computation &to);
Visit visitCustomCall(mlir::Operation *op, Computation &to);
Visit visitCollective(mlir::Operation *op, Computation &to);
Visit visitTransfer(mlir::Operation *op, Computation &to);
Visit visitRandom(mlir::Operation *op, Computation &to);
Visit visitDynamism(mlir::Operation *op, Computation &to);

} // namespace millrace::hlo
