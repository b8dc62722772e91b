// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Emit.h - From recorded operations to StableHLO ----------------------===//
// An Emitter builds one function. It creates operations by name, and their types come from the dialect's own inference, so that the files of emit/
// need no MLIR headers. After the first error every value is invalid, and finish() returns that error.
#pragma once
#include "tracing/emit/TracedModule.h"
#include "tracing/graph/Origin.h"

#include <functional>
#include <optional>
#include <unordered_map>

namespace millrace::tracing {

/// A value of the function under construction.
struct Val {
  void *impl = nullptr; ///< null after an error
  Shape shape;
  bool isWeak = false;
  explicit operator bool() const { return impl; }
  int64_t rank() const { return int64_t(shape.dims.size()); }
  int64_t dim(int64_t index) const { return shape.dims[index < 0 ? index + rank() : index]; }
  DType dtype() const { return shape.dtype; }
  const std::vector<int64_t> &dims() const { return shape.dims; }
};

/// The name of an attribute and its text.
using NamedText = std::pair<std::string, std::string>;
using Ints = std::vector<int64_t>;
using Body = std::function<std::vector<Val>(const std::vector<Val> &)>;
/// A region of an operation: the types of its arguments, and the function that emits its body and returns the results.
struct Region {
  std::vector<Shape> arguments;
  Body body;
};

class Emitter {
public:
  /// Makes an emitter in a context that all emitters of this kind share; its mutex serializes them.
  Emitter();
  /// Makes an emitter in the context of `target`; finishModule() stores the function in `target`.
  explicit Emitter(TracedModule &target);
  ~Emitter();
  Emitter(const Emitter &) = delete;

  //===-- The function ------------------------------------------------------===//
  /// Adds a parameter. `donatedTo` is the index of the result that may overwrite the parameter, or -1. `sharding` is an attribute.
  Val parameter(const Shape &shape, int64_t donatedTo = -1);
  Val parameter(const Shape &shape, int64_t donatedTo, const NamedText &sharding);
  /// Sets the number of devices that the program is written for.
  void partitions(int64_t count);
  /// Sets the number of replicas. It is written into the module only if an operation communicates with other replicas.
  void replicas(int64_t count);
  /// Sets the sharding of a result, as an attribute.
  void resultSharding(size_t index, const NamedText &sharding);
  /// Ends the function and returns the module's text, or the first error. `withPlaces` includes the locations that at() set.
  runtime::StatusOr<std::string> finish(const std::vector<Val> &results, bool withPlaces = false);
  /// Ends the function and returns the module's text without and with the locations that at() set, or the first error.
  runtime::StatusOr<std::pair<std::string, std::string>> finishBoth(const std::vector<Val> &results);
  /// Ends the function and stores it in the module that the constructor got, with the locations that at() set.
  runtime::Status finishModule(const std::vector<Val> &results);
  /// Sets the location of the operations that are emitted next: `operation` (empty: an argument) at this place of the user's program.
  void at(const std::string &operation, const Place &place);
  Val fail(std::string reason);
  bool failed() const;
  runtime::Status error() const;

  //===-- Any operation -----------------------------------------------------===//
  Val op(std::string_view name, const std::vector<Val> &operands, const std::vector<NamedText> &attributes = {},
         std::optional<Shape> result = {});
  std::vector<Val> ops(std::string_view name, const std::vector<Val> &operands,
                       const std::vector<NamedText> &attributes, const std::vector<Shape> &results,
                       const std::vector<Shape> &bodyArguments = {}, const Body &body = nullptr);
  std::vector<Val> ops(std::string_view name, const std::vector<Val> &operands,
                       const std::vector<NamedText> &attributes, const std::vector<Shape> &results,
                       const std::vector<Region> &regions);
  /// Emits a loop that repeats `body` as long as `goesOn` of its values, a boolean, is true. Neither may use values from outside.
  std::vector<Val> loop(const std::vector<Val> &initial, const std::function<Val(const std::vector<Val> &)> &goesOn,
                        const Body &body);

  /// Emits an operation without results.
  void effect(std::string_view name, const std::vector<Val> &operands, const std::vector<NamedText> &attributes);

