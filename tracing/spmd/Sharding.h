// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Sharding.h - Tensors that are sharded over several devices ----------===//
// Under SPMD the user sees one device, behind which every device of the process holds a shard of each tensor, or all of it.
#pragma once
#include "runtime/client/Client.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace millrace::tracing {

struct Shape;

/// A grid of devices with named axes.
struct Mesh {
  std::vector<std::string> names;
  std::vector<int64_t> sizes;
  std::vector<int64_t> devices; ///< row-major
  bool operator==(const Mesh &) const = default;
};

/// Which shard of a tensor each device holds. The shards of a dim have equal sizes; the last ones are padded.
struct Sharding {
  std::string text; ///< as XLA writes it: "{devices=[4,1,2]0,1,2,3,4,5,6,7 last_tile_dim_replicate}"
  /// The sharding in sdy's notation, including the mesh; empty if axes cannot express the sharding, and for manual ones.
  std::string attribute;
  std::shared_ptr<const Mesh> mesh;          ///< the mesh of the attribute; null if the names of the axes were generated
  std::vector<int64_t> tiles;                ///< number of shards of each dim
  std::vector<std::vector<int32_t>> tileOf;  ///< per dim and device the index of its shard; empty for a dim that is not sharded
  int64_t devices = 1;

  bool isReplicated() const;
  bool isManual() const { return text == "{manual}"; }
  /// Returns the sizes of one shard of a tensor.
  std::vector<int64_t> shardDims(const std::vector<int64_t> &dims) const;
  /// Returns the sizes of all shards together, with padding.
  std::vector<int64_t> filledDims(const std::vector<int64_t> &dims) const;
  /// Computes where the shard of a device begins and how many of its elements are inside of the tensor.
  void extentOf(int64_t device, const std::vector<int64_t> &dims, std::vector<int64_t> &offset,
                std::vector<int64_t> &inside) const;
  /// Returns for each device how many lower devices hold the same shard.
  std::vector<int64_t> replicaIds() const;
};
using ShardingPtr = std::shared_ptr<const Sharding>;

/// Reads a sharding in XLA's notation, of a tensor with `rank` dims. If a mesh is given whose axes can express the sharding, the result uses them.
/// Errors: InvalidArgument if the text is no sharding over exactly `devices` devices.
runtime::StatusOr<ShardingPtr> readSharding(const std::string &text, int64_t rank, int64_t devices,
                                            std::shared_ptr<const Mesh> mesh = nullptr);

/// Returns the sharding that readSharding() returned before for this text and attribute, or null.
ShardingPtr knownSharding(const std::string &text, const std::string &attribute);

/// The name that all processes of a program use for a tensor: a result of a launch that they executed together.
struct ShardsName {
  uint64_t launch = 0; ///< 0 if the tensor has no name
  uint32_t result = 0;
  auto operator<=>(const ShardsName &) const = default;
};

/// The shards of a tensor. Some may be on devices of other processes.
struct Shards {
  ShardingPtr sharding;
  std::vector<runtime::BufferPtr> buffers; ///< one per device of this process
  std::string file = {}; ///< the place of the user's annotation; empty if there is none
  int line = 0;
  bool isShare = false; ///< the tensor is a batch of which each process uploaded an equal number of rows
  ShardsName name = {};
  /// Of a tensor without a name that this process uploaded as a whole: the whole tensor, so that a read needs no other process.
  std::shared_ptr<runtime::Storage> whole = nullptr;
  /// A hash of values that all processes have to upload alike, until a launch has compared it; 0 for none.
  uint64_t unchecked = 0;
};
/// The shards of a node's results; a result that is not sharded has no sharding here.
struct Spread {
  std::vector<Shards> results;
};

/// Copies a tensor's shards (row-major host memory) to the devices of this process. Devices that hold the same shard share memory.
runtime::StatusOr<Shards> cut(const void *data, const Shape &shape, const ShardingPtr &sharding, runtime::Client &client);
/// Waits for the shards and copies the tensor to `target`, row-major. `others` has by device the shards that no device of this process holds.
runtime::Status join(const Shards &shards, const Shape &shape, void *target, const std::map<int64_t, const char *> &others = {});
/// Returns the whole tensor for every device of this process, in the memory of `buffer` (waits for it), which is on the first device.
runtime::StatusOr<std::vector<runtime::BufferPtr>> replicate(const runtime::BufferPtr &buffer, const Shape &shape,
                                                             runtime::Client &client);

/// Returns the report of `xla-compile --explain-sharding`: every tensor's sharding with its reason, and every collective. With `mesh` ("a=2,b=4") that
/// of automatic sharding over it: what the plan costs, and what other shardings would; arguments of fewer than `smallest` elements without an
/// annotation are replicated.
runtime::StatusOr<std::string> explainSharding(const std::string &program, const std::string &mesh = {}, int64_t smallest = 0);
/// Returns the program of each device, with its collectives; with `mesh`, after automatic sharding.
runtime::StatusOr<std::string> partitionedText(const std::string &program, const std::string &mesh = {}, int64_t smallest = 0);

} // namespace millrace::tracing
