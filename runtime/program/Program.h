// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Program.h - What the compiler hands to the runtime ------------------===//
// Plain structs; `serialize` and `parse` convert them to and from the bytes that the cache stores and `.mr` files hold
// (Program.fbs plus a checksummed 64-byte header). The compiler fills these structs and never sees flatbuffers.
//
// How a program runs. The entry function (index `entry`) is executed once per device. A *function* owns a table of
// *slots* (places in memory), a table of run-time *dims* (int64 values) and a list of *steps* executed in order.
// Every step reads and writes slots. A slot gets its address when the function is entered:
//
//   Slot::Argument  index = position in Function::arguments. Read-only, except when a result aliases it (below).
//   Slot::Result    index = position in Function::results. Static shape: memory of the caller (for the entry function
//                   the result buffer itself: writing it directly avoids a copy). Run-time shape: like Dynamic.
//   Slot::Constant  index = position in Program::constants. Read-only.
//   Slot::Arena     offset into the arena of this function; `bytes` long. Slots may overlap: that is the memory plan.
//   Slot::Dynamic   for values whose shape is known at run time only. Allocated by the step that writes it (as an
//                   output of kernel, copy, collective, custom_call or call) with the size its dims have at that time;
//                   freed after its last use. Writing it again reallocates only when it grows.
//   Slot::View      the memory of slot `index` (any kind but View) from byte `offset` on: a slice without a copy.
//
// All buffers are row-major and 64-byte aligned (arguments too: the runtime copies where a client's memory is not).
// Arena, Result and Dynamic memory is *not* zeroed. Small types: one element per byte (DType.h).
//
// Aliasing. `Result::aliasArgument = k` is a promise by the runtime: in the entry function the slots Argument(k) and
// that Result are the same memory, initialised with the argument's value (the donated buffer, or a copy of it when the
// caller keeps it). The compiler must order reads of the argument before overwriting writes. `Argument::donated` alone
// (no result aliases it) lets the runtime free the buffer after the run.
//
// Preparation. Where `Program::preparation` names a function, the entry function has more arguments than the program: the last ones are that
// function's results. The runtime runs it when one of the arguments that it reads is another buffer than before, keeps the results, and gives them
// to every execution. They are a function of these arguments alone.
//
// Dims. Shapes known at run time are written with run-time dims. `Function::numDims` values exist per activation.
// They are set (1) at entry by `Function::dimBindings`, in order; (2) by a SetDims step, from memory or an expression;
// (3) when a call returns or a loop iterates: the dims named by the written slots are updated with the shapes of the
// value. A dim that nobody has set is 0. A program without `?` has none of all this.
//
// Kernels trust sizes: two operands of an addition are read up to one size. What they rely on and only a run knows is a SizeCheck, which the runtime
// evaluates before the kernel runs: when the function is entered if it is about sizes of arguments alone (Function::checks), else in a SetDims step.
#pragma once
#include "runtime/base/DType.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace millrace::runtime {

/// Fact: a dimension without static size in a TensorSpec; the value of mlir::ShapedType::kDynamic.
inline constexpr int64_t kDynamic = std::numeric_limits<int64_t>::min();
/// Fact: a mark: no index.
inline constexpr uint32_t kNone = ~uint32_t(0);
/// Fact: version of everything in this header and of the kernel ABI; a program of another version is refused.
inline constexpr uint32_t kProgramAbiVersion = 3;

/// Type of an argument or result of the entry function, as a client sees it.
struct TensorSpec {
  DType dtype = DType::Invalid;
  std::vector<int64_t> dims;         ///< kDynamic for `?`
  std::vector<int64_t> bounds;       ///< empty, or one per dim: upper bound of a `?`, kDynamic where there is none
  std::vector<int64_t> minorToMajor; ///< empty: row-major (the only layout buffers have today)
  std::string name;                  ///< for messages; may be empty
  std::string sharding;              ///< mhlo.sharding or sdy.sharding text; may be empty
  std::string memoryKind;            ///< "device" when empty
  bool operator==(const TensorSpec &) const = default;
};

struct Argument : TensorSpec {
  bool donated = false; ///< the caller gives the buffer up (jax.buffer_donor, tf.aliasing_output)
  bool operator==(const Argument &) const = default;
};

struct Result : TensorSpec {
  uint32_t aliasArgument = kNone; ///< see "Aliasing" above
  bool operator==(const Result &) const = default;
};

