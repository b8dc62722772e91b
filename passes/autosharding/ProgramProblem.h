// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramProblem.h - Convert a program to a solver problem and back --===//
// A variable of the problem is an operation with its strategies, together with the elementwise operations that have its sharding; or an argument,
// result, constant or annotated value with its shardings. An edge has the cost of resharding a value for its reader.
#pragma once

#include "passes/autosharding/AutoSharding.h"
#include "passes/autosharding/CostModel.h"
#include "passes/autosharding/solver/Problem.h"
#include "passes/sharding/propagation/ModuleGraph.h"

#include "llvm/ADT/DenseSet.h"

#include <compare>
#include <map>

namespace millrace::autosharding {

/// Costs are whole picoseconds.
inline constexpr double kTicksPerSecond = 1e12;

/// A module that has been imported for propagation (passes/sharding), with one mesh.
class ProgramProblem {
public:
  /// Returns true if sums that no contraction waits for are planned to share messages.
  bool doSumsShareMessages() const;
  ProgramProblem(sharding::ModuleGraph &graph, CostModel &costs, mlir::Attribute meshRef, sdy::MeshAttr mesh);

  /// Takes the memory of the compiled program instead of the memory of every value. Before build().
  void setMemory(CompiledMemory of) { memory = std::move(of); }
  /// Values may take any number of bytes on a device. False if there would be too many choices, or pairs of them: then whyTooLarge() says which.
  bool build();
  llvm::StringRef whyTooLarge() const { return tooLarge; }
  /// Values may take at most `limit` bytes on a device. Once, after build().
  void limitMemory(int64_t limit);

  Problem problem; ///< costs in picoseconds; the first nodes are the variables, the others values that are live at other times than those

  /// Writes the shardings of every value, closed, and reshards where a reader wants another one. After limitMemory() each reader's copy is its own,
  /// as the plan counts: copies that simplification merges would live from the first reader to the last one.
  void apply(llvm::ArrayRef<uint32_t> choices);

  /// The choices that split nothing; nothing if an annotation asks for another sharding.
  std::optional<std::vector<uint32_t>> wholeChoices() const;

  /// The predicted cost of a plan per device.
  struct Estimate {
    double computing = 0, communicating = 0; ///< seconds
    double bytes = 0;                        ///< bytes that the device receives
  };
  Estimate estimate(llvm::ArrayRef<uint32_t> choices) const;
  /// The bytes of each value on a device. Values without an entry take none.
  llvm::DenseMap<mlir::Value, int64_t> bytesOfValues(llvm::ArrayRef<uint32_t> choices) const;
  bool isCompiled() const { return memory.has_value(); }
  int64_t devices() const { return mesh.getTotalSize(); }
  /// Returns the bytes on a device of results with memory of their own, and of constants, in the compiled program.
  int64_t bytesKept(llvm::ArrayRef<uint32_t> choices) const;
  /// Returns the peak bytes of values on a device.
  int64_t peak(llvm::ArrayRef<uint32_t> choices) const;

  /// Returns the largest groups of values of one kind and type at the time at which the values take most if each is split as far as possible:
  /// `4 x argument : tensor<8xf32> (64 bytes), ...`. Before apply().
  std::string largestGroups() const;
  /// The first tensor that the node of the problem decides: `argument 0 of @main : tensor<8xf32>`. Before apply().
  std::string describe(size_t node) const;
  /// Returns every tensor, in the order of the program. Must be called before apply().
  std::vector<PlannedTensor> explain(llvm::ArrayRef<uint32_t> choices) const;

private:
  /// The sharding of a tensor for each choice of a variable. `variable` is -1 for tensors without dimensions.
  struct Table {
    int variable = -1;
    std::vector<int> shardings; ///< indices into `known`
  };
  struct Variable {
    std::vector<Estimate> costs; ///< by choice
    struct Member {
      mlir::Value value; ///< null for a result of the program
      mlir::Type type;
      std::vector<int> shardings;
      int64_t begin, end;
      int64_t bytes = -1; ///< of all devices together; -1: those of the type
    };
    std::vector<Member> members; ///< values of the variable
  };
  /// The sharding that one reader needs.
  struct Reader {
    Table has, wants;
    mlir::Type type;
    double times; ///< number of its executions
  };

