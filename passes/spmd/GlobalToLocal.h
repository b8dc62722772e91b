// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GlobalToLocal.h - Every operation on its own, from global shapes to local ones ===//
// Unlike Partitioner.h nothing is decided here: shardings of operands and results go together already, and what has to be
// communicated is an sdy collective.
#pragma once

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"
#include "passes/sharding/propagation/DataFlow.h"
#include "passes/sharding/mesh/MeshPositions.h"
#include "passes/spmd/Placement.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace millrace::spmd {

using sharding::AxisRefs;
using sharding::MeshPositions;
using sharding::shardingInRegion;

struct GlobalToLocalConfig {
  bool byReplica = false; ///< devices are replicas instead of partitions
  bool gatherByDim = false; ///< one all_gather per dimension
  bool scatterTogether = false; ///< one reduce_scatter for several dimensions, instead of slices of an all_reduce
  bool groupsAsAxes = false; ///< groups of collectives are axes of their mesh instead of lists
};

class GlobalToLocal {
public:
  GlobalToLocal(mlir::ModuleOp module, GlobalToLocalConfig config);
  /// Errors are reported at the operation that cannot run on parts as it is sharded.
  mlir::LogicalResult run(mlir::func::FuncOp function);

private:
  /// The original type and sharding of a value.
  struct Info {
    mlir::RankedTensorType type; ///< null for other types
    sdy::TensorShardingAttr sharding;
    sdy::MeshAttr mesh; ///< null: whole

    AxisRefs axes(int64_t dim) const {
      return mesh ? sharding.getDimShardings()[dim].getAxes() : AxisRefs();
    }
    int64_t parts(int64_t dim) const { return mesh ? MeshPositions(mesh).partsAlong(axes(dim)) : 1; }
    int64_t localSize(int64_t dim) const { return type.getDimSize(dim) / parts(dim); }
    mlir::RankedTensorType local() const;
    bool isSplit() const;
  };
  struct OpInfo {
    llvm::SmallVector<Info> operands, results;
  };

  mlir::FailureOr<Info> infoOf(mlir::Value value);
  mlir::LogicalResult convert(mlir::Operation *op);
  void inlineBody(mlir::Operation *op);
  void replace(mlir::Operation *op, mlir::Value value);
  mlir::LogicalResult refuse(mlir::Operation *op, int64_t dim, llvm::StringRef why);

  // GlobalToLocalOps.cpp
  mlir::LogicalResult convertConstant(mlir::Operation *op, mlir::ElementsAttr value);
  mlir::LogicalResult convertIota(stablehlo::IotaOp op);
  mlir::LogicalResult convertSlice(stablehlo::SliceOp op);
  mlir::LogicalResult convertPad(stablehlo::PadOp op);
  mlir::LogicalResult convertConvolution(stablehlo::ConvolutionOp op);
  mlir::LogicalResult convertReduce(stablehlo::ReduceOp op);
  mlir::LogicalResult convertRandom(mlir::Operation *op);
  mlir::LogicalResult checkWindows(mlir::Operation *op, llvm::ArrayRef<int64_t> sizes, std::optional<llvm::ArrayRef<int64_t>> strides,
                                   mlir::DenseIntElementsAttr padding, const Info &windowed);
  mlir::LogicalResult expectWhole(mlir::Operation *op, llvm::ArrayRef<int64_t> dims, const Info &info, llvm::StringRef why);

  // GlobalToLocalIndexing.cpp
  mlir::LogicalResult convertDynamicSlice(stablehlo::DynamicSliceOp op);
  mlir::LogicalResult convertUpdate(stablehlo::DynamicUpdateSliceOp op);
  mlir::LogicalResult convertGather(stablehlo::GatherOp op);
  mlir::LogicalResult convertScatter(stablehlo::ScatterOp op);

  // GlobalToLocalCollectives.cpp
  mlir::LogicalResult convertCollective(mlir::Operation *op);
  void fillReducer(mlir::Region &region, mlir::Type element, sdy::ReductionOp kind, mlir::Location loc);
  /// `counts[d]` parts each along dimension `d`, by one collective over the axes of all dimensions.
  mlir::Value gather(mlir::Location loc, mlir::Value value, llvm::ArrayRef<sdy::AxisRefListAttr> axes, sdy::TensorShardingAttr sharding,
                     sdy::MeshAttr mesh);
  mlir::Value allGather(mlir::Location loc, mlir::Value value, int64_t dim, AxisRefs axes, sdy::TensorShardingAttr sharding,
                        sdy::MeshAttr mesh);
  mlir::Value allToAll(mlir::Location loc, mlir::Value value, sdy::AllToAllOp op, const Info &to);
  mlir::Value reduceScatter(mlir::Location loc, mlir::Value value, sdy::ReduceScatterOp op, const Info &to);
  /// The device's part along `axes` of each dimension.
  mlir::Value slice(mlir::Location loc, mlir::Value value, llvm::ArrayRef<sdy::AxisRefListAttr> axes, const Info &to);
  mlir::Attribute groups(AxisRefs axes, sdy::TensorShardingAttr sharding, sdy::MeshAttr mesh);
  stablehlo::ChannelHandleAttr channel();

  // Values that differ between devices.
  /// The device's entry of `values`, a scalar i32.
  mlir::Value own(mlir::Location loc, llvm::ArrayRef<int64_t> values);
  /// The device's row of `values`, one per device.
  mlir::Value ownRow(mlir::Location loc, llvm::ArrayRef<int64_t> values, int64_t width);
  /// The device's part of a value that all of them have.
  mlir::Value ownPart(mlir::Location loc, mlir::Value whole, const Info &info);
  mlir::Value scalar(mlir::Location loc, mlir::Type element, int64_t value);
  /// True on devices with part 0 along the axes, in the shape of `like`.
  mlir::Value isFirst(mlir::Location loc, AxisRefs axes, sdy::MeshAttr mesh, mlir::Value like);

  mlir::ModuleOp module;
  GlobalToLocalConfig config;
  mlir::OpBuilder builder;
  int64_t channels = 0;
  llvm::DenseMap<mlir::Value, Info> infos;
  llvm::DenseMap<mlir::Operation *, OpInfo> opInfos;
};

} // namespace millrace::spmd