/// Read-only bytes. Owns them or keeps their owner alive. Serialization stores equal constants once.
struct Constant {
  static Constant copy(const void *data, size_t size);
  static Constant borrow(const void *data, size_t size, std::shared_ptr<const void> owner) {
    return Constant{static_cast<const uint8_t *>(data), size, std::move(owner)};
  }
  const uint8_t *data = nullptr;
  size_t size = 0;
  std::shared_ptr<const void> owner;
};

/// One dimension of a slot: a constant or the run-time dim with that index.
struct Dim {
  static Dim constant(int64_t value) { return {value, false}; }
  static Dim runtime(uint32_t index) { return {int64_t(index), true}; }
  int64_t value = 0;
  bool isRuntime = false;
  bool operator==(const Dim &) const = default;
};

/// Integer arithmetic over run-time dims, in postfix order.
struct DimExpr {
  enum class Op : uint8_t { Constant, Dim, Add, Sub, Mul, FloorDiv, CeilDiv, Mod, Min, Max };
  struct Term {
    Op op = Op::Constant;
    int64_t value = 0; ///< the constant, or the index of the dim; unused by the others
    bool operator==(const Term &) const = default;
  };
  static DimExpr constant(int64_t value) { return {{{Op::Constant, value}}}; }
  static DimExpr dim(uint32_t index) { return {{{Op::Dim, int64_t(index)}}}; }
  static DimExpr of(Dim d) { return d.isRuntime ? dim(uint32_t(d.value)) : constant(d.value); }
  static DimExpr binary(Op op, DimExpr lhs, const DimExpr &rhs) {
    lhs.terms.insert(lhs.terms.end(), rhs.terms.begin(), rhs.terms.end());
    lhs.terms.push_back({op, 0});
    return lhs;
  }
  bool isConstant() const { return terms.size() == 1 && terms[0].op == Op::Constant; }
  std::vector<Term> terms; ///< never empty in a valid program
  bool operator==(const DimExpr &) const = default;
};

/// Sets run-time dim `dim` when the function is entered: to the size of axis `axis` of argument `argument`, or, when
/// `argument` is kNone, to `expr` over dims set before. (Afterwards the runtime compares the shape of every argument
/// with the dims of its slot, and evaluates Function::checks.)
struct DimBinding {
  uint32_t dim = 0;
  uint32_t argument = kNone;
  uint32_t axis = 0;
  DimExpr expr;
  bool operator==(const DimBinding &) const = default;
};

/// What an operation requires of sizes that only a run knows. Where it does not hold, kernels would access memory beyond their buffers, so the execution
/// ends with an error before.
struct SizeCheck {
  enum class Relation : uint8_t { Equal, AtLeast, AtMost, OneOrEqual }; ///< OneOrEqual: `size` is 1 (it is broadcast) or `bound`
  DimExpr size;
  Relation relation = Relation::Equal;
  DimExpr bound;
  uint32_t location = kNone; ///< index into Program::locations, of the operation
  bool operator==(const SizeCheck &) const = default;
};

struct Slot {
  enum class Kind : uint8_t { Argument, Result, Constant, Arena, Dynamic, View };
  Kind kind = Kind::Arena;
  uint32_t index = 0;  ///< see the list at the top; unused by Arena and Dynamic
  uint64_t offset = 0; ///< Arena, View: multiple of 64 for Arena; any element boundary for View
  uint64_t bytes = 0;  ///< static size; 0 for a slot with run-time dims
  DType dtype = DType::Invalid;
  std::vector<Dim> dims; ///< empty = scalar
  bool isStatic() const {
    for (const Dim &d : dims)
      if (d.isRuntime)
        return false;
    return true;
  }
  bool operator==(const Slot &) const = default;
};

using SlotId = uint32_t; ///< index into Function::slots of the function that contains the step

struct Step;
using Steps = std::vector<Step>;

/// Calls machine code over the range [0, end), possibly in pieces on several threads:
///   int32_t f(void **buffers, const int64_t *dims, int64_t begin, int64_t end)
/// buffers = inputs, then outputs, then (only if scratchBytes > 0) a 64-byte aligned scratch area of this call alone.
/// dims[i] = run-time dim `dims[i]` (nullptr allowed when there are none). A result other than 0 is an error: it ends
/// the execution with a message that has the code, the kernel and the location (codes: KernelError).
/// An output slot may also be an input (in place); outputs must not overlap other inputs.
struct KernelStep {
  uint32_t kernel = 0; ///< index into Program::kernels
  std::vector<SlotId> inputs, outputs;
  std::vector<uint32_t> dims;
  DimExpr end = DimExpr::constant(1);
  /// Cost of one iteration in picoseconds (estimate; 0 = unknown, runs on one thread). The runtime cuts the range into
  /// tasks of at least some 20 microseconds; a range cheaper than two tasks runs inline on the calling thread.
  uint64_t picosecondsPerIteration = 0;
  /// Pieces begin at multiples of this (>= 1): set it to the tile size where the kernel wants whole tiles.
  uint64_t granularity = 1;
  uint64_t scratchBytes = 0;
  bool operator==(const KernelStep &) const = default;
};