  //===-- Helpers for the most frequent operations ---------------------------===//
  Val constant(double value, const Shape &shape);
  Val constant(int64_t value, const Shape &shape);
  Val constantInts(const Ints &values, const Shape &shape);
  Val constantReals(const std::vector<double> &values, const Shape &shape);
  Val convert(const Val &value, DType dtype);
  Val broadcastInDim(const Val &value, const Ints &dims, const Ints &mapping);
  /// Broadcasts by NumPy's rule: the last dims are aligned.
  Val broadcast(const Val &value, const Ints &dims);
  Val reshape(const Val &value, const Ints &dims);
  Val transpose(const Val &value, const Ints &permutation);
  Val slice(const Val &value, const Ints &start, const Ints &limit, const Ints &stride = {});
  /// Returns the elements [start, limit) of one dim.
  Val sliceDim(const Val &value, int64_t dim, int64_t start, int64_t limit);
  Val pad(const Val &value, const Val &with, const Ints &low, const Ints &high, const Ints &interior = {});
  Val concatenate(const std::vector<Val> &values, int64_t dim);
  Val iota(const Shape &shape, int64_t dim);
  Val compare(const Val &a, const Val &b, std::string_view direction);
  Val select(const Val &condition, const Val &a, const Val &b);
  /// Reduces `dims` with the operation `name`, for example "stablehlo.add", which combines two scalars.
  Val reduce(const Val &value, const Val &init, const Ints &dims, std::string_view name);
  Val dot(const Val &a, const Val &b, const Ints &batchA, const Ints &batchB, const Ints &contractA,
          const Ints &contractB);
  /// Returns the lowest, or the highest, value of a type: -inf, or inf, for floats.
  Val lowest(DType dtype);
  Val highest(DType dtype);

  Val add(const Val &a, const Val &b) { return op("stablehlo.add", {a, b}); }
  Val sub(const Val &a, const Val &b) { return op("stablehlo.subtract", {a, b}); }
  Val mul(const Val &a, const Val &b) { return op("stablehlo.multiply", {a, b}); }
  Val div(const Val &a, const Val &b) { return op("stablehlo.divide", {a, b}); }
  Val neg(const Val &a) { return op("stablehlo.negate", {a}); }
  /// Returns a constant of the shape of `like`.
  Val like(const Val &like, double value) { return constant(value, like.shape); }

private:
  runtime::Status finishFunction(const std::vector<Val> &results);
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Returns the attribute's text, for example "array<i64: 1, 0>".
std::string arrayText(const Ints &values);
/// Returns the attribute's text, for example "1 : i64".
std::string intText(int64_t value);

//===-- Operators -----------------------------------------------------------===//

/// The application of one operator that is being emitted.
struct Call {
  Emitter &e;
  const std::vector<Arg> &args;
  const std::vector<Val> &operands;
  const std::vector<Shape> &results; ///< the types that the front end expects

