// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Emit.h - From recorded operations to StableHLO ----------------------===//
// Emitter builds one function. Operations are created by name and get their types from the dialect's own inference, so
// that the files of emit/ need no MLIR headers. Errors stick: after the first one every value is invalid.
#pragma once
#include "tracing/Origin.h"
#include "tracing/TracedModule.h"

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

/// Attribute name and its text.
using NamedText = std::pair<std::string, std::string>;
using Ints = std::vector<int64_t>;
using Body = std::function<std::vector<Val>(const std::vector<Val> &)>;
/// A region of an operation: the types of its arguments, and what it returns for them.
struct Region {
  std::vector<Shape> arguments;
  Body body;
};

class Emitter {
public:
  /// In a context that all emitters of this kind share: they take turns.
  Emitter();
  /// In the context of `target`, whose module it becomes with finishModule().
  explicit Emitter(TracedModule &target);
  ~Emitter();
  Emitter(const Emitter &) = delete;

  //===-- The function ------------------------------------------------------===//
  /// `donatedTo`: index of the result that may overwrite the parameter, or -1. `sharding`: an attribute.
  Val parameter(const Shape &shape, int64_t donatedTo = -1);
  Val parameter(const Shape &shape, int64_t donatedTo, const NamedText &sharding);
  /// The program is written for that many devices.
  void partitions(int64_t count);
  /// The program is one of so many replicas, if anything in it has to do with the others.
  void replicas(int64_t count);
  /// The sharding of a result: an attribute.
  void resultSharding(size_t index, const NamedText &sharding);
  /// Ends the function; the module's text, or the first error. `withPlaces`: with the locations of at().
  runtime::StatusOr<std::string> finish(const std::vector<Val> &results, bool withPlaces = false);
  /// The same into the module of the constructor, with the locations of at().
  runtime::Status finishModule(const std::vector<Val> &results);
  /// What follows is emitted for `operation` (none: an argument), which stands there in the user's program.
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
  /// Repeats `body` as long as `goesOn` of its values, a boolean, holds. Neither may use values from outside.
  std::vector<Val> loop(const std::vector<Val> &initial, const std::function<Val(const std::vector<Val> &)> &goesOn,
                        const Body &body);

  /// An operation without results.
  void effect(std::string_view name, const std::vector<Val> &operands, const std::vector<NamedText> &attributes);

  //===-- What most operators are made of -----------------------------------===//
  Val constant(double value, const Shape &shape);
  Val constant(int64_t value, const Shape &shape);
  Val constantInts(const Ints &values, const Shape &shape);
  Val constantReals(const std::vector<double> &values, const Shape &shape);
  Val convert(const Val &value, DType dtype);
  Val broadcastInDim(const Val &value, const Ints &dims, const Ints &mapping);
  /// NumPy's rule: dims are aligned at the end.
  Val broadcast(const Val &value, const Ints &dims);
  Val reshape(const Val &value, const Ints &dims);
  Val transpose(const Val &value, const Ints &permutation);
  Val slice(const Val &value, const Ints &start, const Ints &limit, const Ints &stride = {});
  /// [start, limit) of one dim.
  Val sliceDim(const Val &value, int64_t dim, int64_t start, int64_t limit);
  Val pad(const Val &value, const Val &with, const Ints &low, const Ints &high, const Ints &interior = {});
  Val concatenate(const std::vector<Val> &values, int64_t dim);
  Val iota(const Shape &shape, int64_t dim);
  Val compare(const Val &a, const Val &b, std::string_view direction);
  Val select(const Val &condition, const Val &a, const Val &b);
  /// `name` combines two scalars: "stablehlo.add".
  Val reduce(const Val &value, const Val &init, const Ints &dims, std::string_view name);
  Val dot(const Val &a, const Val &b, const Ints &batchA, const Ints &batchB, const Ints &contractA,
          const Ints &contractB);
  /// Lowest or highest value of a type, -inf and inf for floats.
  Val lowest(DType dtype);
  Val highest(DType dtype);

  Val add(const Val &a, const Val &b) { return op("stablehlo.add", {a, b}); }
  Val sub(const Val &a, const Val &b) { return op("stablehlo.subtract", {a, b}); }
  Val mul(const Val &a, const Val &b) { return op("stablehlo.multiply", {a, b}); }
  Val div(const Val &a, const Val &b) { return op("stablehlo.divide", {a, b}); }
  Val neg(const Val &a) { return op("stablehlo.negate", {a}); }
  /// A constant of the shape of `like`.
  Val like(const Val &like, double value) { return constant(value, like.shape); }

private:
  runtime::Status finishFunction(const std::vector<Val> &results);
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// "array<i64: 1, 0>"
std::string arrayText(const Ints &values);
/// "1 : i64"
std::string intText(int64_t value);

//===-- Operators -----------------------------------------------------------===//

/// One operator application under emission.
struct Call {
  Emitter &e;
  const std::vector<Arg> &args;
  const std::vector<Val> &operands;
  const std::vector<Shape> &results; ///< what the front end expects