/// Error codes that kernels return; others are printed as numbers.
enum KernelError : int32_t { kKernelOk = 0, kKernelOutOfBounds = 1, kKernelOutOfMemory = 2, kKernelShapeMismatch = 3 };

/// while: run `cond`; if the i1 in slot `predicate` is 0, stop; run `body`; state := next for all pairs at once; again.
/// `next` may be a slot that `body` writes, or the state slot of another pair (a permutation), or itself (unchanged).
/// The runtime exchanges addresses instead of copying where it can; after the loop every slot has its own address again
/// and the state slots hold the result. Hence: state and next have equal shapes (or run-time dims), and where they are
/// Arena slots they must not share memory with each other or with anything else live inside the loop. Slots which alias
/// (View of) a state or next slot are not allowed.
struct LoopStep {
  struct Carried {
    SlotId state = 0, next = 0;
    bool operator==(const Carried &) const = default;
  };
  Steps cond;
  SlotId predicate = 0;
  Steps body;
  std::vector<Carried> carried;
  bool operator==(const LoopStep &) const;
};

/// if / case. The slot `index` is i32 (case: out of range selects the last branch) or i1 (if: branch 0 when true,
/// branch 1 when false). The steps of the branches write the result slots themselves (end them with copies if needed).
struct CondStep {
  SlotId index = 0;
  std::vector<Steps> branches;
  bool operator==(const CondStep &) const;
};

/// Calls another function (no recursion). Argument and result slots are passed by address: no copies. The callee's
/// arena (Function::arenaBytes of the callee) is the piece of the caller's arena that begins at `arenaOffset`; nothing
/// the caller has live may lie in it.
struct CallStep {
  uint32_t function = 0;
  std::vector<SlotId> arguments, results;
  uint64_t arenaOffset = 0;
  bool operator==(const CallStep &) const = default;
};

/// memmove of the value; of the shorter one where a side has run-time dims (rows that exist), else sizes must be equal. Such dims are set before the
/// step.
struct CopyStep {
  SlotId source = 0, destination = 0;
  bool operator==(const CopyStep &) const = default;
};

/// Writes `pattern` (1, 2, 4, 8 or 16 bytes: one element) over the whole slot.
struct FillStep {
  SlotId destination = 0;
  std::vector<uint8_t> pattern;
  bool operator==(const FillStep &) const = default;
};

/// dim := element `element` of the integer tensor in `source`, or := expr if `source` is kNone. In order. The checks follow.
struct SetDimsStep {
  struct Entry {
    uint32_t dim = 0;
    SlotId source = kNone;
    uint64_t element = 0;
    DimExpr expr;
    bool operator==(const Entry &) const = default;
  };
  std::vector<Entry> entries;
  std::vector<SizeCheck> checks;
  bool operator==(const SetDimsStep &) const = default;
};

/// A StableHLO collective; attributes as in the specification. Variadic forms: arguments[i] belongs to results[i].
/// A result may share memory with its own argument for AllReduce only.
struct CollectiveStep {
  enum class Kind : uint8_t {
    AllReduce, AllGather, AllToAll, ReduceScatter, CollectivePermute, CollectiveBroadcast, CollectiveReduce
  };
  /// How replica_groups are to be read (specification, "Grouping strategies").
  enum class Groups : uint8_t { CrossReplica, CrossPartition, CrossReplicaAndPartition, FlattenedIds };
  enum class Reduction : uint8_t { None, Sum, Product, Min, Max, And, Or, Xor };
  Kind kind = Kind::AllReduce;
  std::vector<SlotId> arguments, results;
  Groups groupMode = Groups::CrossReplica;
  /// replica_groups; rows may have different lengths (-1 padding removed). For CollectivePermute: {source, target} each.
  std::vector<std::vector<int64_t>> groups;
  int64_t channel = 0;    ///< channel_id, 0 = none
  int64_t dimension = 0;  ///< all_gather_dim, scatter_dimension, concat_dimension of all_to_all
  int64_t dimension2 = 0; ///< split_dimension of all_to_all
  int64_t splitCount = 0; ///< of all_to_all
  int64_t root = 0;       ///< collective_reduce, collective_broadcast where they have one; else position 0 of the group
  /// Their root is a position that the last argument, one integer, names; it has no result.
  bool dynamicRoot = false;
  /// all_reduce, reduce_scatter, collective_reduce: a reduction the runtime knows for the type, or a kernel (used if not
  /// kNone) with the buffers {lhs, rhs, out, scratch}, the first three of kReducerElements flat elements each, that no
  /// two overlap. It runs over its whole range [0, reducerEnd) at once; what it makes of elements past the end is unused.
  Reduction reduction = Reduction::None;
  uint32_t reducer = kNone; ///< index into Program::kernels
  int64_t reducerEnd = 1;
  uint64_t reducerScratch = 0; ///< bytes
  /// One step, or two: what comes between Start and Done, in the same list of steps, neither writes the arguments nor touches the results.
  /// Done repeats the start's fields; `pair` tells the pairs of a function apart.
  enum class Phase : uint8_t { Both, Start, Done };
  Phase phase = Phase::Both;
  uint32_t pair = 0;
  /// Those of each buffer that a reducer is called with. Unit: elements. Source: judgement, not measured alone.
  static constexpr int64_t kReducerElements = 2048;
  std::string name;         ///< for messages: "all_reduce"
  bool operator==(const CollectiveStep &) const = default;
};