  int number(const sharding::TensorSharding &sharding);
  Table newVariable(llvm::ArrayRef<sharding::TensorSharding> choices);
  Table shardingVariable(int tensor, const sharding::TensorSharding *wanted);
  void addReader(const Table &has, const Table &wants, mlir::Type type, double times);
  void hold(const Table &table, mlir::Value value, mlir::Type type, int64_t begin, int64_t end, int64_t bytes = -1);
  void define(int tensor, Table natural, double times);
  bool isShared(int tensor) const;
  const sharding::TensorSharding *annotation(int tensor) const;
  mlir::Type typeOf(int tensor) const;

  void findReaders();
  double leastShareOfMessage(int node) const;
  void addSources();
  void addNode(int node);
  bool follow(int node, mlir::Operation *op, double times);
  void addBoundaries();
  void addMemory();
  void addCompiledMemory();
  int64_t bytesOf(const Variable::Member &member, size_t choice) const;
  bool isFew(size_t places, mlir::Location where, llvm::function_ref<std::string()> describe);
  /// What the costs of an edge are a sum of: those of one reader's reshards, or the condition that two tensors have equal shardings.
  struct PartOfEdge {
    const void *type; ///< of the value that is resharded; null for the condition
    double times;
    int rows, columns; ///< numbers of the lists of shardings of both ends
    bool isForward;    ///< the value has the shardings of the rows

    auto operator<=>(const PartOfEdge &other) const = default;
  };
  std::vector<int64_t> costsOf(llvm::ArrayRef<PartOfEdge> parts, llvm::ArrayRef<const std::vector<int> *> lists) const;
  bool collect();

  sharding::ModuleGraph &module;
  sharding::Graph &graph;
  CostModel &costs;
  mlir::Attribute meshRef;
  sdy::MeshAttr mesh;

  std::string tooLarge; ///< which choices were left out, because there are too many; empty if none were
  std::optional<CompiledMemory> memory;
  /// With `memory`: bytes that are the same for all choices, by begin and end.
  std::map<std::pair<int64_t, int64_t>, int64_t> fixed;
  std::vector<sharding::TensorSharding> known;
  std::map<std::string, int> numbers;
  std::vector<Variable> variables;
  /// By tensor: as its operation computes it, as the operation leaves it (sums may be scattered), as its readers find it.
  std::vector<Table> natural, made, kept;
  std::vector<llvm::SmallVector<Table, 3>> wanted; ///< by node and operand
  std::vector<Table> returned;               ///< by boundary
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<std::pair<mlir::Type, Table>, 2>> manualOperands; ///< global types and shardings
  std::vector<std::pair<mlir::OpOperand *, Table>> whole; ///< operands of operations without a rule, which are replicated
  std::vector<Reader> readers;
  std::vector<bool> feedsContraction; ///< by node, whether a contraction depends on a result of it
  /// The contractions of a block that no other one depends on: if there are several, their sums share messages. Iterations of a loop share none.
  struct LastContractions {
    int number = 0;
    double bytes = 0; ///< of all their results, not divided among devices
  };
  llvm::DenseMap<mlir::Block *, LastContractions> lastContractions;
  Transfer reshard(mlir::Type type, int from, int to) const;
  /// Costs of reshards by type and indices into `known`: the values of all layers have a few types and shardings.
  mutable llvm::DenseMap<std::pair<mlir::Type, std::pair<int, int>>, Transfer> reshards;
  std::vector<std::pair<Table, Table>> alike; ///< tables that must have equal shardings: members of groups, results that alias arguments
};

} // namespace millrace::autosharding