  bool has(size_t index) const;
  /// Returns an operand that is a tensor, or a number (a parameter or a constant of the program).
  Val val(size_t index) const;
  std::optional<Val> optional(size_t index) const;
  std::vector<std::optional<Val>> vals(size_t index) const;
  int64_t integer(size_t index, int64_t otherwise = 0) const;
  double real(size_t index, double otherwise = 0) const;
  bool flag(size_t index, bool otherwise = false) const;
  std::string text(size_t index) const;
  Ints ints(size_t index) const;
  /// Returns the shape that the front end expects of a result; fails if the front end has no type inference.
  const Shape &out(size_t index = 0) const;
};

using EmitFunction = std::function<std::vector<Val>(const Call &)>;

struct Op {
  std::string name;
  EmitFunction emit;
  /// True if the operator's numbers determine shapes or code: they become constants of the program instead of parameters.
  bool numbersAreStatic = false;
  /// Distinguishes operators of one name that are made from graphs: equal for equal graphs.
  std::string identity = {};
  /// True if other processes of the world take part in the operator.
  bool meetsOthers = false;
};

/// Returns the operator of that name ("aten::add.Tensor"), or null if there is no emission for it.
const Op *findOp(std::string_view name);
std::vector<std::string> opNames();

/// Emits `op` for these operands in a function of its own and returns Ok if the emission produces exactly `results`. Front ends check every signature
/// once; operators whose check fails are decomposed or run on the CPU.
runtime::Status check(const Op *op, const std::vector<Value> &operands, const std::vector<Arg> &args,
                      const std::vector<Shape> &results);
/// Returns the types that the emission of `op` produces, for front ends without a type inference of their own.
runtime::StatusOr<std::vector<Shape>> infer(const Op *op, const std::vector<Value> &operands,
                                            const std::vector<Arg> &args);

/// Emits one node. Unless `promised` is null, checks that its types are those that the front end reported to its user.
std::vector<Val> emitNode(Emitter &e, const Op *op, const std::vector<Arg> &args, const std::vector<Val> &operands,
                          const std::vector<Shape> *promised);

struct ProgramOptions {
  /// Per leaf the index of the result that may take its memory, or -1; an empty vector means that no leaf is donated.
  std::vector<int64_t> donations;
  /// If true, numbers are the last parameters: one parameter of all floats and one of all integers (where there are any), after one parameter for
  /// each other leaf, in order. If false, every leaf is a parameter.
  bool packNumbers = false;
  bool withPlaces = false; ///< the user's lines as locations
  /// The number of devices that the program is for.
  int64_t partitions = 1;
  /// The number of processes of the world. A program without collectives between processes is emitted for one.
  int64_t replicas = 1;
};
/// Returns the StableHLO text of a schedule.
runtime::StatusOr<std::string> emitProgram(const Schedule &schedule, const std::vector<Value> &roots,
                                           const ProgramOptions &options = {});

/// Emits a schedule with the user's lines as locations, in a context of the compiler.
runtime::StatusOr<TracedModule> emitModule(const Schedule &schedule, const std::vector<Value> &roots, const ProgramOptions &options);

/// Returns the sharding if the operation that computes the value is an annotation; otherwise null.
ShardingPtr annotationOf(const Node *node, uint32_t index = 0);
/// Returns true if a value of the schedule is sharded or annotated.
bool isForSeveralDevices(const Schedule &schedule);

/// The values that were emitted for nodes, one per result.
using Emitted = std::unordered_map<const Node *, std::vector<Val>>;
/// Emits the nodes of `schedule` at the emitter's insertion point. `values` has the leaves' values before the call and the nodes' values afterwards.
runtime::Status emitNodes(Emitter &e, const Schedule &schedule, Emitted &values);

/// Fills the table of findOp(). Each family of emit/ adds its own names.
class Registry {
public:
  void add(std::initializer_list<const char *> names, EmitFunction emit, bool numbersAreStatic = false);
  static Registry &get();
  std::vector<std::unique_ptr<Op>> ops;
};
void registerElementwise(Registry &);
void registerReductions(Registry &);
void registerContractions(Registry &);
void registerMovement(Registry &);
void registerIndexing(Registry &);
void registerNormalization(Registry &);
void registerPooling(Registry &);
void registerRandom(Registry &);
void registerFourier(Registry &);
void registerFactorizations(Registry &);
void registerMatrixFunctions(Registry &);
void registerCumulative(Registry &);
void registerSorting(Registry &);
void registerSelection(Registry &);
void registerHistograms(Registry &);
void registerNumbers(Registry &);
void registerGamma(Registry &);
void registerIndexReduce(Registry &);
void registerSpecial(Registry &);
void registerLosses(Registry &);
void registerActivations(Registry &);
void registerResampling(Registry &);
void registerBatchNormalization(Registry &);
void registerEmbeddingBags(Registry &);
void registerAttention(Registry &);
void registerDistances(Registry &);
void registerGridSampling(Registry &);
void registerWindowMaxima(Registry &);
void registerSegments(Registry &);
void registerScatter(Registry &);
void registerTemporalClassification(Registry &);
void registerShardings(Registry &);

/// Returns PyTorch's promotion of two types of the same category.
DType promote(DType a, DType b);
/// Returns the type in which PyTorch computes with these operands. Tensors with dims take precedence over tensors without dims, and these over
/// numbers, unless an operand of lower precedence is of a higher category (bool < integer < float < complex).
DType commonType(const std::vector<Val> &values);
/// Returns f32 for bf16 and f16, else the type itself: PyTorch computes in this type and rounds the result once.
DType mathType(DType dtype);

} // namespace millrace::tracing
