// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShardedArrays.h - Convert between whole arrays and tiles -----------===//
#pragma once

#include "runtime/program/Program.h"
#include "tools/support/run/Npy.h"

#include <vector>

namespace millrace::tools {

/// Returns the shape of the whole array of which one of `devices` holds `local`, by its `mhlo.sharding` string, if tiles have no padding. Errors:
/// InvalidArgument if the string cannot be read.
runtime::StatusOr<std::vector<int64_t>> globalDims(const runtime::TensorSpec &local, int64_t devices);

/// Returns what each device holds of `global`. Of an unreduced value, each element is on one of the devices over which it is summed, and zero on the
/// others.
runtime::StatusOr<std::vector<Array>> cutIntoTiles(const Array &global, const runtime::TensorSpec &local, int64_t devices);

/// Returns the whole array from `tiles[device]`, what each device holds; the summands of an unreduced value are added in the order of their numbers.
/// `wholeDims` is its shape, empty if tiles have no padding.
runtime::StatusOr<Array> joinTiles(const std::vector<const Array *> &tiles, const runtime::TensorSpec &local,
                                   std::vector<int64_t> wholeDims = {});

/// Returns true if `tile`, as far as it is inside of `whole`, is what `device` of `devices` should hold of it. Any summands may be correct.
bool isTileOf(const Array &tile, const Array &whole, const runtime::TensorSpec &local, int64_t device, int64_t devices);

} // namespace millrace::tools
