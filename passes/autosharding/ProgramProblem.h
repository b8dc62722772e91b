// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramProblem.h - A program as a problem for the solver, and back -===//
// A variable of the problem is an operation with its strategies, and what follows it element by element; an argument, result, constant or
// annotated value with its shardings. An edge costs what it takes to reshard a value for its reader.
#pragma once

#include "passes/autosharding/AutoSharding.h"
#include "passes/autosharding/CostModel.h"
#include "passes/autosharding/solver/Problem.h"
#include "passes/sharding/propagation/ModuleGraph.h"

namespace millrace::autosharding {

/// Costs are whole picoseconds.
inline constexpr double kTicksPerSecond = 1e12;

/// A module that has been imported for propagation (passes/sharding), with one mesh.
class ProgramProblem {
public:
  ProgramProblem(sharding::ModuleGraph &graph, CostModel &costs, mlir::Attribute meshRef, sdy::MeshAttr mesh);

  /// `limit`: bytes that values may take on a device, kNoLimit for any number.
  void build(int64_t limit);

  Problem problem; ///< costs in picoseconds; the first nodes are the variables, behind them stand values that live at other times than those

  /// Writes the shardings of every value, closed, and reshards where a reader wants another one.
  void apply(llvm::ArrayRef<uint32_t> choices);

  /// What a plan is expected to take, per device.
  struct Estimate {
    double computing = 0, communicating = 0; ///< seconds
    double bytes = 0;                        ///< from other devices
  };
  Estimate estimate(llvm::ArrayRef<uint32_t> choices) const;
  /// The bytes of values on a device at the worst time.
  int64_t peak(llvm::ArrayRef<uint32_t> choices) const;

  /// Every tensor, in the order of the program. Before apply().
  std::vector<PlannedTensor> explain(llvm::ArrayRef<uint32_t> choices) const;

private:
  /// How a tensor is split, by the choice of a variable. `variable` is -1 of tensors without dimensions.
  struct Table {
    int variable = -1;
    std::vector<int> shardings; ///< by number in `known`
  };
  struct Variable {
    std::vector<Estimate> costs; ///< by choice
    struct Member {
      mlir::Type type;
      std::vector<int> shardings;
      int64_t begin, end;
    };
    std::vector<Member> members; ///< values that it holds
  };
  /// One reader's wish.
  struct Reader {
    Table has, wants;
    mlir::Type type;
    double times; ///< how often it runs
  };

  int number(const sharding::TensorSharding &sharding);
  Table newVariable(llvm::ArrayRef<sharding::TensorSharding> choices);
  Table shardingVariable(mlir::Type type, const sharding::TensorSharding *wanted);
  void addReader(const Table &has, const Table &wants, mlir::Type type, double times);
  void hold(const Table &table, mlir::Type type, int64_t begin, int64_t end);
  void define(int tensor, Table natural, double times);
  bool isShared(int tensor) const;
  const sharding::TensorSharding *annotation(int tensor) const;
  mlir::Type typeOf(int tensor) const;

  void findReaders();
  void addSources();
  void addNode(int node);
  bool follow(int node, mlir::Operation *op, double times);
  void addBoundaries();
  void addMemory();
  int64_t bytesOf(const Variable::Member &member, size_t choice) const;
  void collect();
  void collectMemory();

  sharding::ModuleGraph &module;
  sharding::Graph &graph;
  CostModel &costs;
  mlir::Attribute meshRef;
  sdy::MeshAttr mesh;

  std::vector<sharding::TensorSharding> known;
  std::map<std::string, int> numbers;
  std::vector<Variable> variables;
  /// By tensor: as its operation makes it, as that leaves it (sums may be scattered), as its readers find it.
  std::vector<Table> natural, made, kept;
  std::vector<llvm::SmallVector<Table, 3>> wanted; ///< by node and operand
  std::vector<Table> returned;               ///< by boundary
  std::vector<std::pair<mlir::OpOperand *, Table>> whole; ///< operands of operations that nothing is known of
  std::vector<Reader> readers;
  std::vector<bool> feedsContraction; ///< by node: a product or convolution needs a result of it, directly or through others
  int lastContractions = 0;           ///< of which no other one needs a result: their sums share messages if there are several
  std::vector<std::pair<Table, Table>> alike; ///< members of groups; results in the place of arguments
};

} // namespace millrace::autosharding