/// Attribute of a custom call (mhlo.backend_config dictionary, flattened).
struct Attribute {
  enum class Kind : uint8_t { Bool, Int, Float, String, IntArray, FloatArray, Dictionary };
  std::string name;
  Kind kind = Kind::Int;
  DType dtype = DType::I64; ///< width of Int, Float and the arrays
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::string string;
  std::vector<Attribute> children; ///< of Dictionary
  bool operator==(const Attribute &) const;
};

struct CustomCallStep {
  std::string target;
  int32_t apiVersion = 1;
  std::string backendConfig;
  std::vector<Attribute> attributes;
  std::vector<SlotId> arguments, results;
  /// Layouts that the call asks for; empty, or one minor-to-major list per operand (result). The runtime transposes.
  std::vector<std::vector<int64_t>> argumentLayouts, resultLayouts;
  /// {operand, result} pairs of output_operand_aliases: the runtime passes one buffer for both (copying before if needed).
  std::vector<std::pair<uint32_t, uint32_t>> aliases;
  bool hasSideEffect = false;
  bool operator==(const CustomCallStep &) const = default;
};

/// Writes the ui32 partition_id or replica_id of the executing device, or a ui64 for random numbers that no other step
/// of this execution, device or execution of the client gets.
struct DeviceIdStep {
  enum class Kind : uint8_t { Partition, Replica, RandomSeed };
  Kind kind = Kind::Partition;
  SlotId destination = 0;
  bool operator==(const DeviceIdStep &) const = default;
};

/// infeed, outfeed, send, recv. `slots` are written (infeed, recv) or read (outfeed, send).
struct TransferStep {
  enum class Kind : uint8_t { Infeed, Outfeed, Send, Recv };
  Kind kind = Kind::Infeed;
  std::vector<SlotId> slots;
  int64_t channel = 0;
  bool isHostTransfer = true;
  std::vector<std::pair<int64_t, int64_t>> sourceTargetPairs;
  std::string config; ///< infeed_config, outfeed_config
  bool operator==(const TransferStep &) const = default;
};

struct Step {
  std::variant<KernelStep, LoopStep, CondStep, CallStep, CopyStep, FillStep, SetDimsStep, CollectiveStep,
               CustomCallStep, DeviceIdStep, TransferStep>
      body;
  uint32_t location = kNone; ///< index into Program::locations
  bool operator==(const Step &) const = default;
};
inline bool LoopStep::operator==(const LoopStep &) const = default;
inline bool CondStep::operator==(const CondStep &) const = default;
inline bool Attribute::operator==(const Attribute &) const = default;

struct Function {
  std::string name;
  std::vector<Slot> slots;
  std::vector<SlotId> arguments; ///< slots of kind Argument, arguments[i] has index i
  std::vector<SlotId> results;   ///< slots of kind Result, results[i] has index i
  uint64_t arenaBytes = 0;       ///< including the arenas of the callees
  uint32_t numDims = 0;
  std::vector<DimBinding> dimBindings;
  std::vector<SizeCheck> checks; ///< evaluated when the dims are bound
  Steps steps;
  bool operator==(const Function &) const = default;
};

