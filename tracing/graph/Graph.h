// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Graph.h - Pending operations of a front end ------------------------===//
// A front end records one Node per operation. A node without an operation is a leaf: it has buffers (a tensor that was uploaded or computed) or a
// number (a scalar of the user's program, which is a parameter of the compiled one). When a graph has been executed, its roots become leaves and
// release their operands.
#pragma once
#include "tracing/spmd/Sharding.h"

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <variant>
#include <vector>

namespace millrace::tracing {

using runtime::DType;

struct Shape {
  DType dtype = DType::Invalid;
  std::vector<int64_t> dims;
  bool operator==(const Shape &) const = default;
  int64_t count() const;
  /// "f32[2,3]"
  std::string toString() const;
};

struct Node;
struct Op;
using NodePtr = std::shared_ptr<Node>;

/// One result of a node.
struct Value {
  NodePtr node;
  uint32_t index = 0;
  explicit operator bool() const { return node != nullptr; }
  const Shape &shape() const;
};

/// The index of a tensor argument in Node::operands; -1 if an optional tensor is absent.
struct Operand {
  int32_t index = -1;
  bool operator==(const Operand &) const = default;
};

/// An argument of an operator, in the order of its PyTorch schema.
using Arg = std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                         DType, Operand, std::vector<Operand>>;

/// A hash of 128 bits that identifies a content; every process computes the same.
struct Digest {
  uint64_t low = 0, high = 0;
  bool operator==(const Digest &) const = default;
  std::string toString() const; ///< 32 hex digits
  static Digest of(std::string_view content);
};
struct DigestHash {
  size_t operator()(const Digest &digest) const { return digest.low; }
};

/// The properties that nodes of the same operator, arguments and types share. Kinds are interned: equal kinds are one object, which is never freed.
struct Kind {
  const Op *op; ///< null for leaves
  std::vector<Arg> args;
  std::vector<Shape> results;
  Digest digest; ///< hash of the operator's name, args and results
};
const Kind *kindOf(const Op *op, std::vector<Arg> args, std::vector<Shape> results);

/// A place in the user's program. Only the front end can interpret it (Origin.h).
struct Origin {
  const void *code = nullptr;
  int64_t offset = 0;
  explicit operator bool() const { return code; }
};

struct Node {
  const Op *op; ///< null for a leaf
  const Kind *const kind; ///< of a leaf that was computed: the kind of the node that computed it
  const std::vector<Arg> &args;
  const std::vector<Shape> &results;
  std::vector<Value> operands;
  /// Of a leaf: one buffer per result; null for a result without users.
  std::vector<runtime::BufferPtr> buffers;
  /// Of a leaf that is a number: its value, as the bits of a double, int64 or bool (results[0].dtype is F64, I64 or I1).
  uint64_t bits = 0;
  Origin origin;
  /// Of a collective between processes: its position in the order of recording (Exchanges.h).
  uint64_t exchange = 0;
  /// True for a number that is written in the user's program: only its category takes part in type promotion.
  bool isWeak = false;
  /// True for a leaf without a value, a parameter of a graph that becomes an operator (Composite.h).
  bool isParameter = false;
  /// Of a leaf: true if another leaf aliases its memory, which therefore must not be donated.
  bool isShared = false;
  /// Of a leaf: bit i says that the user donates the memory of result i, although a tensor still refers to it. See Session::sync().
  uint32_t givenUp = 0;

  /// The state of the current traversal, see schedule().
  struct {
    bool isRoot = false, survives = false;
    uint32_t number = 0, uses = 0;
    uint64_t epoch = 0;
  } visit;

  /// Of a leaf under SPMD: the shards of the results that are sharded.
  std::shared_ptr<Spread> spread;

  explicit Node(const Kind *kind) : op(kind->op), kind(kind), args(kind->args), results(kind->results) {}
  Node(const Node &) = delete;
  ~Node(); ///< not recursive, because chains of many thousand nodes are common
  bool isLeaf() const { return !op; }
  bool isNumber() const { return !op && buffers.empty() && !isParameter; }
};

/// Makes a leaf that has a number as its value.
Value number(double value, bool isWeak = true);
Value number(int64_t value, bool isWeak = true);
Value number(bool value, bool isWeak = true);
/// Makes a leaf that has a tensor as its value; without a buffer it is a placeholder for one.
Value leaf(runtime::BufferPtr buffer, Shape shape);
Value leaf(Shards shards, Shape shape);
/// Returns a new tensor with the value of `value`. If that is a leaf, the result is a leaf that aliases its memory, and each of them gets new memory
/// when it is written to. A program may donate the memory of either if the other one no longer exists when the program runs.
Value copyOf(const Value &value);
/// Makes a leaf that is a placeholder for a tensor.
Value parameter(Shape shape);
/// Records a node for `op`. `results` are the types that its emission must produce (infer() of Emit.h computes them).
Value record(const Op *op, std::vector<Value> operands, std::vector<Arg> args, std::vector<Shape> results);
Value record(const Kind *kind, std::vector<Value> operands);
/// Records a node whose kind and place are known already.
Value record(const Kind *kind, std::vector<Value> operands, const Origin &origin);
/// Returns the shards of a leaf, or null if it is not sharded.
const Shards *shardsOf(const Value &leaf);
/// Returns the number of operations that this process has recorded.
uint64_t recordedOperations();
/// Sets the function that record() calls for every node, on the recording thread. The function must not throw. Null removes it.
void setRecordObserver(void (*observer)(const Value &made));

/// The pending nodes that `roots` depend on, operands first; collectives between processes are in the order in which they were recorded. `leaves` are
/// in the order of their first use.
struct Schedule {
  std::vector<Node *> nodes;
  std::vector<long> holders; ///< per node the number of references to it from inside and outside of the graph
  std::vector<Value> leaves;
  /// Schedules with equal keys are the same program for other leaves.
  Digest key;
};
/// Computes the schedule of `roots`. The nodes of `outside` count as leaves although they are pending: they are the inputs of a part of a graph.
/// The traversal marks nodes in Node::visit, under Session::mutex; afterwards visit.uses of a node is the number of operands of scheduled nodes that
/// refer to it.
Schedule schedule(const std::vector<Value> &roots, const std::unordered_set<const Node *> &outside = {});

/// Returns the number of pending operations that `root` depends on; stops counting at `most`.
size_t graphSize(const Value &root, size_t most);

} // namespace millrace::tracing
