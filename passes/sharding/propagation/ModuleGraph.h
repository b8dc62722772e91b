// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ModuleGraph.h - A module as the graph that propagation works on ----===//
#pragma once

#include "dialects/sdy/Ops.h"
#include "passes/sharding/propagation/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace millrace::sharding {

/// Axes with names.
llvm::SmallVector<sdy::AxisRefAttr> toAttr(AxesRef axes, sdy::MeshAttr mesh);

/// Shardings of a module, in a form without IR and back.
class ModuleGraph {
public:
  explicit ModuleGraph(mlir::ModuleOp module) : module(module) {}

  /// Reads all functions. Fails with a diagnostic where shapes are not static or meshes are unknown.
  mlir::LogicalResult build(bool conservative);
  /// Writes the shardings that changed.
  void writeBack();

  mlir::ModuleOp getModule() const { return module; }

  /// Where a tensor is.
  struct Place {
    mlir::Value value;             ///< null for a function's result
    mlir::func::FuncOp function;   ///< of a function's result
    unsigned result = 0;
  };
  const Place &place(int tensor) const { return places[tensor]; }
  /// The operation of a node; null for a boundary.
  mlir::Operation *operation(int node) const { return node < 0 ? nullptr : operations[node]; }
  /// -1 if the value has no place for a sharding.
  int tensorOf(mlir::Value value) const;
  int resultOf(mlir::func::FuncOp function, unsigned result) const;
  sdy::TensorShardingAttr attrOf(int tensor) const;
  sdy::AxisRefAttr nameOf(const Axis &axis, int mesh) const { return toAttr(axis, meshes[mesh].second).front(); }

  Graph graph;

private:
  mlir::LogicalResult addTensor(Place place, mlir::Type type, sdy::TensorShardingAttr sharding, mlir::Operation *user);
  mlir::LogicalResult addValues(mlir::func::FuncOp function);
  void addNodes(mlir::func::FuncOp function, bool conservative);
  void addEdge(sdy::DataFlowEdgeOp edge);
  void addGroups();
  void connect();
  int meshOf(sdy::TensorShardingAttr sharding, mlir::Operation *user);
  View viewOf(mlir::Value value) const { return {tensorOf(value)}; }

  mlir::ModuleOp module;
  std::vector<Place> places;
  std::vector<mlir::Operation *> operations;
  llvm::DenseMap<mlir::Value, int> values;
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, int> functionResults;
  /// By number in graph.meshes.
  std::vector<std::pair<mlir::Attribute, sdy::MeshAttr>> meshes;
  std::vector<sdy::ReductionOp> reductions; ///< of a tensor's unreduced axes
};

/// Sets the sharding of a value where it is kept: an attribute of the function, of the operation, of the edge.
void setSharding(mlir::Value value, sdy::TensorShardingAttr sharding);

/// All dimensions open, nothing split.
sdy::TensorShardingAttr fullyOpen(mlir::Attribute meshOrRef, int64_t rank);

TensorSharding fromAttr(sdy::TensorShardingAttr attr, sdy::MeshAttr mesh);
sdy::TensorShardingAttr toAttr(const TensorSharding &sharding, mlir::Attribute meshOrRef, sdy::MeshAttr mesh,
                               sdy::ReductionOp reduction = sdy::ReductionOp::Sum);
Axes fromAttr(llvm::ArrayRef<sdy::AxisRefAttr> axes, sdy::MeshAttr mesh);

} // namespace millrace::sharding