  bool has(size_t index) const;
  /// A tensor, or a number: a parameter of the program, or a constant.
  Val val(size_t index) const;
  std::optional<Val> optional(size_t index) const;
  std::vector<std::optional<Val>> vals(size_t index) const;
  int64_t integer(size_t index, int64_t otherwise = 0) const;
  double real(size_t index, double otherwise = 0) const;
  bool flag(size_t index, bool otherwise = false) const;
  std::string text(size_t index) const;
  Ints ints(size_t index) const;
  /// What the front end expects; fails where it has no inference of its own.
  const Shape &out(size_t index = 0) const;
};

using EmitFunction = std::function<std::vector<Val>(const Call &)>;

struct Op {
  std::string name;
  EmitFunction emit;
  /// Its numbers decide about shapes or code: they are constants of the program, not parameters.
  bool numbersAreStatic = false;
  /// Tells apart operators of one name that are made from graphs: equal for equal graphs.
  std::string identity = {};
  /// Other processes of the world take part in it.
  bool meetsOthers = false;
};

/// The operator of that name ("aten::add.Tensor"), or null if there is no emission for it.
const Op *findOp(std::string_view name);
std::vector<std::string> opNames();

/// The emission of `op` for these operands in a function of its own: Ok if it produces exactly `results`. Front ends ask
/// once per signature and decompose or run on the CPU what cannot be emitted.
runtime::Status check(const Op *op, const std::vector<Value> &operands, const std::vector<Arg> &args,
                      const std::vector<Shape> &results);
/// The types that the emission of `op` produces: for front ends that have no inference of their own.
runtime::StatusOr<std::vector<Shape>> infer(const Op *op, const std::vector<Value> &operands,
                                            const std::vector<Arg> &args);

/// Emits one node; checks the types that the front end promised to its user (unless `promised` is null).
std::vector<Val> emitNode(Emitter &e, const Op *op, const std::vector<Arg> &args, const std::vector<Val> &operands,
                          const std::vector<Shape> *promised);

struct ProgramOptions {
  /// Per leaf the result that may take its memory, or -1; empty: none.
  std::vector<int64_t> donations;
  /// The numbers come last, as one parameter of all floats and one of all integers (where there are any); the other leaves
  /// are the parameters before, in order. Else every leaf is a parameter.
  bool packNumbers = false;
  bool withPlaces = false; ///< the user's lines as locations
  /// Devices that the program is for.
  int64_t partitions = 1;
  /// Processes of the world; a program that meets none of them is for one.
  int64_t replicas = 1;
};
/// StableHLO text of a schedule.
runtime::StatusOr<std::string> emitProgram(const Schedule &schedule, const std::vector<Value> &roots,
                                           const ProgramOptions &options = {});

/// The same with the user's lines, in a context of the compiler's.
runtime::StatusOr<TracedModule> emitModule(const Schedule &schedule, const std::vector<Value> &roots, const ProgramOptions &options);

/// The sharding that a value is annotated with by the operation that computes it; null if that is no annotation.
ShardingPtr annotationOf(const Node *node, uint32_t index = 0);
/// Something in the schedule is in parts or annotated.
bool isForSeveralDevices(const Schedule &schedule);

/// Values of nodes, per result, during an emission.
using Emitted = std::unordered_map<const Node *, std::vector<Val>>;
/// The nodes of `schedule` where the emitter stands; `values` has its leaves before, its nodes afterwards.
runtime::Status emitNodes(Emitter &e, const Schedule &schedule, Emitted &values);

/// For the families in emit/: fills the table of findOp(), each with its own names.
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

/// PyTorch's promotion of two types; `a` and `b` of equal category.
DType promote(DType a, DType b);
/// The type in which PyTorch computes with these operands: tensors with dims decide over those without, these over
/// numbers, unless a later one is of a higher category (bool < integer < float < complex).
DType commonType(const std::vector<Val> &values);
/// f32 for bf16 and f16, else the type itself: PyTorch computes in it and rounds once.
DType mathType(DType dtype);

} // namespace millrace::tracing
