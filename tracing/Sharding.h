// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Sharding.h - Tensors in parts on several devices --------------------===//
// Under SPMD the user sees one device; beneath it, every device of the process holds a part of each tensor, or all of it.
#pragma once
#include "runtime/client/Client.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace millrace::tracing {

struct Shape;

/// Devices as a grid with named axes.
struct Mesh {
  std::vector<std::string> names;
  std::vector<int64_t> sizes;
  std::vector<int64_t> devices; ///< row-major
  bool operator==(const Mesh &) const = default;
};

/// Which part of a tensor each device holds. Parts of a dim have equal sizes; the last ones are filled up with what nobody
/// reads.
struct Sharding {
  std::string text; ///< as XLA writes it: "{devices=[4,1,2]0,1,2,3,4,5,6,7 last_tile_dim_replicate}"
  /// As sdy writes it, with the mesh in it; empty where a sharding cannot be said in axes, and for manual ones.
  std::string attribute;
  std::shared_ptr<const Mesh> mesh;          ///< of the attribute; null if the axes have made-up names
  std::vector<int64_t> tiles;                ///< parts of each dim
  std::vector<std::vector<int32_t>> tileOf;  ///< per dim: which of them a device holds; empty for a whole dim
  int64_t devices = 1;

  bool isReplicated() const;
  bool isManual() const { return text == "{manual}"; }
  /// Sizes of one part of a tensor.
  std::vector<int64_t> partDims(const std::vector<int64_t> &dims) const;
  /// Sizes of all parts together: the tensor's, or more.
  std::vector<int64_t> filledDims(const std::vector<int64_t> &dims) const;
  /// Where the part of a device begins, and how much of it lies inside of the tensor.
  void extentOf(int64_t device, const std::vector<int64_t> &dims, std::vector<int64_t> &offset,
                std::vector<int64_t> &inside) const;
  /// 0 for the first device that holds a part, 1 for the next one that holds the same.
  std::vector<int64_t> replicaIds() const;
};
using ShardingPtr = std::shared_ptr<const Sharding>;

/// Reads XLA's text, of a tensor with `rank` dims. With a mesh the axes are its own, if they can say it. InvalidArgument if
/// the text is no sharding over exactly `devices` devices.
runtime::StatusOr<ShardingPtr> readSharding(const std::string &text, int64_t rank, int64_t devices,
                                            std::shared_ptr<const Mesh> mesh = nullptr);

/// The one that readSharding() has read with this outcome before.
ShardingPtr knownSharding(const std::string &text, const std::string &attribute);

/// What all processes of a program call a tensor: a result of a launch that they made together.
struct PartsName {
  uint64_t launch = 0; ///< 0: it has no name
  uint32_t result = 0;
  auto operator<=>(const PartsName &) const = default;
};

/// A tensor in parts. Some may be on devices of other processes.
struct Parts {
  ShardingPtr sharding;
  std::vector<runtime::BufferPtr> buffers; ///< one per device of this process
  std::string file = {}; ///< where the user annotated it, if anywhere
  int line = 0;
  bool isShare = false; ///< the shares of a batch that the processes were given, of as many rows each
  PartsName name = {};
  /// Of a tensor without a name that this process was given whole: the whole, which nobody needs to be asked for.
  std::shared_ptr<runtime::Storage> whole = nullptr;
  /// A hash of values that all processes have to be given alike, until a launch has compared it; 0 for none.
  uint64_t unchecked = 0;
};
/// Of a node of the graph: per result its parts, without a sharding where the result is whole.
struct Spread {
  std::vector<Parts> results;
};

/// Copies a tensor's parts (row-major host memory) to the devices of this process. Devices that hold the same share memory.
runtime::StatusOr<Parts> cut(const void *data, const Shape &shape, const ShardingPtr &sharding, runtime::Client &client);
/// Waits for the parts and copies the tensor to `target`, row-major. `others`: those that no device of this process holds, by device.
runtime::Status join(const Parts &parts, const Shape &shape, void *target, const std::map<int64_t, const char *> &others = {});
/// The whole tensor on every device of this process, in the memory of `buffer` (waits for it), which is on the first.
runtime::StatusOr<std::vector<runtime::BufferPtr>> replicate(const runtime::BufferPtr &buffer, const Shape &shape,
                                                             runtime::Client &client);

/// What `xla-compile --explain-sharding` says of a program: how each tensor is split and why, and every collective.
runtime::StatusOr<std::string> explainSharding(const std::string &program);
/// The program of each device, with its collectives.
runtime::StatusOr<std::string> partitionedText(const std::string &program);

} // namespace millrace::tracing