struct Kernel {
  std::string symbol;           ///< defined by one of the objects
  std::string name;             ///< "dot_general_12_4f3a", with the line of `location`: for profiles and messages
  std::vector<std::string> ops; ///< stablehlo operations that this machine code executes, one entry per operation
  double flops = 0, bytesAccessed = 0; ///< of one execution of the whole range
  uint32_t location = kNone;           ///< index into Program::locations of the line in `name`; kNone: there is none in it
  bool operator==(const Kernel &) const = default;
};

/// Sizes in bytes for --memory and PJRT; filled by the compiler.
struct MemoryStats {
  uint64_t arguments = 0, results = 0, aliased = 0, temporaries = 0, peak = 0, constants = 0, code = 0;
  bool operator==(const MemoryStats &) const = default;
};

struct Target {
  std::string triple;                ///< "x86_64-pc-linux-gnu"
  std::string cpu;                   ///< "znver4": informative
  std::vector<std::string> features; ///< LLVM names without sign, "avx512f": all must be present to load the program
  bool operator==(const Target &) const = default;
};

class KernelUpgrades;

/// See "Preparation" at the top.
struct Preparation {
  uint32_t function = kNone;         ///< index into Program::functions, kNone: there is none
  std::vector<uint32_t> arguments;   ///< of the program, one per argument of the function
  std::vector<TensorSpec> results;   ///< of static shape
  bool exists() const { return function != kNone; }
  bool operator==(const Preparation &) const = default;
};

struct Program {
  std::string producer; ///< "millrace 0.1.0 (LLVM 22.1.8)"
  std::string name;     ///< module name
  Target target;
  uint32_t numReplicas = 1, numPartitions = 1;
  std::vector<Argument> arguments; ///< of the entry function, but for those that its preparation makes
  std::vector<Result> results;
  std::vector<Constant> constants;
  std::vector<Function> functions;
  uint32_t entry = 0;
  Preparation preparation;
  std::vector<Kernel> kernels;
  std::vector<Constant> objects; ///< relocatable ELF objects with the kernels; loaded together
  std::vector<std::string> locations; ///< lines of the user's program, "train.py:12:3"; empty: unknown
  /// Per location the number of the operation or block argument of the compiled module whose location it is, kNone: of none. Modules that differ
  /// in locations alone share an entry of the cache, and relocate() gives the program the locations of each. Empty of programs without a cache.
  std::vector<uint32_t> locationSources;
  /// Operations of @main that no kernel executes because a step does (collectives, control flow, custom calls); with
  /// Kernel::ops this is the list that `xla-run --stats` prints.
  std::vector<std::string> stepOps;
  std::vector<std::string> customCallTargets; ///< distinct; resolved when the program is loaded
  MemoryStats memory;
  std::vector<std::pair<std::string, std::string>> metadata; ///< free: compile times, options, optimized module text
  /// Where better machine code will come from, else null: the tiered mode. Objects are in the order of kernels then. Not serialized.
  std::shared_ptr<KernelUpgrades> upgrades;
};

/// Bytes of a `.mr` file. The program must be valid: validate() is called and its error returned.
StatusOr<std::string> serialize(const Program &program);

/// Inverse of serialize. Verifies header, checksum, flatbuffer structure and meaning; any damage is an error (DataLoss),
/// another ABI version or magic is FailedPrecondition. Never crashes on any input. Constants and objects point into
/// `bytes` if it is 64-byte aligned and `owner` (which keeps it alive) is given, else they are copied.
StatusOr<Program> parse(std::string_view bytes, std::shared_ptr<const void> owner = nullptr);

/// Semantic checks, also part of serialize and parse: every index in range, arena slots inside the arena, static slots
/// with bytes = product of dims * byteSize(dtype), no recursion, kernels named, alias shapes equal.
Status validate(const Program &program);

/// serialize to `path` through a temporary file in the same folder and rename; read and parse (no copies of the constants).
Status writeFile(const Program &program, const std::string &path);
StatusOr<Program> readFile(const std::string &path);

/// The line that a location stands for; empty if it is unknown.
inline std::string_view locationOf(const Program &program, uint32_t location) {
  return location < program.locations.size() ? std::string_view(program.locations[location]) : std::string_view();
}

/// The name of a kernel whose root is in the line of `place`: "dot_general_12_4f3a".
std::string kernelName(std::string_view operation, std::string_view place, std::string_view fingerprint);

/// Sets every location to textOf(its source), and the lines in the names of kernels.
void relocate(Program &program, const std::function<std::string(uint32_t)> &textOf);

/// The program whose entry function is the preparation of `program`, with the same kernels; it has no objects of its own.
Program preparationOf(const Program &program);

/// One step per line, for --emit=program and tests.
std::string toText(const Program &program);

} // namespace millrace::runtime
