// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Graph.h - Operations that were recorded, but not run yet ------------===//
// A front end records one Node per operation. A node without an operation is a leaf: it has buffers (a tensor that was
// uploaded or computed) or a number (a scalar of the user's program, a parameter of the compiled one). When a graph has
// been run, its roots become leaves and let go of what they were computed from.
#pragma once
#include "tracing/Sharding.h"

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

/// Position in Node::operands; -1 where an optional tensor is absent.
struct Operand {
  int32_t index = -1;
  bool operator==(const Operand &) const = default;
};

/// An argument of an operation, in the order of its PyTorch schema.
using Arg = std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                         DType, Operand, std::vector<Operand>>;

/// 128 bits that stand for some content, in every process the same.
struct Digest {
  uint64_t low = 0, high = 0;
  bool operator==(const Digest &) const = default;
  std::string toString() const; ///< 32 hex digits
  static Digest of(std::string_view content);
};
struct DigestHash {
  size_t operator()(const Digest &digest) const { return digest.low; }
};

/// What nodes that were recorded alike have in common. Interned: equal kinds are one object, which lives for ever.
struct Kind {
  const Op *op; ///< null: of leaves
  std::vector<Arg> args;
  std::vector<Shape> results;
  Digest digest; ///< of the operator's name, args and results
};
const Kind *kindOf(const Op *op, std::vector<Arg> args, std::vector<Shape> results);

/// A place in the user's program; what it means, only the front end knows (Origin.h).
struct Origin {
  const void *code = nullptr;
  int64_t offset = 0;
  explicit operator bool() const { return code; }
};

struct Node {
  const Op *op; ///< null: a leaf
  const Kind *const kind; ///< of a leaf that was computed: what computed it
  const std::vector<Arg> &args;
  const std::vector<Shape> &results;
  std::vector<Value> operands;
  /// Of a leaf: one per result, null for a result that nobody needs.
  std::vector<runtime::BufferPtr> buffers;
  /// Of a leaf that is a number: its value, as bits of a double, int64 or bool (results[0].dtype F64, I64, I1).
  uint64_t bits = 0;
  Origin origin;
  /// Of an operation that meets other processes: its number among those that were recorded (Exchanges.h).
  uint64_t exchange = 0;
  /// A number written in the user's program: it takes part in type promotion by its category only.
  bool isWeak = false;
  /// A leaf without a value, of a graph that becomes an operator (Composite.h).
  bool isParameter = false;
  /// Of a leaf: another one shows the same memory, which is nobody's to give away.
  bool isShared = false;
  /// Of a leaf: bit i says that the user gives up the memory of result i, although a tensor shows it. See Session::sync().
  uint32_t givenUp = 0;

  /// Of the traversal under way, see schedule().
  struct {
    bool isRoot = false, survives = false;
    uint32_t number = 0, uses = 0;
    uint64_t epoch = 0;
  } visit;

  /// Of a leaf under SPMD: the results that are in parts.
  std::shared_ptr<Spread> spread;

  explicit Node(const Kind *kind) : op(kind->op), kind(kind), args(kind->args), results(kind->results) {}
  Node(const Node &) = delete;
  ~Node(); ///< not recursive: chains of many thousand nodes are common
  bool isLeaf() const { return !op; }
  bool isNumber() const { return !op && buffers.empty() && !isParameter; }
};

/// A leaf that holds a number.
Value number(double value, bool isWeak = true);
Value number(int64_t value, bool isWeak = true);
Value number(bool value, bool isWeak = true);
/// A leaf that holds a tensor; without a buffer it stands for one.
Value leaf(runtime::BufferPtr buffer, Shape shape);
Value leaf(Parts parts, Shape shape);
/// A tensor of its own with the value of another one. A leaf's is a leaf over the same memory, which both lose when they are
/// written to: a program may give the memory of either to a result, if no other shows it when it runs.
Value copyOf(const Value &value);
/// A leaf that stands for a tensor to be given later.
Value parameter(Shape shape);
/// A node for `op`; `results` are the types that its emission must produce (infer() of Emit.h computes them).
Value record(const Op *op, std::vector<Value> operands, std::vector<Arg> args, std::vector<Shape> results);
Value record(const Kind *kind, std::vector<Value> operands);
/// The same for a place that is known already.
Value record(const Kind *kind, std::vector<Value> operands, const Origin &origin);
/// The parts of a leaf, or null if it is whole.
const Parts *partsOf(const Value &leaf);
/// How many operations this process has recorded.
uint64_t recordedOperations();
/// From now on told of every node that record() makes, on the thread that does; must not throw. Null: nobody is.
void setRecordObserver(void (*observer)(const Value &made));

/// The nodes that `roots` depend on and that still have to run, operands first, and those that meet other processes in the order in which
/// they were recorded; `leaves` in the order of first use.
struct Schedule {
  std::vector<Node *> nodes;
  std::vector<long> holders; ///< of each node, inside and outside the graph
  std::vector<Value> leaves;
  /// Two schedules with equal keys are the same program with other leaves.
  Digest key;
};
/// `outside`: nodes that count as leaves although they still have to run; what a part of a graph begins with. Leaves its
/// marks in Node::visit, under Session::mutex; afterwards visit.uses of a node is the number of operands of the scheduled
/// nodes that it is.
Schedule schedule(const std::vector<Value> &roots, const std::unordered_set<const Node *> &outside = {});

/// How many operations `root` still needs; stops counting at `most`.
size_t graphSize(const Value &root, size_t most);

} // namespace millrace::tracing
